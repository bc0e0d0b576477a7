"""SGD: one Markov chain for everybody, after a few copied events (Bindschaedler et al. 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import streams
from doppeltrace.deniability.likelihood import FormulaLikelihood
from doppeltrace.engine.local import run_blocks, use_threads
from doppeltrace.errors import require
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers import _kernels as kernels
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.checks import likelihood_arguments
from doppeltrace.synthesizers.windows import fullest_windows
from doppeltrace.traces import SyntheticTraces, Traces


@dataclass(frozen=True, eq=False)
class TransitionCounts:
    """The population's transition counts per slot, and its first-instant counts, as rows.

    Row (slot · n_places + origin) holds where people went from `origin` to arrive in `slot`;
    the last row holds where they were at the first instant. Only rows' positive counts are
    kept, so the size is that of the data, never slots × places².

    Attributes
    ----------
    start : (n_slots · n_places + 2,) int64; entries of row i are start[i] … start[i + 1] − 1.
    place : (n_entries,) int32, ascending within a row.
    reached : (n_entries,) int64, counts summed up within the row.
    """

    start: NDArray[np.int64]
    place: NDArray[np.int32]
    reached: NDArray[np.int64]

    @classmethod
    def of(cls, traces: Traces) -> TransitionCounts:
        """Count. The first instant is position 0 of the clock; if nobody has an event there,
        the events of slot 0 stand for it; if there are none either, the row is empty.
        """  # noqa: D205, D400
        n_places, n_rows = len(traces.places), traces.clock.n_slots * len(traces.places)
        _, origin, destination, slot = traces.transitions()
        early = traces.clock.position(traces.instant) == 0
        if not np.any(early):
            early = traces.slot == 0
        first = traces.location[early]
        row = np.concatenate(
            [slot.astype(np.int64) * n_places + origin, np.full(len(first), n_rows)]
        )
        entry, count = np.unique(
            row * n_places + np.concatenate([destination, first]), return_counts=True
        )
        row, place = np.divmod(entry, n_places)
        start = np.searchsorted(row, np.arange(n_rows + 2)).astype(np.int64)
        total = np.concatenate([[0], np.cumsum(count)])
        return cls(start, place.astype(np.int32), total[1:] - total[start[row]])


class SGD(Synthesizer):
    """Synthetic data generator for traces: copy the first ξ events, walk on with the population.

    The transition matrix of each slot (the slot of the destination) and the distribution at
    the first instant are maximum-likelihood estimates from all users' traces; a row without
    data is uniform.

    Parameters
    ----------
    copied : ξ, events copied from the input user. If the user has no event at one of the
        first ξ instants, that event is drawn from the model. Of several days of data the one
        with the most of these events is copied, the earliest among equals. A trace of fewer
        events copies the first of these.
    seed, threads : see `Synthesizer`; training has no randomness.
    """

    name = "sgd"
    description = "SGD: one transition matrix per time slot for the whole population"
    public_settings = {"copied": "events copied from the input"}
    testable = True
    savable = True

    def __init__(
        self, *, copied: int = 0, seed: int | None = None, threads: int | None = None
    ) -> None:
        super().__init__(seed=seed, threads=threads)
        require(copied >= 0, "copied must be a number of events, 0 or more")
        self.copied = copied

    @property
    def same_for_all_users(self) -> bool:
        """Where nothing is copied, no trace depends on its input user."""
        return self.copied == 0

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln p(y = M(m)); −inf where copied events differ.

        Only the first ξ events depend on the user: the sum over all others is taken once.
        """
        traces, chosen = likelihood_arguments(self, locations, users)
        terms = self._log_terms(traces)
        copies = self._copies(chosen, traces.shape[1])
        xi = copies.shape[1]
        out = np.repeat(terms[:, xi:].sum(axis=1)[:, None], len(chosen), axis=1)
        for t in range(xi):
            out += _early_term(terms[:, t, None], traces[:, t, None], copies[None, :, t])
        return out

    def likelihood(self) -> FormulaLikelihood:
        """Return what the deniability tests ask for likelihoods."""
        return _OwnCopies(self.log_likelihood, self)

    def _log_terms(self, traces: NDArray[np.int32]) -> NDArray[np.float64]:
        clock, n_places = self.clock, len(self.places)
        counts = self._counts
        slots = clock.slot(clock.timeline(traces.shape[1]))
        rows = (counts.start, counts.place, counts.reached, n_places)
        terms = np.empty(traces.shape)
        with use_threads(self.threads):
            run_blocks(
                lambda a, b: kernels.markov_log_terms(traces, slots, *rows, terms, a, b),
                len(traces),
            )
        return terms

    def _copies(self, users: NDArray[np.int64], length: int) -> NDArray[np.int32]:
        """Return (len(users), min(ξ, length)) the events to copy, −1 where there is none."""
        return self._first_events[users, :length]

    def _fit(self, traces: Traces, callback: Callback) -> None:
        self._counts = TransitionCounts.of(traces)
        self._first_events = np.empty((traces.n_users, 0), np.int32)
        if self.copied > 0:
            clock = traces.clock
            cycles = 1 if clock.cycle is None else np.ptp(traces.instant) // clock.cycle + 2
            most = min(self.copied, int(cycles) * clock.n_instants)  # no data reach further
            instants = clock.timeline(most)
            self._first_events = fullest_windows(traces, np.arange(traces.n_users), instants)[:, 0]
        callback(Step("training", 1, 1))

    def _saved(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return {**vars(self._counts), "first_events": self._first_events}, {}

    def _restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        self._counts = TransitionCounts(*(arrays[name] for name in ("start", "place", "reached")))
        self._first_events = arrays["first_events"]

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        out = np.empty((len(users), traces_per_user, len(instants)), np.int32)
        inputs = (
            users,
            self._copies(users, len(instants)),
            self.clock.slot(instants),
            self._counts.start,
            self._counts.place,
            self._counts.reached,
            len(self.places),
            streams.key(seed, "sgd synthesis"),
        )
        run_blocks(lambda a, b: kernels.markov_traces(*inputs, out, a, b), len(users))
        callback(Step("synthesis", len(users), len(users)))
        return out


@dataclass(frozen=True, eq=False)
class _OwnCopies(FormulaLikelihood):
    """SGD's likelihoods; the owners' own ones in one pass over the traces."""

    model: SGD

    def own(self, traces: SyntheticTraces) -> NDArray[np.float64]:
        """Return (n_traces,) ln p(y = M(owner))."""
        terms = self.model._log_terms(traces.locations)
        owners, of_trace = np.unique(traces.owner, return_inverse=True)
        copies = self.model._copies(owners, traces.locations.shape[1])[of_trace]
        out: NDArray[np.float64] = terms[:, copies.shape[1] :].sum(axis=1)
        for t in range(copies.shape[1]):
            out += _early_term(terms[:, t], traces.locations[:, t], copies[:, t])
        return out


def _early_term(
    term: NDArray[np.float64], location: NDArray[np.int32], copy: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return ln p of one of the first ξ events: 0 or −inf if copied, else the chain's."""
    return np.where(copy < 0, term, np.where(location == copy, 0.0, -np.inf))
