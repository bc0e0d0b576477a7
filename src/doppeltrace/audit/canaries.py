"""Level 1: made-up users whose traces would show in a release that keeps too much of one person.

Each canary is planted in the training by a coin of its own; what the release then shows of it
(events at its places, its moves) tells, or does not, how the coin fell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace.errors import InputError
from doppeltrace.streams import generator
from doppeltrace.traces import Traces

INSTANCES = 3
"""Canaries of each kind."""

HEAVY = 50
"""How many times the events of an ordinary user a heavy one has."""

HEAVY_PLACES = 10
SEQUENCE = 6
"""Places in the round that a unique sequence goes, and events of a stay at a rare place."""

POPULAR = 60
"""Places from which a unique sequence is made."""


class Events(NamedTuple):
    """The events of one user."""

    location: NDArray[np.int32]
    instant: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Canary:
    """One canary: the users to plant, and where to look for it.

    Attributes
    ----------
    kind : in words.
    users : events of each planted user (two for twins).
    places : the places at which released events count.
    positions : if not None, only events at these positions of the clock do.
    moves : if not empty, released moves (origin, destination) count instead of events.
    """

    kind: str
    users: tuple[Events, ...]
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    positions: NDArray[np.int64] | None = None
    moves: tuple[tuple[int, int], ...] = ()

    def count(
        self,
        locations: NDArray[np.int32],
        positions: NDArray[np.int64],
        place_of: NDArray[np.int64],
    ) -> int:
        """Return how many events (or moves) of a release point to this canary.

        Parameters
        ----------
        locations : (n_traces, length) of the release.
        positions : (length,) of the clock, at which a released trace has its events.
        place_of : (n_places,) number in the release of each place of the pool, −1 if it is gone.
        """
        if self.moves:
            wanted = place_of[np.array(self.moves)]
            origin, destination = locations[:, :-1], locations[:, 1:]
            return sum(
                int(((origin == a) & (destination == b)).sum())
                for a, b in wanted.tolist()
                if a >= 0 and b >= 0 and a != b
            )
        wanted = place_of[self.places]
        when = np.ones(len(positions), np.bool_)
        if self.positions is not None:
            when = np.isin(positions, self.positions)
        return int(np.isin(locations[:, when], wanted[wanted >= 0]).sum())


def plant(pool: Traces, seed: int, min_users: int) -> list[Canary]:
    """Return `INSTANCES` canaries of every kind that the pool has room for.

    Kinds that need places nobody visits are left out where there are none: a place of few people
    takes their part, if one has fewer than `min_users` visitors.
    """
    return _Maker(pool, seed, min_users).all()


def with_canaries(
    pool: Traces, member: NDArray[np.bool_], canaries: list[Canary], coin: NDArray[np.bool_]
) -> Traces:
    """Return the traces of the members and of the canaries whose coin says so, in this order."""
    chosen = pool.select(np.flatnonzero(member))
    planted = [user for c, i in zip(canaries, coin, strict=True) if i for user in c.users]
    sizes = np.array([len(user.location) for user in planted], dtype=np.int64)
    return Traces(
        users=np.arange(chosen.n_users + len(planted)),
        offsets=np.concatenate([chosen.offsets, chosen.n_events + np.cumsum(sizes)]),
        location=np.concatenate([chosen.location, *(user.location for user in planted)]),
        instant=np.concatenate([chosen.instant, *(user.instant for user in planted)]),
        places=pool.places,
        clock=pool.clock,
    )


class _Maker:
    """Draws canaries from a pool; no two of them have a rare place in common."""

    def __init__(self, pool: Traces, seed: int, min_users: int) -> None:
        self.pool, self.min_users = pool, min_users
        self.draws = generator(seed, "audit canaries")
        n_places = len(pool.places)
        visit = np.unique(pool.location.astype(np.int64) * pool.n_users + pool.user)
        self.visitors = np.bincount(visit // pool.n_users, minlength=n_places)
        size = np.diff(pool.offsets)
        if pool.n_users == 0 or size.max(initial=0) < 2:
            raise InputError("an audit needs users with at least two events")
        self.ordinary = np.flatnonzero(size >= max(2.0, float(np.median(size))))
        # the least visited places first, equals in random order
        order = self.draws.permutation(n_places)
        order = order[np.argsort(self.visitors[order], kind="stable")]
        self.rare = iter(order[self.visitors[order] < max(min_users, 2)].tolist())
        # places of about this many people outlast suppression when half of them are in
        distance = np.abs(self.visitors[order] - 4 * min_users)
        near = order[np.argsort(distance, kind="stable")][: INSTANCES * HEAVY_PLACES // 2]
        self.shared = iter(self.draws.permutation(near[self.visitors[near] > 0]).tolist())
        self.nights: set[int] = set()

    def all(self) -> list[Canary]:
        makers = {
            "always at a rare place": lambda kind: self._at_rare(kind, "always"),
            "at a rare place once": lambda kind: self._at_rare(kind, "once"),
            "at a rare place six times": lambda kind: self._at_rare(kind, "stay"),
            "twins at a rare place": lambda kind: self._at_rare(kind, "stay", copies=2),
            "unique sequence": self._sequence,
            "night pattern": self._night,
            "heavy user": self._heavy,
        }
        self.moves = self._known_moves()
        made = []
        for kind, make in makers.items():
            for _ in range(INSTANCES):
                canary = make(kind)
                if canary is not None:
                    made.append(canary)
        return made

    def _ordinary(self) -> Events:
        user = int(self.draws.choice(self.ordinary))
        events = slice(self.pool.offsets[user], self.pool.offsets[user + 1])
        return Events(self.pool.location[events].copy(), self.pool.instant[events])

    def _at_rare(self, kind: str, how: str, copies: int = 1) -> Canary | None:
        place = next(self.rare, None)
        if place is None:
            return None
        events = self._ordinary()
        n = len(events.location)
        if how == "always":
            events.location[:] = place
        else:
            stay = min(SEQUENCE if how == "stay" else 1, n)
            first = int(self.draws.integers(n - stay + 1))
            events.location[first : first + stay] = place
        return Canary(kind, (events,) * copies, np.array([place]))

    def _known_moves(self) -> set[tuple[int, int]]:
        _, origin, destination, _ = self.pool.transitions()
        pairs = np.unique(np.stack([origin, destination], axis=1), axis=0)
        return {(a, b) for a, b in pairs.tolist()}

    def _sequence(self, kind: str) -> Canary | None:
        """Return a user who goes round six popular places by moves that nobody makes."""
        popular = np.argsort(-self.visitors, kind="stable")[:POPULAR]
        popular = popular[self.visitors[popular] > 0]
        if len(popular) < SEQUENCE:
            return None
        for _ in range(1000):
            ring = self.draws.choice(popular, SEQUENCE, replace=False).tolist()
            moves = list(zip(ring, ring[1:] + ring[:1], strict=True))
            if not any(move in self.moves for move in moves):
                self.moves.update(moves)
                events = self._ordinary()
                events.location[:] = np.resize(ring, len(events.location))
                return Canary(kind, (events,), moves=tuple(moves))
        return None

    def _night(self, kind: str) -> Canary | None:
        """Return a user who is at a place of many people when nobody else is."""
        pool, clock = self.pool, self.pool.clock
        shared = np.flatnonzero(self.visitors >= 4 * self.min_users)
        shared = np.setdiff1d(shared, list(self.nights))
        if len(shared) == 0:
            return None
        some = self.draws.choice(shared, min(POPULAR, len(shared)), replace=False)
        position = clock.position(pool.instant)
        best: tuple[int, int, NDArray[np.int64]] | None = None
        for place in some.tolist():
            busy = np.unique(position[pool.location == place])
            empty = np.setdiff1d(np.arange(clock.n_instants), busy)
            if best is None or len(empty) > best[0]:
                best = (len(empty), place, empty)
        assert best is not None
        n_empty, place, empty = best
        events = self._ordinary()
        at = np.isin(clock.position(events.instant), empty)
        if n_empty == 0 or not at.any():
            return None
        events.location[at] = place
        self.nights.add(place)
        return Canary(kind, (events,), np.array([place]), positions=empty)

    def _heavy(self, kind: str) -> Canary | None:
        """Return a user with 50 times the events, half of them at places that others share."""
        half = HEAVY_PLACES // 2
        places = np.array([*islice(self.rare, half), *islice(self.shared, half)], np.int64)
        if len(places) == 0:
            return None
        instant = np.repeat(self._ordinary().instant, HEAVY)
        location = self.draws.choice(places, len(instant)).astype(np.int32)
        return Canary(kind, (Events(location, instant),), places)
