"""How good synthetic traces are: utility and attacks, in one frozen scorecard."""

from doppeltrace.evaluation.measure import Measure
from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.evaluation.scoring import evaluate
from doppeltrace.evaluation.yardsticks import Yardsticks

__all__ = ["Measure", "Scorecard", "Yardsticks", "evaluate"]
