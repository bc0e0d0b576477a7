"""When people move: the share of events at another place than one instant before, by slot.

Works on counts of shape (n_slots, 2), which add up over users and which
`transitions.step_counts` makes: events elsewhere than one instant before, and all that follow one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def uniform_move_counts(n_slots: int, n_places: int) -> NDArray[np.int64]:
    """Return what moves are proportional to if every place is always equally likely."""
    return np.tile([n_places - 1, n_places], (n_slots, 1))


def move_rates(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (n_slots,) the shares; NaN where a slot has no event that follows one."""
    moved, seen = counts.T
    return np.divide(moved, seen, out=np.full(len(seen), np.nan), where=seen > 0)


def move_rate_difference(test: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the mean absolute difference of the shares, weighted by the testing events.

    Slots that one of the two does not show are left out; NaN if none is left.
    """
    gap = np.abs(move_rates(test) - move_rates(other))
    known = np.isfinite(gap)
    return float(np.average(gap[known], weights=test[known, 1])) if known.any() else float("nan")
