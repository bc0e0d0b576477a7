"""Where each user spends the time: visiting distributions π_u, sparse and sorted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Traces


@dataclass(frozen=True, eq=False)
class Profiles:
    """Visiting distributions, the most visited place first.

    π_u(x) = (1 − smoothing) · share of u's events at x + smoothing / |𝒳|: places that a user
    never visits all have the probability `unseen`, and are not stored. A user without events
    has no entries; nothing is known of it.

    Attributes
    ----------
    start : (n_users + 1,) int64; entries of user u are start[u] … start[u + 1] − 1.
    place : (n_entries,) int32; probability : (n_entries,) float64, descending within a user,
        places of equal probability ascending.
    """

    start: NDArray[np.int64]
    place: NDArray[np.int32]
    probability: NDArray[np.float64]
    unseen: float
    n_places: int

    @classmethod
    def of(cls, traces: Traces, smoothing: float) -> Profiles:
        """Count each user's events per place."""
        n_places = len(traces.places)
        entry, count = np.unique(traces.user * n_places + traces.location, return_counts=True)
        user, place = np.divmod(entry, n_places)
        total = np.diff(traces.offsets)
        order = np.lexsort((place, -count, user))
        user = user[order]
        unseen = smoothing / n_places
        return cls(
            start=np.searchsorted(user, np.arange(traces.n_users + 1)).astype(np.int64),
            place=place[order].astype(np.int32),
            probability=(1 - smoothing) * count[order] / total[user] + unseen,
            unseen=unseen,
            n_places=n_places,
        )
