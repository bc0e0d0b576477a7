"""Bounded users: how much of one person's data a model may see, however much there is.

A user with fifty times the events of others steers factors and population counts towards his or
her own places. Two bounds even that out: events per instant (a person is in one place at a
time), and events in all, relative to the typical user.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.engine.local import run_blocks
from doppeltrace.errors import require
from doppeltrace.safeguards import _kernels as kernels
from doppeltrace.traces import DAY_SECONDS, Traces

MAX_EVENTS_PER_INSTANT = 1
MAX_TIMES_TYPICAL = 10
"""The default cap is this many times the median user's events, rounded up to a round number."""


@dataclass(frozen=True)
class CapRecord:
    """What the caps left out.

    Attributes
    ----------
    max_events_per_instant, max_events : the caps of every user.
    given : whether `max_events` was chosen by the data holder, not derived from the typical user.
    users_capped : users who had more than either.
    events, events_left_out : training events before, and those no longer among them.
    """

    max_events_per_instant: int
    max_events: int
    given: bool
    users_capped: int
    events: int
    events_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)

    @property
    def words(self) -> str:
        """Return one sentence with exact counts, for internal files."""
        share = self.events_left_out / max(self.events, 1)
        return (
            f"the model sees at most {self.max_events_per_instant} of a user's events per "
            f"instant and {self.max_events:,} in all: {self.events_left_out:,} events "
            f"({share:.1%}) of {self.users_capped:,} users are left out"
        )

    @property
    def public_words(self) -> str:
        """Return one sentence without any number that comes from the data."""
        in_all = (
            f"{self.max_events:,} in all"
            if self.given
            else f"{MAX_TIMES_TYPICAL} times as many in all as the typical user has"
        )
        return (
            f"Of one user the model saw at most {self.max_events_per_instant} "
            f"event{'s' * (self.max_events_per_instant > 1)} per instant and {in_all}."
        )


@dataclass(frozen=True, eq=False)
class Capped:
    """Traces with bounded users, and the record of it."""

    traces: Traces
    record: CapRecord


def cap_users(
    traces: Traces,
    *,
    max_events_per_instant: int = MAX_EVENTS_PER_INSTANT,
    max_events: int | None = None,
    seed: int,
) -> Capped:
    """Return the traces with at most so many events of each user, chosen at random.

    Events beyond the cap of an instant are left out one by one; of users who still have more
    than `max_events`, whole days are kept in random order while they fit, so that the steps
    within a day survive. A user's choice depends on the seed and on that user only.

    Parameters
    ----------
    max_events_per_instant : of one user.
    max_events : of one user in all; by default `typical_cap`.
    seed : of the choice.
    """
    require(
        max_events_per_instant >= 1,
        f"max_events_per_instant {max_events_per_instant} must be at least 1",
    )
    require(max_events is None or max_events >= 1, f"max_events {max_events} must be at least 1")
    draws = _draws(traces, seed)
    kept = _in_instants(traces, draws, max_events_per_instant)
    left = _count_per_user(traces, kept)
    cap = typical_cap(left) if max_events is None else max_events
    if left.max(initial=0) > cap:
        kept = _in_days(traces, draws, kept, cap)
    counts = _count_per_user(traces, kept)
    record = CapRecord(
        max_events_per_instant=max_events_per_instant,
        max_events=cap,
        given=max_events is not None,
        users_capped=int(np.count_nonzero(counts < np.diff(traces.offsets))),
        events=traces.n_events,
        events_left_out=int(np.count_nonzero(~kept)),
    )
    if kept.all():
        return Capped(traces, record)
    bounded = Traces(
        traces.users,
        np.concatenate([[0], np.cumsum(counts)]),
        traces.location[kept],
        traces.instant[kept],
        traces.places,
        traces.clock,
    )
    return Capped(bounded, record)


def typical_cap(events_per_user: NDArray[np.int64]) -> int:
    """Return `MAX_TIMES_TYPICAL` times the median, rounded up to 1, 2 or 5 times a power of 10.

    One user more or less, however heavy, hardly ever changes it.
    """
    present = events_per_user[events_per_user > 0]
    wanted = max(1.0, MAX_TIMES_TYPICAL * float(np.median(present))) if len(present) else 1.0
    unit = 10 ** math.floor(math.log10(wanted))
    return next(int(m * unit) for m in (1, 2, 5, 10) if m * unit >= wanted)


def _count_per_user(traces: Traces, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    before = np.concatenate([[0], np.cumsum(kept)])
    return np.diff(before[traces.offsets]).astype(np.int64)


def _draws(traces: Traces, seed: int) -> NDArray[np.float64]:
    """Return (n_events,) a number in [0, 1) per event, each user's from a stream of their own."""
    draws = np.empty(traces.n_events)
    key = streams.key(seed, "cap users")
    run_blocks(
        lambda first, last: kernels.draw_events(first, last, traces.offsets, key, draws),
        traces.n_users,
    )
    return draws


def _in_instants(traces: Traces, draws: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Return which events to keep: in each user's instant, the `most` with the lowest draws."""
    new = _begins(traces.user, traces.instant)
    group = np.cumsum(new) - 1
    if np.count_nonzero(new) == traces.n_events:
        return np.ones(traces.n_events, dtype=bool)
    order = np.lexsort((draws, group))
    kept = np.empty(traces.n_events, dtype=bool)
    kept[order] = np.arange(traces.n_events) - np.flatnonzero(new)[group] < most
    return kept


def _in_days(
    traces: Traces, draws: NDArray[np.float64], kept: NDArray[np.bool_], cap: int
) -> NDArray[np.bool_]:
    """Return which of the kept events to keep: of each user `cap`, by days in random order.

    A day's place in that order is its first event's draw; the last day taken may be cut short.
    """
    rows = np.flatnonzero(kept)
    user = traces.user[rows]
    day = traces.instant[rows].astype(np.int64) * traces.clock.instant_seconds // DAY_SECONDS
    first = np.flatnonzero(_begins(user, day))
    length = np.diff(np.append(first, len(rows)))
    order = np.lexsort((np.repeat(draws[rows[first]], length), user))  # stable: days stay whole
    begin = np.searchsorted(user, np.arange(traces.n_users))
    chosen = np.arange(len(rows)) - begin[user] < cap
    result = np.zeros_like(kept)
    result[rows[order[chosen]]] = True
    return result


def _begins(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a row differs from the one before in any of the columns."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return new
