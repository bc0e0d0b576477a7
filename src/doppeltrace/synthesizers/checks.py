"""Checks that synthesizers share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import require
from doppeltrace.traces import Traces


def likelihood_arguments(
    train: Traces, locations: ArrayLike, users: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return complete traces (n_traces, length) and user indexes, or say what is wrong."""
    traces = np.ascontiguousarray(locations, dtype=np.int32)
    chosen = np.asarray(users, dtype=np.int64)
    n_places = len(train.places)
    require(
        traces.ndim == 2 and bool(np.all((traces >= 0) & (traces < n_places))),
        f"locations must have shape (traces, length) and be from 0 to {n_places - 1}",
    )
    require(
        chosen.ndim == 1 and bool(np.all((chosen >= 0) & (chosen < train.n_users))),
        f"users must be indexes from 0 to {train.n_users - 1}",
    )
    return traces, chosen
