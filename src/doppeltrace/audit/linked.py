"""Level 3: naming the person behind traces that are known to be of one owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.audit.process import Published
from doppeltrace.errors import SettingsError
from doppeltrace.streams import generator
from doppeltrace.traces import SyntheticTraces, Traces

LINKED = (1, 2, 5, 10)
"""Traces of one owner that the attacker has put together."""

MAX_PAIRS = 2_000_000
"""Pairs of a trace and a user that are looked at, at most: some ten seconds with Doppel."""

OWNERS_AT_ONCE = 50

TIME_WEIGHT, PLACE_WEIGHT, POPULATION_WEIGHT = 0.6, 0.3, 0.1
"""Parts of a user's profile: visits about that time, visits at any time, everybody's visits."""

TIME_RANGE = 6.0
"""Slots over which a visit tells of other times."""

MAX_TABLE = 20_000_000
"""Entries of the table of profiles, at most."""


@dataclass(frozen=True)
class LinkedNaming:
    """Share of owners that are named right from some of their traces.

    Attributes
    ----------
    traces : how many are linked.
    unknown : by an attacker who has the training traces, and no model.
    known : by one who has the fitted model too; None if that is not measurable.
    chance : one in the number of training users.
    owners : those who had so many traces in the release, and were attacked.
    """

    traces: int
    unknown: float
    known: float | None
    chance: float
    owners: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by their names, without the number of traces."""
        return {name: value for name, value in vars(self).items() if name != "traces"}


def linked_naming(found: Published, seed: int) -> tuple[LinkedNaming, ...]:
    """Attack a release of at least ten traces per user; empty if its traces have no owners."""
    made, n_users = found.released, found.train.n_users
    made = made.select((made.owner >= 0) & (made.locations >= 0).any(axis=1))
    order = np.lexsort((made.replicate, made.owner))
    made = made.select(order)
    rank = np.arange(len(made)) - np.searchsorted(made.owner, made.owner)
    made, rank = made.select(rank < LINKED[-1]), rank[rank < LINKED[-1]]
    owners, count = np.unique(made.owner, return_counts=True)
    most = max(1, MAX_PAIRS // (LINKED[-1] * n_users))
    if len(owners) > most:
        draws = generator(seed, "audit owners")
        kept = np.sort(draws.choice(len(owners), most, replace=False))
        owners, count = owners[kept], count[kept]
    known = _has_model(found)
    profile = _Profiles(found.train)
    hits: dict[tuple[int, str], float] = {}
    for first in range(0, len(owners), OWNERS_AT_ONCE):
        block = owners[first : first + OWNERS_AT_ONCE]
        inside = np.isin(made.owner, block)
        part, at = made.select(inside), rank[inside]
        tables = {"unknown": profile.score(part)}
        if known and found.model is not None:
            everybody = np.arange(n_users)
            tables["known"] = found.model.log_likelihood(part.locations, everybody)
        for traces in LINKED:
            for name, table in tables.items():
                named = _named(table, part.owner, at, block, count[first:][: len(block)], traces)
                hits[traces, name] = hits.get((traces, name), 0.0) + named
    results = []
    for traces in LINKED:
        n = int((count >= traces).sum())
        if n:
            results.append(
                LinkedNaming(
                    traces=traces,
                    unknown=hits[traces, "unknown"] / n,
                    known=hits[traces, "known"] / n if known else None,
                    chance=1.0 / n_users,
                    owners=n,
                )
            )
    return tuple(results)


def _has_model(found: Published) -> bool:
    """Tell whether the model has likelihoods that say something about the owner."""
    model = found.model
    if model is None or not model.testable or model.same_for_all_users:
        return False
    try:
        model.log_likelihood(found.released.locations[:0], np.arange(1))
    except SettingsError:
        return False
    return True


def _named(
    table: NDArray[np.float64],
    owner: NDArray[np.int64],
    rank: NDArray[np.int64],
    owners: NDArray[np.int64],
    count: NDArray[np.int64],
    traces: int,
) -> float:
    """Return how many owners are the likeliest of all users; ties count for their share."""
    named = 0.0
    for user in owners[count >= traces].tolist():
        total = table[(owner == user) & (rank < traces)].sum(axis=0)
        best = total == total.max()
        named += 1.0 / float(best.sum()) if best[user] else 0.0
    return named


class _Profiles:
    """Where every training user tends to be when, as the attacker sees it.

    P_n(x | t) = 0.6 (visits of n to x about time t) + 0.3 (visits of n to x) + 0.1 (everybody's
    visits to x), each a share. A user who was never at x has the last term only.
    """

    def __init__(self, train: Traces) -> None:
        self.n_users, n_places = train.n_users, len(train.places)
        everybody = np.bincount(train.location, minlength=n_places) + 0.5
        base = POPULATION_WEIGHT * everybody / everybody.sum()
        key = train.location.astype(np.int64) * train.n_users + train.user
        held, entry, events = np.unique(key, return_inverse=True, return_counts=True)
        place, self.user = np.divmod(held, train.n_users)
        self.start = np.searchsorted(place, np.arange(n_places + 1))
        # several slots together count as one time where the table would grow too large
        self.together = -(-len(held) * train.clock.n_slots // MAX_TABLE)
        time, n_times = train.slot // self.together, train.clock.n_slots // self.together + 1
        step = np.arange(n_times)
        kernel = np.exp(-np.abs(step[:, None] - step[None, :]) * self.together / TIME_RANGE)

        def about(row: NDArray[np.int64], n_rows: int) -> NDArray[np.float64]:
            counts = np.bincount(row * n_times + time, minlength=n_rows * n_times)
            return np.asarray(counts.reshape(n_rows, n_times) @ kernel)

        near = about(entry, len(held)) / about(train.user, train.n_users)[self.user]
        always = events / np.bincount(train.user, minlength=train.n_users)[self.user]
        own = TIME_WEIGHT * near + PLACE_WEIGHT * always[:, None]
        self.gain = np.log1p(own / base[place][:, None])  # over a user who was never there

    def score(self, traces: SyntheticTraces) -> NDArray[np.float64]:
        """Return (n_traces, n_users) ln P_n of each trace, up to what all users share."""
        times = traces.clock.slot(traces.instants) // self.together
        out = np.zeros((len(traces), self.n_users))
        for y, row in enumerate(traces.locations):
            for place, time in zip(row.tolist(), times.tolist(), strict=True):
                if place >= 0:
                    entries = slice(self.start[place], self.start[place + 1])
                    out[y, self.user[entries]] += self.gain[entries, time]
        return out
