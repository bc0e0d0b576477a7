"""Level 0 of the audit: what the release shows of few people. No training, so in every run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.audit.lookup import look_up
from doppeltrace.errors import InputError, require
from doppeltrace.traces import SyntheticTraces, Traces

MIN_USERS = 5
"""Training users below whom a place or a move is one of few people."""


@dataclass(frozen=True)
class Level0:
    """Places and moves of few people in a release.

    A move is a step from one place to another at the next instant. One that no training user
    made is invented, and nobody's.

    Attributes
    ----------
    min_users : a place or a move with fewer training users is rare.
    places, moves : different ones in the release.
    rare_places : places in the release with fewer than `min_users` training users.
    places_of_one, places_of_nobody : those of them with exactly one and with no training user.
    rare_moves, moves_of_one : moves in the release that at least one and fewer than `min_users`,
        and exactly one, of the training users made.
    traces_with_rare_share : share of the traces that carry a rare place.
    traces_with_rare_move_share : share of the traces that carry a rare move.
    largest_user_share : the largest part that one user has in the training events of a place of
        the release; 1 for a place of one person.
    derived : public things that were derived from the data, in words (the box, the clock, …).
    """

    min_users: int
    places: int
    moves: int
    rare_places: int
    places_of_one: int
    places_of_nobody: int
    rare_moves: int
    moves_of_one: int
    traces_with_rare_share: float
    traces_with_rare_move_share: float
    largest_user_share: float
    derived: tuple[str, ...] = ()

    @property
    def blocks(self) -> bool:
        """Whether a place of few people would leave: such a release must be held back."""
        return self.rare_places > self.places_of_nobody

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by their names."""
        return {**asdict(self), "derived": list(self.derived), "blocks": self.blocks}


def level0(
    train: Traces,
    released: SyntheticTraces | ArrayLike,
    min_users: int = MIN_USERS,
    *,
    derived: Iterable[str] = (),
) -> Level0:
    """Compare a release with the training traces.

    Parameters
    ----------
    train : the traces that the model was fitted to, with the places of the release.
    released : the released traces, or their locations (n_traces, length), −1 where a trace has no
        event.
    derived : what the reader derived from the data and the release shows, in words.
    """
    require(min_users >= 1, "min_users must be at least 1")
    locations = released_locations(released)
    n_places = len(train.places)
    if locations.size and not (-1 <= locations.min() and locations.max() < n_places):
        raise InputError("the release has places that the training traces do not number")
    users, share = _users_of_places(train)
    shown = np.zeros(n_places, dtype=np.bool_)
    shown[locations[locations >= 0]] = True
    rare = users < min_users
    carries = np.any(np.append(rare, False)[locations], axis=1)  # −1, no event: the last entry

    pair, step = _moves(locations, train)
    known, makers = _users_of_moves(train)
    made = np.unique(pair)
    count, of_step = look_up(made, known, makers), look_up(pair, known, makers)
    carries_move = np.zeros(len(locations), dtype=np.bool_)
    carries_move[step[(of_step > 0) & (of_step < min_users)]] = True
    return Level0(
        min_users=min_users,
        places=int(shown.sum()),
        moves=len(made),
        rare_places=int((shown & rare).sum()),
        places_of_one=int((shown & (users == 1)).sum()),
        places_of_nobody=int((shown & (users == 0)).sum()),
        rare_moves=int(((count > 0) & (count < min_users)).sum()),
        moves_of_one=int((count == 1).sum()),
        traces_with_rare_share=_mean(carries),
        traces_with_rare_move_share=_mean(carries_move),
        largest_user_share=float(share[shown].max(initial=0.0)),
        derived=tuple(derived),
    )


def released_locations(released: SyntheticTraces | ArrayLike) -> NDArray[np.int32]:
    """Return (n_traces, length) the locations of released traces."""
    if isinstance(released, SyntheticTraces):
        return released.locations
    locations = np.asarray(released, dtype=np.int32)
    if locations.ndim != 2:
        raise InputError("released locations must have shape (traces, instants)")
    return locations


def _users_of_places(train: Traces) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return (n_places,) the number of users, and the largest user's part of the events."""
    n_places = len(train.places)
    visit, events = np.unique(
        train.location.astype(np.int64) * train.n_users + train.user, return_counts=True
    )
    place = visit // train.n_users
    largest = np.zeros(n_places, dtype=np.int64)
    np.maximum.at(largest, place, events)
    total = np.bincount(place, events, minlength=n_places)
    return np.bincount(place, minlength=n_places), largest / np.maximum(total, 1.0)


def _users_of_moves(train: Traces) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the moves of the training, origin · n_places + destination, and their users."""
    user, origin, destination, _ = train.transitions()
    moved = origin != destination
    pair = origin[moved].astype(np.int64) * len(train.places) + destination[moved]
    made = np.unique(pair * train.n_users + user[moved]) // train.n_users
    return np.unique(made, return_counts=True)


def _moves(
    locations: NDArray[np.int32], train: Traces
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every move of the release, and the trace it is in."""
    origin, destination = locations[:, :-1], locations[:, 1:]
    follows = np.diff(train.clock.timeline(locations.shape[1])) == 1
    trace, at = np.nonzero((origin >= 0) & (destination >= 0) & (origin != destination) & follows)
    return origin[trace, at].astype(np.int64) * len(train.places) + destination[trace, at], trace


def _mean(flags: NDArray[np.bool_]) -> float:
    return float(np.mean(flags)) if len(flags) else 0.0
