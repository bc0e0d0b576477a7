"""What the attacker knows: each user's transition matrix, inverted so that nothing is dense.

The maximum-knowledge attacker has the original traces. A user's maximum-likelihood matrix W_n
holds at most one entry per transition the user made, so the matrices of all users are kept as
lists: for each (origin, destination) that anyone made, who made it and with what probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import SyntheticTraces, Traces

FLOOR = 1e-8
"""Probability of a transition that a matrix does not hold."""

BUDGET = 1_000_000_000
"""Additions that an attack may spend before it takes a random subset (a few seconds)."""

PROBE = 2_000
"""Traces from which the work for all of them is estimated."""


@dataclass(frozen=True, eq=False)
class Matrices:
    """Sparse transition matrices of many users, grouped by transition.

    Attributes
    ----------
    pair : (n_pairs,) int64, sorted: origin · n_places + destination.
    start : (n_pairs + 1,) int64; entries of pair p are start[p] … start[p + 1] − 1.
    user : (n_entries,) int64, ascending within a pair.
    probability : (n_entries,) float64, W_n(destination | origin).
    """

    pair: NDArray[np.int64]
    start: NDArray[np.int64]
    user: NDArray[np.int64]
    probability: NDArray[np.float64]
    n_users: int
    n_places: int

    @classmethod
    def of(cls, *groups: Traces) -> Matrices:
        """Learn from traces; users of a later group are numbered after the earlier ones."""
        n_places = len(groups[0].places)
        n_users = sum(traces.n_users for traces in groups)
        keys, before = [], 0
        for traces in groups:
            user, origin, destination, _ = traces.transitions()
            key = (origin.astype(np.int64) * n_places + destination) * n_users
            keys.append(key + (user + before))
            before += traces.n_users
        entry, count = np.unique(np.concatenate(keys), return_counts=True)
        del keys
        pair, user = np.divmod(entry, n_users)
        _, row = np.unique(pair // n_places * n_users + user, return_inverse=True)
        row_total = np.bincount(row, count)
        distinct, first = np.unique(pair, return_index=True)
        return cls(
            pair=distinct,
            start=np.append(first, len(pair)).astype(np.int64),
            user=user,
            probability=count / row_total[row] if len(row) else np.zeros(0),
            n_users=n_users,
            n_places=n_places,
        )

    @property
    def holders(self) -> NDArray[np.int64]:
        """Return (n_pairs,) how many users know each pair."""
        return np.diff(self.start)

    def work(self, pair: NDArray[np.int64]) -> int:
        """Return how many additions it takes to score these transitions under all users."""
        return int(self.holders[pair[pair >= 0]].sum())

    def restrict(self, users: NDArray[np.int64]) -> tuple[Matrices, NDArray[np.int64]]:
        """Return the entries of these users, renumbered in this order, and where they were.

        Pairs keep their numbers; some may have no entry left.
        """
        number = np.full(self.n_users, -1, dtype=np.int64)
        number[users] = np.arange(len(users))
        kept = np.flatnonzero(number[self.user] >= 0)
        of_pair = np.repeat(np.arange(len(self.pair)), self.holders)[kept]
        start = np.searchsorted(of_pair, np.arange(len(self.pair) + 1)).astype(np.int64)
        part = Matrices(
            self.pair,
            start,
            number[self.user[kept]],
            self.probability[kept],
            len(users),
            self.n_places,
        )
        return part, kept

    def look_up(self, traces: Traces) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (start, pair): the slices of each user's transitions and their pair numbers.

        A pair that no matrix holds is −1.
        """
        user, origin, destination, _ = traces.transitions()
        start = np.searchsorted(user, np.arange(traces.n_users + 1)).astype(np.int64)
        if len(self.pair) == 0:
            return start, np.full(len(user), -1, dtype=np.int64)
        wanted = origin.astype(np.int64) * self.n_places + destination
        position = np.minimum(np.searchsorted(self.pair, wanted), len(self.pair) - 1)
        return start, np.where(self.pair[position] == wanted, position, -1)


def random_subset(
    n: int, work: float, budget: int, draws: np.random.Generator
) -> NDArray[np.int64] | None:
    """Return a sorted random subset of 0 … n − 1 that costs about `budget`, None for all."""
    if work <= budget:
        return None
    size = max(1, int(n * (budget / work)))
    return np.sort(draws.choice(n, size=size, replace=False))


def probe(n: int, draws: np.random.Generator) -> NDArray[np.int64]:
    """Return up to `PROBE` of 0 … n − 1 at random, from which to estimate the work for all."""
    return np.sort(draws.choice(n, size=min(n, PROBE), replace=False))


def owned(synthetic: SyntheticTraces) -> SyntheticTraces:
    """Return the traces whose input user is known."""
    known = synthetic.owner >= 0
    return synthetic if known.all() else synthetic.select(known)
