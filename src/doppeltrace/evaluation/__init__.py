"""How good synthetic traces are: utility and attacks, in one frozen scorecard."""

from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.evaluation.scoring import evaluate

__all__ = ["Scorecard", "evaluate"]
