"""Several synthesizers on one data set: table, JSON, and the paper's trade-off plots."""

from doppeltrace.comparison.grid import paper_grid
from doppeltrace.comparison.result import Comparison, Row
from doppeltrace.comparison.run import compare

__all__ = ["Comparison", "Row", "compare", "paper_grid"]
