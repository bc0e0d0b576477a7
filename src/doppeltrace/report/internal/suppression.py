"""Too few to be shown: figures that fewer than five real users stand behind."""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Traces
from doppeltrace.utility.summary import in_chunks

MIN_USERS = 5
"""No table names a place or a flow with fewer real users."""


def users_per_slot_and_place(traces: Traces) -> NDArray[np.int64]:
    """Return (n_slots, n_places) how many users have an event there and then."""
    n_slots, n_places = traces.clock.n_slots, len(traces.places)
    users = np.zeros(n_slots * n_places, dtype=np.int64)
    for part in in_chunks(traces):
        cell = part.slot.astype(np.int64) * n_places + part.location
        found, number = distinct(cell, part.user, part.n_users)
        users[found] += number
    return users.reshape(n_slots, n_places)


def distinct(
    key: NDArray[np.int64], user: NDArray[np.int64], n_users: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys, sorted, and the number of different users of each."""
    pair = np.sort(key * n_users + user)
    pair = pair[np.diff(pair, prepend=-1) > 0]  # faster than np.unique, which hashes
    return np.unique(pair // max(n_users, 1), return_counts=True)


def too_few(users: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell where there is somebody, but fewer than `MIN_USERS`."""
    return (users > 0) & (users < MIN_USERS)


def bits(flags: NDArray[np.bool_]) -> str:
    """Return flags as base64 of bytes, the first of eight in the highest bit."""
    return base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")
