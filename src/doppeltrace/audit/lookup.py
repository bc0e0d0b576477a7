"""Counts by key, without a table of all keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def look_up(
    wanted: NDArray[np.int64], known: NDArray[np.int64], value: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the value of each wanted key, 0 where it is not among the sorted known ones."""
    if len(known) == 0:
        return np.zeros(len(wanted), dtype=np.int64)
    position = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[position] == wanted, value[position], 0)
