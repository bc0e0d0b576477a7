"""Simple models with the same guarantee as Crowd: what it must beat.

The same unit (one user with all of their data, the whole release), the same ledger and noise.
Each is the plain idea and no more, without shrinkage.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.crowd.contributions import (
    clipped_sum,
    counts_of_users,
    norms,
    release_clip,
)
from doppeltrace.crowd.ledger import GRID, Entry, Ledger
from doppeltrace.crowd.ngrams import NGrams, grow
from doppeltrace.errors import InputError, require
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers.private import PrivateSynthesizer
from doppeltrace.traces import Traces

Floats = NDArray[np.float64]

USERS_SHARE = 0.01
NORMS_SHARE = 0.02
CHUNK = 4096
"""Traces drawn from one stream."""
MAX_CELLS = 4_000_000
"""Transitions that the first-order chain counts at most: places²."""


class _Baseline(PrivateSynthesizer):
    """Noisy counts, and draws in chunks with a stream each."""

    def _fit(self, traces: Traces, callback: Callback) -> None:
        ledger = self._ledger()
        users, _ = ledger.release("users", np.array([traces.n_users * GRID]), 1.0, USERS_SHARE)
        self._noisy_users = max(float(users[0]), 1.0)
        self._arrays = self._measure(traces, ledger)
        self._entries = tuple(ledger.entries)
        callback(Step("training", 1, 1))

    @property
    def ledger_(self) -> tuple[Entry, ...]:
        """Every statistic with its bound, share of the budget and σ."""
        self._known()
        return self._entries

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        out = np.empty((len(users), len(instants)), dtype=np.int32)
        for first in range(0, len(users), CHUNK):
            part = out[first : first + CHUNK]
            rng = streams.generator(seed, self.name, first // CHUNK)
            # whole chunks, so that a trace does not depend on how many are drawn
            draws = rng.random((len(instants), CHUNK))[:, : len(part)]
            self._walk(draws, self.clock.slot(instants), part)
            callback(Step("synthesis", min(first + CHUNK, len(users)), len(users)))
        return out

    def _saved(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        ledger = [vars(entry) for entry in self._entries]
        return dict(self._arrays), {"users": self._noisy_users, "ledger": ledger}

    def _restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        self._arrays = {n: a for n, a in arrays.items() if not n.startswith(("places.", "clock."))}
        self._noisy_users = state["users"]
        self._entries = tuple(Entry(**entry) for entry in state["ledger"])

    @abstractmethod
    def _measure(self, traces: Traces, ledger: Ledger) -> dict[str, NDArray[Any]]:
        """Return noisy numbers only."""

    @abstractmethod
    def _walk(self, draws: Floats, slots: NDArray[np.int32], out: NDArray[np.int32]) -> None:
        """Fill `out` (n, T) from uniform numbers `draws` (T, n)."""


class DPIndependent(_Baseline):
    """Every event drawn afresh from the slot's noisy population."""

    name = "dp-independent"
    description = "Independent draws from noisy counts of slot and place"
    public_settings = {"epsilon": "ε", "delta": "δ"}

    def _measure(self, traces: Traces, ledger: Ledger) -> dict[str, NDArray[Any]]:
        n_slots, n_places = traces.clock.n_slots, len(traces.places)
        key = traces.slot.astype(np.int64) * n_places + traces.location
        share = 1 - USERS_SHARE - NORMS_SHARE
        noisy = _release(ledger, "visits", traces.user, key, traces.n_users, n_slots * n_places,
                         share)  # fmt: skip
        return {"rows": _cumulative(noisy.reshape(n_slots, n_places))}

    def _walk(self, draws: Floats, slots: NDArray[np.int32], out: NDArray[np.int32]) -> None:
        for t, slot in enumerate(slots):
            out[:, t] = _draw(self._arrays["rows"], np.full(len(out), slot), draws[t])


class DPMarkov(_Baseline):
    """One first-order chain from noisy counts of all transitions."""

    name = "dp-markov"
    description = "First-order Markov chain of noisy transition counts"
    public_settings = {"epsilon": "ε", "delta": "δ"}

    def _measure(self, traces: Traces, ledger: Ledger) -> dict[str, NDArray[Any]]:
        n_places = len(traces.places)
        if n_places**2 > MAX_CELLS:
            raise InputError(
                f"dp-markov counts every pair of places, and {n_places:,} places have too many: "
                "use crowd, or at most 2,000 places"
            )
        share = 1 - USERS_SHARE - 2 * NORMS_SHARE
        user, origin, destination, _ = traces.transitions()
        key = origin.astype(np.int64) * n_places + destination
        moves = _release(ledger, "transitions", user, key, traces.n_users, n_places**2,
                         0.8 * share)  # fmt: skip
        early = traces.slot == traces.slot.min(initial=0)
        first = _release(ledger, "first places", traces.user[early],
                         traces.location[early].astype(np.int64), traces.n_users, n_places,
                         0.2 * share)  # fmt: skip
        rows = moves.reshape(n_places, n_places)
        return {"rows": _cumulative(rows), "first": _cumulative(first[None])}

    def _walk(self, draws: Floats, slots: NDArray[np.int32], out: NDArray[np.int32]) -> None:
        out[:, 0] = _draw(self._arrays["first"], np.zeros(len(out), np.int64), draws[0])
        for t in range(1, out.shape[1]):
            out[:, t] = _draw(self._arrays["rows"], out[:, t - 1], draws[t])


class DPNGram(_Baseline):
    """Variable-length n-grams (Chen, Acs & Castelluccia, CCS 2012), with Gaussian noise.

    A tree of grams is grown level by level: a gram is extended only if its noisy count stands out
    of the noise. The next place follows the longest known suffix of the trace.

    Parameters
    ----------
    longest : n, events of a gram at most.
    """

    name = "dp-ngram"
    description = "Noisy variable-length n-grams"
    public_settings = {"epsilon": "ε", "delta": "δ", "longest": "longest gram"}

    def __init__(
        self,
        *,
        epsilon: float | None = 1.0,
        delta: float = 1e-6,
        longest: int = 4,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, seed=seed, threads=threads)
        require(longest >= 1, "longest must be at least 1")
        self.longest = longest

    def _measure(self, traces: Traces, ledger: Ledger) -> dict[str, NDArray[Any]]:
        share = (1 - USERS_SHARE) / self.longest
        return grow(traces, ledger, self.longest, share, NORMS_SHARE).arrays()

    def _walk(self, draws: Floats, slots: NDArray[np.int32], out: NDArray[np.int32]) -> None:
        NGrams(**self._arrays).walk(draws, out)


def _release(
    ledger: Ledger,
    name: str,
    user: NDArray[np.int64],
    key: NDArray[np.int64],
    n_users: int,
    size: int,
    share: float,
) -> Floats:
    """Return (size,) noisy counts of the keys, with a clip that a noisy histogram chooses."""
    who, what, count = counts_of_users(user, key)
    norm = norms(who, count, n_users)
    clip = release_clip(ledger, f"norms of {name}", norm, size, NORMS_SHARE)
    return ledger.release(name, clipped_sum(who, what, count, n_users, size, clip), clip, share)[0]


def _cumulative(counts: Floats) -> Floats:
    """Return rows of cumulative shares; a row without counts is uniform."""
    weight = np.maximum(counts, 0.0)
    weight[weight.sum(axis=1) <= 0] = 1.0
    total = np.cumsum(weight, axis=1)
    result: NDArray[np.float64] = total / total[:, -1:]
    return result


def _draw(rows: Floats, row: NDArray[Any], draws: Floats) -> NDArray[np.int64]:
    """Return a column of each chosen row, in proportion to its weight."""
    flat = (rows + np.arange(len(rows))[:, None]).ravel()
    at = np.searchsorted(flat, row + draws, side="right") - row * rows.shape[1]
    result: NDArray[np.int64] = np.clip(at, 0, rows.shape[1] - 1)
    return result
