"""How the tests learn ln p(y = M(m)): from a chain, pruned, or from a model's own formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from doppeltrace.deniability import _kernels as kernels
from doppeltrace.engine.local import run, run_blocks, threads
from doppeltrace.progress import Callback, silent
from doppeltrace.traces import Clock, Places, SyntheticTraces

LANES_PER_THREAD = 4
"""More lanes than threads even out verifiers that take longer."""

Integers = NDArray[np.int64]
Count = Callable[[Integers, Integers, Integers], Integers]
"""(verifiers, times, chosen traces) → verifiers, each so many times over, in each trace's bin."""


class Likelihood(Protocol):
    """What the tests need of a model, for a fixed set of traces."""

    def own(self, traces: SyntheticTraces) -> NDArray[np.float64]:
        """Return (n_traces,) ln p(y = M(owner))."""

    def counting(
        self,
        traces: SyntheticTraces,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> Count:
        """Return how to count the verifiers but the owner with lower < ln p ≤ upper."""


class TestableModel(Protocol):
    """What the tests need of a fitted synthesizer."""

    threads: int | None

    @property
    def testable(self) -> bool:
        """Whether it has likelihoods."""

    @property
    def same_for_all_users(self) -> bool:
        """Whether all users give every trace the same likelihood, so that all traces pass."""

    @property
    def alike(self) -> Integers | None:
        """(n_users,) one user of each group of users who are the same to the model, or None."""

    @property
    def n_users(self) -> int:
        """Number of users from whom traces can be drawn."""

    @property
    def places(self) -> Places:
        """The locations of its traces."""

    @property
    def clock(self) -> Clock:
        """The instants of its traces."""

    def likelihood(self) -> Likelihood:
        """Return what tells the likelihoods of traces."""

    def sample(
        self,
        traces_per_user: int | None = None,
        *,
        n_traces: int | None = None,
        length: int | None = None,
        seed: int | None = None,
        callback: Callback = silent,
    ) -> SyntheticTraces:
        """Draw traces."""


@dataclass(frozen=True, eq=False)
class ChainLikelihood:
    """A chain that speaks `chain._protocol`: users are dropped as soon as they cannot count."""

    chain: Any

    def log_likelihood(
        self, locations: NDArray[np.int32], slots: NDArray[np.int32], users: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln p(y = M(m)), in full."""
        out = np.empty((len(locations), len(users)))
        run_blocks(
            lambda first, last: kernels.log_likelihoods(
                first, last, self.chain, users, locations, slots, out
            ),
            len(users),
        )
        return out

    def own(self, traces: SyntheticTraces) -> NDArray[np.float64]:
        """Return (n_traces,) ln p(y = M(owner))."""
        order = np.argsort(traces.owner, kind="stable")
        owners, starts = np.unique(traces.owner[order], return_index=True)
        sorted_values = np.empty(len(traces))
        starts = np.append(starts, len(traces))
        locations, slots = traces.locations[order], traces.clock.slot(traces.instants)
        run_blocks(
            lambda first, last: kernels.own_log_likelihoods(
                first, last, self.chain, owners, starts, locations, slots, sorted_values
            ),
            len(owners),
        )
        values = np.empty(len(traces))
        values[order] = sorted_values
        return values

    def counting(
        self,
        traces: SyntheticTraces,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> Count:
        """Return how to count the verifiers but the owner with lower < ln p ≤ upper."""
        slots = traces.clock.slot(traces.instants)

        def count(verifiers: Integers, times: Integers, chosen: Integers) -> Integers:
            n, lanes = len(verifiers), LANES_PER_THREAD * threads()
            counts = np.zeros((lanes, len(chosen)), np.int32)
            run(
                lambda lane: kernels.count_in_bin(
                    n * lane // lanes, n * (lane + 1) // lanes, self.chain, verifiers,
                    times, traces.locations, traces.owner, slots, lower, upper, chosen,
                    counts[lane],
                ),
                lanes,
            )  # fmt: skip
            total: NDArray[np.int64] = counts.sum(axis=0, dtype=np.int64)
            return total

        return count


@dataclass(frozen=True, eq=False)
class FormulaLikelihood:
    """A model with a likelihood of its own: `log_likelihood(locations, users)`."""

    log_likelihood: Callable[[NDArray[np.int32], NDArray[np.int64]], NDArray[np.float64]]

    def own(self, traces: SyntheticTraces) -> NDArray[np.float64]:
        """Return (n_traces,) ln p(y = M(owner))."""
        values = np.empty(len(traces))
        for owner in np.unique(traces.owner):
            mine = np.flatnonzero(traces.owner == owner)
            values[mine] = self.log_likelihood(traces.locations[mine], np.array([owner]))[:, 0]
        return values

    def counting(
        self,
        traces: SyntheticTraces,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> Count:
        """Return how to count the verifiers but the owner with lower < ln p ≤ upper."""

        def count(verifiers: Integers, times: Integers, chosen: Integers) -> Integers:
            values = self.log_likelihood(traces.locations[chosen], verifiers)
            inside = (values > lower[chosen, None]) & (values <= upper[chosen, None])
            inside &= verifiers[None, :] != traces.owner[chosen, None]
            total: NDArray[np.int64] = (inside * times).sum(axis=1)
            return total

        return count
