"""Traces, SyntheticTraces, Places, Clock: the data model that every room speaks.

Everything is columnar. A missing event is an absent row; a user's events are the slice
`offsets[n]:offsets[n + 1]`, ordered by time.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.display import html_table
from doppeltrace.errors import InputError, SettingsError

DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Bounds:
    """A box in EPSG:4326 degrees."""

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        """Reject boxes that are empty or not on the globe."""
        if not (-90 <= self.south < self.north <= 90 and -180 <= self.west < self.east <= 180):
            raise SettingsError(
                f"bounds {self} are not a box in degrees: give south < north within ±90 "
                "and west < east within ±180"
            )

    @classmethod
    def around(cls, lat: NDArray[np.float64], lng: NDArray[np.float64]) -> Bounds:
        """Return the smallest box around the points, widened a little where it has no extent."""
        slack = 1e-6
        return cls(
            max(-90.0, float(np.min(lat)) - slack),
            max(-180.0, float(np.min(lng)) - slack),
            min(90.0, float(np.max(lat)) + slack),
            min(180.0, float(np.max(lng)) + slack),
        )


@dataclass(frozen=True, eq=False)
class Places:
    """The locations 𝒳: labels and coordinates, in the order in which traces number them.

    Attributes
    ----------
    labels : (n_places,) array of str or int, the names in the input.
    lat, lng : (n_places,) float64, degrees (EPSG:4326); a region's centre.
    bounds : the box that metrics on a grid divide; by default the box around the places.
    category : (n_places,) array of str, or None.
    """

    labels: NDArray[Any]
    lat: NDArray[np.float64]
    lng: NDArray[np.float64]
    bounds: Bounds = None  # type: ignore[assignment]  # filled in below
    category: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        """Coerce the columns and check that they agree."""
        set_ = object.__setattr__
        set_(self, "labels", np.asarray(self.labels))
        set_(self, "lat", np.asarray(self.lat, dtype=np.float64))
        set_(self, "lng", np.asarray(self.lng, dtype=np.float64))
        n = len(self.labels)
        if n == 0 or self.lat.shape != (n,) or self.lng.shape != (n,):
            raise InputError("places need labels, lat and lng of one same, positive length")
        if not (np.all(np.abs(self.lat) <= 90) and np.all(np.abs(self.lng) <= 180)):
            raise InputError("a place has coordinates outside ±90° / ±180°, or NaN")
        if self.bounds is None:
            set_(self, "bounds", Bounds.around(self.lat, self.lng))

    def __len__(self) -> int:
        """Return |𝒳|."""
        return len(self.labels)

    def __repr__(self) -> str:
        """Show the size, not the arrays."""
        return f"Places({len(self):,} locations)"

    def same_as(self, other: Places) -> bool:
        """Tell whether both number the same locations in the same order."""
        return (
            len(self) == len(other)
            and np.array_equal(self.labels.astype(str), other.labels.astype(str))
            and np.allclose(self.lat, other.lat)
            and np.allclose(self.lng, other.lng)
        )

    def grid_cells(self, cells: int = 20) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return each place's (column, row) in a cells × cells grid over `bounds`.

        Places outside the box go to the nearest column and row.
        """
        box = self.bounds
        column = np.floor((self.lng - box.west) / (box.east - box.west) * cells)
        row = np.floor((self.lat - box.south) / (box.north - box.south) * cells)
        return (
            np.clip(column, 0, cells - 1).astype(np.int64),
            np.clip(row, 0, cells - 1).astype(np.int64),
        )


@dataclass(frozen=True, eq=False)
class Clock:
    """Time instants 𝒯, time slots ℒ, and ω: which slot an instant belongs to.

    Instants are integers counted from `start`; two events are temporally continuous when
    their instants are t and t + 1. The clock covers positions 0 … n_instants − 1. If `cycle`
    is given, instant t stands at position t mod cycle (cycle 24 with hourly instants: the
    hour of the day), otherwise at position t.

    Attributes
    ----------
    slot_of : (n_instants,) int, ω: the slot of each position; slots are numbered from 0.
    instant_seconds : length of an instant.
    start : local time of instant 0 (naive).
    cycle : instants per cycle (≥ n_instants), or None for a clock that does not repeat.
    """

    slot_of: NDArray[np.int32]
    instant_seconds: int
    start: dt.datetime
    cycle: int | None = None
    n_slots: int = field(init=False)

    def __post_init__(self) -> None:
        """Coerce and check."""
        slot_of = np.asarray(self.slot_of, dtype=np.int32)
        object.__setattr__(self, "slot_of", slot_of)
        if slot_of.ndim != 1 or len(slot_of) == 0:
            raise SettingsError("a clock needs at least one instant")
        used = np.unique(slot_of)
        if used[0] != 0 or used[-1] != len(used) - 1:
            raise SettingsError("slots must be numbered 0, 1, 2 … without a gap")
        if self.instant_seconds <= 0:
            raise SettingsError("instant_seconds must be positive")
        if self.cycle is not None and self.cycle < len(slot_of):
            raise SettingsError(
                f"a cycle of {self.cycle} instants is shorter than its {len(slot_of)} instants"
            )
        object.__setattr__(self, "n_slots", len(used))

    @classmethod
    def regular(
        cls,
        *,
        instant_minutes: int,
        instants_per_slot: int = 1,
        first_hour: float = 0.0,
        last_hour: float = 24.0,
        start_day: dt.date = dt.date(2000, 1, 1),
        daily: bool = True,
        days: int = 1,
    ) -> Clock:
        """Return a clock of equal slots over the hours [first_hour, last_hour) of a day.

        `daily=True` repeats every day (slots are cyclic); `daily=False` covers `days` days
        from `start_day` on, each with slots of its own, and needs the whole day when
        days > 1.

        Examples
        --------
        >>> import doppeltrace as dt
        >>> dt.Clock.regular(instant_minutes=20, instants_per_slot=3, first_hour=9, last_hour=12)
        Clock(9 instants of 20 minutes in 3 slots from 09:00, repeating)
        """
        seconds = instant_minutes * 60
        if instant_minutes <= 0 or DAY_SECONDS % seconds:
            raise SettingsError("instant_minutes must divide a day evenly, such as 20 or 60")
        if not 0 <= first_hour < last_hour <= 24:
            raise SettingsError("hours must satisfy 0 ≤ first < last ≤ 24")
        if instants_per_slot < 1 or days < 1:
            raise SettingsError("instants_per_slot and days must be at least 1")
        if not daily and days > 1 and (first_hour, last_hour) != (0.0, 24.0):
            raise SettingsError("several days without a daily cycle need all 24 hours of each")
        n_instants = round((last_hour - first_hour) * 3600) // seconds * (1 if daily else days)
        start = dt.datetime.combine(start_day, dt.time()) + dt.timedelta(hours=first_hour)
        return cls(
            slot_of=np.arange(n_instants, dtype=np.int32) // instants_per_slot,
            instant_seconds=seconds,
            start=start,
            cycle=DAY_SECONDS // seconds if daily else None,
        )

    @classmethod
    def from_slots(
        cls,
        slots: Sequence[Sequence[int]],
        *,
        instant_seconds: int,
        start: dt.datetime,
        cycle: int | None = None,
    ) -> Clock:
        """Return the clock whose slot i is the set of positions `slots[i]` (a partition)."""
        positions = np.array([p for members in slots for p in members], dtype=np.int64)
        n = len(positions)
        if n == 0 or not np.array_equal(np.sort(positions), np.arange(n)):
            raise SettingsError("slots must together hold each position 0 … n − 1 exactly once")
        if not all(len(members) for members in slots):
            raise SettingsError("slots must each hold at least one position")
        slot_of = np.empty(n, dtype=np.int32)
        for number, members in enumerate(slots):
            slot_of[np.asarray(members, dtype=np.int64)] = number
        return cls(slot_of, instant_seconds, start, cycle)

    def __repr__(self) -> str:
        """Show the size, not the arrays."""
        return f"Clock({self.in_short()})"

    def in_short(self) -> str:
        """Return its size in words."""
        minutes = f"{self.instant_seconds / 60:g} minutes"
        words = f"{self.n_instants:,} instants of {minutes} in {self.n_slots:,} slots"
        return f"{words} from {self.start:%H:%M}{', repeating' * (self.cycle is not None)}"

    @property
    def n_instants(self) -> int:
        """Number of positions covered: the length of a synthetic trace by default."""
        return len(self.slot_of)

    def position(self, instant: ArrayLike) -> NDArray[np.int64]:
        """Return each instant's position; outside 0 … n_instants − 1 it is not covered."""
        t = np.asarray(instant, dtype=np.int64)
        return t % self.cycle if self.cycle is not None else t

    def covers(self, instant: ArrayLike) -> NDArray[np.bool_]:
        """Tell which instants the clock covers."""
        p = self.position(instant)
        return (p >= 0) & (p < self.n_instants)

    def slot(self, instant: ArrayLike) -> NDArray[np.int32]:
        """Return ω(t) of covered instants."""
        return self.slot_of[self.position(instant)]

    def timeline(self, length: int | None = None) -> NDArray[np.int64]:
        """Return the first `length` covered instants: those of a synthetic trace.

        A clock with a cycle goes round as often as needed; one without cannot outlast itself.
        """
        n = self.n_instants
        length = n if length is None else length
        if length < 1:
            raise SettingsError("a trace needs a length of at least 1 instant")
        if self.cycle is None and length > n:
            raise SettingsError(
                f"length {length} exceeds the {n} instants of a clock that does not repeat"
            )
        step = np.arange(length, dtype=np.int64)
        return step if self.cycle is None else step // n * self.cycle + step % n

    def local_time(self, instant: ArrayLike) -> NDArray[np.datetime64]:
        """Return the local time (datetime64[s]) at which each instant begins."""
        seconds = np.asarray(instant, dtype=np.int64) * self.instant_seconds
        return np.datetime64(self.start, "s") + seconds.astype("timedelta64[s]")

    def same_as(self, other: Clock) -> bool:
        """Tell whether both have the same positions, slots, cycle and time of day."""
        return (
            np.array_equal(self.slot_of, other.slot_of)
            and self.cycle == other.cycle
            and self.instant_seconds == other.instant_seconds
            and self.start.time() == other.start.time()
        )


@dataclass(frozen=True, eq=False)
class Traces:
    """Who was where, when: the training or testing traces 𝒮.

    Attributes
    ----------
    users : (n_users,) labels in the input; position = user index n.
    offsets : (n_users + 1,) int64; user n's events are offsets[n] … offsets[n + 1] − 1.
    location : (n_events,) int32 index into `places`.
    instant : (n_events,) int32, covered by `clock`, not decreasing within a user.
    """

    users: NDArray[Any]
    offsets: NDArray[np.int64]
    location: NDArray[np.int32]
    instant: NDArray[np.int32]
    places: Places
    clock: Clock

    def __post_init__(self) -> None:
        """Coerce dtypes and check every invariant above."""
        set_ = object.__setattr__
        set_(self, "users", np.asarray(self.users))
        set_(self, "offsets", np.asarray(self.offsets, dtype=np.int64))
        set_(self, "location", np.ascontiguousarray(self.location, dtype=np.int32))
        set_(self, "instant", np.ascontiguousarray(self.instant, dtype=np.int32))
        n_events = len(self.location)
        ok = (
            self.offsets.shape == (len(self.users) + 1,)
            and self.offsets[0] == 0
            and self.offsets[-1] == n_events == len(self.instant)
            and np.all(np.diff(self.offsets) >= 0)
        )
        if not ok:
            raise InputError("traces: offsets, users and events do not fit together")
        if n_events and not (0 <= self.location.min() and self.location.max() < len(self.places)):
            raise InputError("traces: a location is not among the places")
        if not np.all(self.clock.covers(self.instant)):
            raise InputError("traces: an event lies outside the clock")
        backwards = np.diff(self.instant) < 0
        starts = self.offsets[1:-1]
        backwards[starts[(starts > 0) & (starts < n_events)] - 1] = False
        if np.any(backwards):
            raise InputError("traces: events of a user are not ordered by time")

    @classmethod
    def from_events(
        cls,
        user: ArrayLike,
        location: ArrayLike,
        instant: ArrayLike,
        *,
        places: Places,
        clock: Clock,
        users: NDArray[Any] | None = None,
    ) -> Traces:
        """Build traces from event columns in any order.

        `user` holds indexes into `users`, or, if `users` is None, labels, which are then
        numbered in sorted order. Events of one user and instant keep their input order.
        """
        user = np.asarray(user)
        instant = np.asarray(instant, dtype=np.int64)
        if users is None:
            users, user = np.unique(user, return_inverse=True)
        early, late = (int(instant.min()), int(instant.max())) if len(instant) else (0, 0)
        key = user.astype(np.int64) * (late - early + 1) + (instant - early)
        order = np.argsort(key, kind="stable")  # ties stay in input order
        counts = np.bincount(user, minlength=len(users))
        return cls(
            users=users,
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            location=np.asarray(location)[order],
            instant=instant[order],
            places=places,
            clock=clock,
        )

    def __repr__(self) -> str:
        """Show the size, not the arrays."""
        return f"Traces({self.in_short()})"

    def in_short(self) -> str:
        """Return its size in words."""
        return f"{self.n_users:,} users, {self.n_events:,} events at {len(self.places):,} places"

    def _repr_html_(self) -> str:
        rows = {"users": self.n_users, "events": self.n_events, "places": len(self.places)}
        shown = [(name, f"{number:,}") for name, number in rows.items()]
        return html_table([*shown, ("clock", self.clock.in_short())])

    @property
    def n_users(self) -> int:
        """Return |𝒰|."""
        return len(self.users)

    @property
    def n_events(self) -> int:
        """Return the number of events of all users."""
        return len(self.location)

    @property
    def user(self) -> NDArray[np.int64]:
        """Return (n_events,) the user index of each event."""
        return np.repeat(np.arange(self.n_users), np.diff(self.offsets))

    @property
    def slot(self) -> NDArray[np.int32]:
        """Return (n_events,) the slot of each event."""
        return self.clock.slot(self.instant)

    def transitions(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Return (user, origin, destination, slot of the destination) of every transition.

        Only temporally continuous events make one: same user, consecutive rows, instants t
        and t + 1. Pairs inside one instant do not.
        """
        user = self.user
        step = (np.diff(self.instant) == 1) & (np.diff(user) == 0)
        first = np.flatnonzero(step)
        return user[first], self.location[first], self.location[first + 1], self.slot[first + 1]

    def select(self, index: ArrayLike) -> Traces:
        """Return the traces of the users with these indexes, in this order."""
        index = np.asarray(index, dtype=np.int64)
        counts = np.diff(self.offsets)[index]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], counts)
        return Traces(
            self.users[index],
            offsets,
            self.location[rows],
            self.instant[rows],
            self.places,
            self.clock,
        )


@dataclass(frozen=True, eq=False)
class SyntheticTraces:
    """Synthetic traces with, for tests and attacks only, the users they were made from.

    Attributes
    ----------
    locations : (n_traces, length) int32, the location at each instant of
        `clock.timeline(length)`; −1 where a synthesizer leaves an event out.
    owner : (n_traces,) int64, index of the input user; never written to a release.
    replicate : (n_traces,) int64, 0 … traces_per_user − 1.
    """

    locations: NDArray[np.int32]
    owner: NDArray[np.int64]
    replicate: NDArray[np.int64]
    places: Places
    clock: Clock

    def __post_init__(self) -> None:
        """Coerce dtypes and check shapes and ranges."""
        set_ = object.__setattr__
        set_(self, "locations", np.ascontiguousarray(self.locations, dtype=np.int32))
        set_(self, "owner", np.asarray(self.owner, dtype=np.int64))
        set_(self, "replicate", np.asarray(self.replicate, dtype=np.int64))
        if self.locations.ndim != 2:
            raise InputError("synthetic traces: locations must have shape (traces, instants)")
        n = len(self.locations)
        if self.owner.shape != (n,) or self.replicate.shape != (n,):
            raise InputError("synthetic traces: owner and replicate need one entry per trace")
        if self.locations.size and not (
            -1 <= self.locations.min() and self.locations.max() < len(self.places)
        ):
            raise InputError("synthetic traces: a location is not among the places")

    def __len__(self) -> int:
        """Return the number of traces."""
        return len(self.locations)

    def __repr__(self) -> str:
        """Show the size, not the arrays."""
        n, length = self.locations.shape
        return (
            f"SyntheticTraces({n:,} traces of {length:,} instants at {len(self.places):,} places)"
        )

    def _repr_html_(self) -> str:
        n, length = self.locations.shape
        rows = {"traces": n, "instants per trace": length, "places": len(self.places)}
        shown = [(name, f"{number:,}") for name, number in rows.items()]
        return html_table([*shown, ("clock", self.clock.in_short())])

    @property
    def instants(self) -> NDArray[np.int64]:
        """Return (length,) the instants of every trace."""
        return self.clock.timeline(self.locations.shape[1])

    def select(self, index: ArrayLike | slice) -> SyntheticTraces:
        """Return the traces at these positions (or where this mask holds, or of this slice)."""
        index = index if isinstance(index, slice) else np.asarray(index)
        return SyntheticTraces(
            self.locations[index],
            self.owner[index],
            self.replicate[index],
            self.places,
            self.clock,
        )

    def as_traces(self) -> Traces:
        """Return the same events as `Traces` whose users are the trace numbers."""
        n, length = self.locations.shape
        present = self.locations >= 0
        return Traces(
            users=np.arange(n),
            offsets=np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
            location=self.locations[present],
            instant=np.broadcast_to(self.instants.astype(np.int32), (n, length))[present],
            places=self.places,
            clock=self.clock,
        )

    def by_replicate(self) -> Iterator[SyntheticTraces]:
        """Yield the traces of replicate 0, 1, …: at most one trace per user each."""
        for r in np.unique(self.replicate):
            yield self.select(self.replicate == r)
