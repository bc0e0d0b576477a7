"""Frozen: nobody moves; a trivial generator that any useful one must beat."""

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


class Frozen(Synthesizer):
    """Draws one event of the training traces at random and stays at its place throughout.

    A yardstick, not a product: it knows where people are and nothing about how they live. It
    repeats rare places as they stand in the input, so its traces are not for release.
    """

    name = "frozen"
    description = "Frozen: one training visit drawn at random, and everyone stays there all day"
    testable = True
    releasable = False

    @property
    def same_for_all_users(self) -> bool:
        """Always: no trace depends on its input user."""
        return True

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln of the place's share of all events, for every user.

        A trace that moves is impossible: −inf.
        """
        traces, chosen = likelihood_arguments(self.train, locations, users)
        visits = np.bincount(self.train.location, minlength=len(self.train.places))
        with np.errstate(divide="ignore"):
            log_share = np.log(visits / visits.sum())
        still = np.all(traces == traces[:, :1], axis=1)
        values = np.where(still, log_share[traces[:, 0]], -np.inf)
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
        out = np.empty((len(users), traces_per_user, len(instants)), np.int32)
        key = streams.key(seed, "frozen synthesis")
        visits = self.train.location
        run_blocks(lambda a, b: kernels.frozen_traces(users, key, visits, out, a, b), len(users))
        callback(Step("synthesis", len(users), len(users)))
        return out
