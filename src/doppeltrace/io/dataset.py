"""Dataset: what every reader returns."""

from __future__ import annotations

from dataclasses import dataclass

from doppeltrace.io.validation import Validation
from doppeltrace.traces import Traces


@dataclass(frozen=True, eq=False)
class Dataset:
    """Traces as read, and the account of how.

    Attributes
    ----------
    train : the training traces, or all traces if the input has no split.
    test : the testing traces of other users over the same places and clock, or None.
    validation : what was kept and dropped, and why.
    """

    train: Traces
    test: Traces | None
    validation: Validation
