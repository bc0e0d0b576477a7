"""Uniform: every event anywhere; the void that other synthesizers are measured against."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import streams
from doppeltrace.engine.local import run_blocks
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers import _kernels as kernels
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.checks import likelihood_arguments
from doppeltrace.traces import Traces


class Uniform(Synthesizer):
    """Draws each event uniformly over all places, whoever the input user is.

    Scores of it vary with the draws; the evaluation's own Uniform column is the exact uniform
    distribution.
    """

    name = "uniform"
    description = "Uniform: every place equally likely at any time"
    testable = True
    savable = True

    @property
    def same_for_all_users(self) -> bool:
        """Always: no trace depends on its input user."""
        return True

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln p(y = M(m)) = −length · ln |𝒳|, for every user."""
        traces, chosen = likelihood_arguments(self, locations, users)
        constant = -traces.shape[1] * math.log(len(self.places))
        return np.full((len(traces), len(chosen)), constant)

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
        key = streams.key(seed, "uniform synthesis")
        n_places = len(self.places)
        run_blocks(
            lambda a, b: kernels.uniform_traces(users, key, n_places, out, a, b), len(users)
        )
        callback(Step("synthesis", len(users), len(users)))
        return out
