"""What the synthesizers that draw by Metropolis–Hastings have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.chain import metropolis
from doppeltrace.deniability.likelihood import ChainLikelihood
from doppeltrace.engine.local import use_threads
from doppeltrace.progress import Callback
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.checks import likelihood_arguments


class ChainSynthesizer(Synthesizer):
    """A synthesizer whose model is a chain of `doppeltrace.chain`."""

    testable = True

    @property
    @abstractmethod
    def chain(self) -> Any:
        """The fitted chain: a NamedTuple that the kernels know."""

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln p(y = M(m)).

        Parameters
        ----------
        locations : (n_traces, length) traces that start at the clock's first instant.
        users : indexes m of training users.
        """
        traces, chosen = likelihood_arguments(self, locations, users)
        slots = self.clock.slot(self.clock.timeline(traces.shape[1]))
        asked = chosen if self.alike is None else self.alike[chosen]
        different, which = np.unique(asked, return_inverse=True)
        with use_threads(self.threads):
            found = self.likelihood().log_likelihood(traces, slots, different)
        return found[:, which]

    def likelihood(self) -> ChainLikelihood:
        """Return what the deniability tests ask for likelihoods."""
        return ChainLikelihood(self.chain)

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        slots = self.clock.slot(instants)
        return metropolis.sample(self.chain, users, traces_per_user, slots, seed, callback)
