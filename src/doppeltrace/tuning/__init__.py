"""Settings of a model, chosen by cross-validation."""

from doppeltrace.tuning.result import Trial, Tuning
from doppeltrace.tuning.run import tune

__all__ = ["Trial", "Tuning", "tune"]
