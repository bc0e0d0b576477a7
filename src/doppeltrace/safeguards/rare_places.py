"""Places of few people: merged into places of enough people, before any model is trained.

A place that only one person visits gives that person away wherever it shows up, in anybody's
synthetic trace. The deniability test cannot see it, so such a place must not reach a model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from doppeltrace.discretize.where import keep_places
from doppeltrace.errors import InputError, require
from doppeltrace.traces import Bounds, Places, Traces

MIN_USERS = 5
"""Training users that a place needs, unless asked otherwise."""

MIN_PLACES = 2
"""Places that must be left, for a trace needs somewhere to go."""


@dataclass(frozen=True)
class SuppressionRecord:
    """What was merged. Exact counts are internal; `public_words` is for anybody.

    Attributes
    ----------
    min_users : training users that a place needs.
    places : of the input.
    places_kept : places with enough training users: those of the release.
    places_visited_by_few : places with some training users, but not enough.
    places_unvisited : places without any training user.
    events, events_moved : training events, and those of them that were moved to a kept place.
    test_events, test_events_moved : the same of the testing users.
    """

    min_users: int
    places: int
    places_kept: int
    places_visited_by_few: int
    places_unvisited: int
    events: int
    events_moved: int
    test_events: int = 0
    test_events_moved: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)

    @property
    def words(self) -> str:
        """Return one sentence with exact counts, for internal files."""
        if self.places_kept == self.places:
            return f"every place has at least {self.min_users} training users"
        share = self.events_moved / max(self.events, 1)
        return (
            f"{_count(self.places_visited_by_few, 'place')} with fewer than {self.min_users} "
            f"training users merged into the nearest of the {self.places_kept:,} others, with "
            f"{_count(self.events_moved, 'event')} ({share:.1%}); "
            f"{_count(self.places_unvisited, 'place')} without training users left out"
        )

    @property
    def public_words(self) -> str:
        """Return one sentence without any number that comes from the data."""
        return (
            f"Places with fewer than {self.min_users} users were merged into the nearest place "
            f"with at least {self.min_users} before the model was trained."
        )


@dataclass(frozen=True, eq=False)
class Suppressed:
    """Traces over the places that are left.

    Attributes
    ----------
    train, test : the same events at the new places; `test` is None if there was none.
    place_of : (n_places of the input,) int64, the new number of each place.
    merged : (n_places of the input,) bool, whether the place was merged into another.
    record : what was done.
    """

    train: Traces
    test: Traces | None
    place_of: NDArray[np.int64]
    merged: NDArray[np.bool_]
    record: SuppressionRecord

    def move(self, traces: Traces) -> Traces:
        """Return other traces over the input's places at the new places."""
        return _moved(traces, self.train.places, self.place_of)


def suppress(
    train: Traces, test: Traces | None = None, *, min_users: int = MIN_USERS
) -> Suppressed:
    """Merge each place with fewer than `min_users` training users into the nearest other one.

    The places that are left have the labels and coordinates they had, so nothing about them
    comes from the merged ones, nor from the testing users. Events keep their user and instant.

    Parameters
    ----------
    train : the training traces; only their users count.
    test : testing traces over the same places, moved alike.
    min_users : distinct training users that a place needs to be kept; 1 only leaves out the
        places without any.
    """
    require(min_users >= 1, f"min_users {min_users} must be at least 1")
    users = users_per_place(train)
    kept = np.flatnonzero(users >= min_users)
    if len(kept) < MIN_PLACES:
        raise InputError(
            f"only {len(kept)} of {len(users):,} places have at least {min_users} training users "
            "(min_users): take larger cells (grid=…, h3=…) or read more users",
            "min_users",
        )
    places, place_of = keep_places(train.places, kept)
    places = _with_own_bounds(places, train.places)
    rare = place_of < 0
    place_of[rare] = _nearest(places, train.places, np.flatnonzero(rare))
    record = SuppressionRecord(
        min_users=min_users,
        places=len(users),
        places_kept=len(kept),
        places_visited_by_few=int(np.count_nonzero(rare & (users > 0))),
        places_unvisited=int(np.count_nonzero(users == 0)),
        events=train.n_events,
        events_moved=int(np.count_nonzero(rare[train.location])),
        test_events=0 if test is None else test.n_events,
        test_events_moved=0 if test is None else int(np.count_nonzero(rare[test.location])),
    )
    return Suppressed(
        train=_moved(train, places, place_of),
        test=None if test is None else _moved(test, places, place_of),
        place_of=place_of,
        merged=rare,
        record=record,
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def users_per_place(traces: Traces) -> NDArray[np.int64]:
    """Return (n_places,) how many distinct users have an event at each place."""
    n = len(traces.places)
    pairs = np.unique(traces.user * n + traces.location)
    return np.bincount(pairs % n, minlength=n).astype(np.int64)


def _with_own_bounds(places: Places, before: Places) -> Places:
    """Return the places in the box they had, unless that was only drawn around all of them."""
    if before.bounds != Bounds.around(before.lat, before.lng):
        return places
    return Places(places.labels, places.lat, places.lng, category=places.category)


def _nearest(places: Places, before: Places, index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for the places `before[index]`, the number of the nearest of `places`."""
    if len(index) == 0:
        return np.empty(0, dtype=np.int64)
    there = _on_sphere(before.lat[index], before.lng[index])
    nearest = cKDTree(_on_sphere(places.lat, places.lng)).query(there)[1]
    return np.asarray(nearest, dtype=np.int64)


def _on_sphere(lat: NDArray[np.float64], lng: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, 3) points on the unit sphere: near on the globe is near in space."""
    y, x = np.deg2rad(lat), np.deg2rad(lng)
    return np.stack([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)], axis=1)


def _moved(traces: Traces, places: Places, place_of: NDArray[np.int64]) -> Traces:
    return Traces(
        traces.users,
        traces.offsets,
        place_of[traces.location].astype(np.int32),
        traces.instant,
        places,
        traces.clock,
    )
