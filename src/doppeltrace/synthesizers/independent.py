"""Independent: every event afresh; a trivial generator that any useful one must beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import streams
from doppeltrace.engine.local import run_blocks
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers import _kernels as kernels
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.checks import likelihood_arguments
from doppeltrace.traces import Traces


class Independent(Synthesizer):
    """Draws each event from all training events of its time slot, whatever came before.

    A slot without training events draws from those of all slots. A yardstick, not a product: it
    knows where people are in each slot and nothing about how they live. It repeats rare places
    as they stand in the input, so its traces are not for release.
    """

    name = "independent"
    description = "Independent: every event drawn afresh from the population of its time slot"
    testable = True
    releasable = False

    @property
    def same_for_all_users(self) -> bool:
        """Always: no trace depends on its input user."""
        return True

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) the sum of ln P(place | slot), for every user."""
        train = self.train
        traces, chosen = likelihood_arguments(train, locations, users)
        slots = train.clock.slot(train.clock.timeline(traces.shape[1]))
        n_slots, n_places = train.clock.n_slots, len(train.places)
        cell = train.slot.astype(np.int64) * n_places + train.location
        visits = np.bincount(cell, minlength=n_slots * n_places).reshape(n_slots, n_places)
        visits = np.where(visits.sum(axis=1, keepdims=True) > 0, visits, visits.sum(axis=0))
        with np.errstate(divide="ignore"):
            log_share = np.log(visits / visits.sum(axis=1, keepdims=True))
        values = log_share[slots, traces].sum(axis=1)
        return np.repeat(values[:, None], len(chosen), axis=1)

    def _fit(self, traces: Traces, callback: Callback) -> None:
        callback(Step("training", 1, 1))

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        train = self.train
        order = np.argsort(train.slot, kind="stable")
        visits = train.location[order]
        start = np.searchsorted(train.slot[order], np.arange(train.clock.n_slots + 1))
        slots = train.clock.slot(instants)
        out = np.empty((len(users), traces_per_user, len(instants)), np.int32)
        key = streams.key(seed, "independent synthesis")
        run_blocks(
            lambda a, b: kernels.independent_traces(users, key, slots, start, visits, out, a, b),
            len(users),
        )
        callback(Step("synthesis", len(users), len(users)))
        return out
