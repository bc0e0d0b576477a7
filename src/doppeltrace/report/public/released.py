"""What the public page shows of a release: figures of the file of released traces alone.

Nothing here has ever seen the input, the model or the manifest: whatever the page says, a
recipient of the file could have counted.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.release.exports.source import explained, released_rows
from doppeltrace.traces import DAY_SECONDS, Clock, Places, Traces
from doppeltrace.utility import mobility
from doppeltrace.utility.summary import in_chunks

SHOWN_PLACES = 250
"""Places on the maps, the busiest."""
BUSIEST = 10
PERIODS = (("night", 0, 6), ("morning", 6, 12), ("afternoon", 12, 18), ("evening", 18, 24))
MAX_BINS = 12
TRIP_BINS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
STAY_BINS = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36, 48, 72, 144, 288, 576, 1440, 4320, 14_400, 100_000)
"""Widths that a bin may have, in cells: tens of metres, and instants."""
COVERED = 0.98
"""Least share of trips, or stays, in front of the last bin."""


@dataclass(frozen=True, eq=False)
class Period:
    """Where people are in a part of the day.

    Attributes
    ----------
    name, first_hour, last_hour : such as night, from 0 to 6 o'clock.
    share : (n_shown,) of the period's events at each place of the map.
    """

    name: str
    first_hour: int
    last_hour: int
    share: NDArray[np.float64]


@dataclass(frozen=True)
class Bars:
    """Shares per bin: bin i reaches from i · width to (i + 1) · width.

    Attributes
    ----------
    width, typical : of a bin, and the median: in km (trips) or hours (stays).
    share : per bin.
    open_ended : whether the last bin holds everything beyond it, too.
    """

    width: float
    share: tuple[float, ...]
    open_ended: bool
    typical: float


@dataclass(frozen=True, eq=False)
class ReleasedFigures:
    """Figures of a file of released traces.

    Attributes
    ----------
    file, bytes, sha256 : the file's name, size and hash.
    traces, events, places : how many it holds; places are those that occur.
    first, last : local time of the first and the last event; None if there are none.
    step_minutes : time between two instants; None if there is one instant only.
    lat, lng : (n_shown,) degrees of the busiest places, which the maps show.
    shown_share : share of all events at these places.
    periods : parts of the day that have events.
    move_rates : hour of the day → share of events in it that are elsewhere than an instant before.
    trips, stays : lengths of moves, and durations at one place; None if there are none.
    busiest : (label, share of all events), the busiest first.
    """

    file: str
    bytes: int
    sha256: str
    traces: int
    events: int
    places: int
    first: dt.datetime | None
    last: dt.datetime | None
    step_minutes: float | None
    lat: NDArray[np.float64]
    lng: NDArray[np.float64]
    shown_share: float
    periods: tuple[Period, ...]
    move_rates: dict[int, float]
    trips: Bars | None
    stays: Bars | None
    busiest: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, path: Path) -> ReleasedFigures:
        """Count the released traces of a CSV or Parquet file."""
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        traces = _read(path)
        by_hour = _events_by_hour(traces)
        count = by_hour.sum(axis=0)
        places, events = traces.places, traces.n_events
        busy = np.lexsort((places.labels.astype(str), -count))[: SHOWN_PLACES if events else 0]
        trips, stays, moved, seen = _movement(traces)
        ends = [traces.instant.min(), traces.instant.max()] if events else []
        first, last = traces.clock.local_time(ends).tolist() or (None, None)
        return cls(
            file=path.name,
            bytes=path.stat().st_size,
            sha256=digest,
            traces=traces.n_users,
            events=events,
            places=len(places) if events else 0,
            first=first,
            last=last,
            step_minutes=None if first == last else traces.clock.instant_seconds / 60,
            lat=places.lat[busy],
            lng=places.lng[busy],
            shown_share=float(count[busy].sum() / max(events, 1)),
            periods=_periods(by_hour, busy),
            move_rates={h: float(moved[h] / seen[h]) for h in range(24) if seen[h]},
            trips=_bars(trips, mobility.KM, TRIP_BINS),
            stays=_bars(stays[1:], traces.clock.instant_seconds / 3600, STAY_BINS, first=1),
            busiest=tuple(
                (str(places.labels[place]), float(count[place] / events))
                for place in busy[:BUSIEST]
            ),
        )


def _read(path: Path) -> Traces:
    """Return the released traces on a clock of their own, its step the largest that fits."""
    rows = released_rows(path, labels_as_text=True)
    with explained(path):
        found = rows.group_by("location").agg(pl.col("lat", "lng").first()).sort("location")
        places = found.collect(engine="streaming")
        number = places.select("location", place=pl.int_range(pl.len(), dtype=pl.Int32))
        events = (
            rows.join(
                number.lazy(), on="location", how="left", nulls_equal=True, maintain_order="left"
            )
            .select("uid", "tid", "place", seconds=pl.col("datetime").dt.epoch("s"))
            .collect()
        )
    if len(events) == 0:
        return _no_traces()
    uid, tid, seconds, place = (
        events[name].to_numpy() for name in ("uid", "tid", "seconds", "place")
    )
    start = int(seconds.min())
    step = int(np.gcd.reduce(seconds - start)) or DAY_SECONDS
    instant = ((seconds - start) // step).astype(np.int32)
    new, again = np.diff(uid), np.diff(tid)
    inside = (new == 0) & (again == 0)
    in_order = (new > 0) | (new == 0) & (again > 0) | inside & (np.diff(instant) >= 0)
    if not np.all(in_order):  # not by our hand: a release is written in order
        order = np.lexsort((instant, tid, uid))
        uid, tid, instant, place = uid[order], tid[order], instant[order], place[order]
        inside = (np.diff(uid) == 0) & (np.diff(tid) == 0)
    first = np.append(0, np.flatnonzero(~inside) + 1)
    return Traces(
        users=np.arange(len(first)),
        offsets=np.append(first, len(place)),
        location=place,
        instant=instant,
        places=Places(
            places["location"].to_numpy(), places["lat"].to_numpy(), places["lng"].to_numpy()
        ),
        clock=Clock(
            np.zeros(int(instant.max()) + 1, dtype=np.int32),
            instant_seconds=step,
            start=dt.datetime(1970, 1, 1) + dt.timedelta(seconds=start),
        ),
    )


def _no_traces() -> Traces:
    nothing = np.zeros(0, dtype=np.int32)
    nowhere = Places(np.array(["nowhere"]), np.zeros(1), np.zeros(1))
    clock = Clock(np.zeros(1, dtype=np.int32), DAY_SECONDS, dt.datetime(1970, 1, 1))
    return Traces(nothing, np.zeros(1, dtype=np.int64), nothing, nothing, nowhere, clock)


def _events_by_hour(traces: Traces) -> NDArray[np.int64]:
    """Return (24, n_places) the events of each hour of the day."""
    n_places = len(traces.places)
    cell = _hour(traces, traces.instant) * n_places + traces.location
    return np.bincount(cell, minlength=24 * n_places).reshape(24, n_places)


def _hour(traces: Traces, instant: NDArray[np.int32]) -> NDArray[np.int64]:
    every = np.arange(traces.clock.n_instants)
    hour = traces.clock.local_time(every).astype(np.int64) // 3600 % 24
    return hour[instant]


def _movement(
    traces: Traces,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return histograms of trips and stays, and per hour the moves and the events after one."""
    trips = stays = np.zeros(1, dtype=np.int64)
    moved, seen = np.zeros((2, 24), dtype=np.int64)
    for part in in_chunks(traces):
        trips = mobility.add(trips, mobility.trip_lengths(part))
        stays = mobility.add(stays, mobility.stays(part))
        follows = (np.diff(part.instant) == 1) & (np.diff(part.user) == 0)
        hour = _hour(part, part.instant[1:][follows])
        elsewhere = np.diff(part.location)[follows] != 0
        seen += np.bincount(hour, minlength=24)
        moved += np.bincount(hour[elsewhere], minlength=24)
    return trips, stays, moved, seen


def _periods(by_hour: NDArray[np.int64], shown: NDArray[np.int64]) -> tuple[Period, ...]:
    counts = {period: by_hour[period[1] : period[2]].sum(axis=0) for period in PERIODS}
    return tuple(
        Period(*period, share=count[shown] / count.sum())
        for period, count in counts.items()
        if count.sum()
    )


def _bars(
    counts: NDArray[np.int64], unit: float, widths: tuple[int, ...], first: int = 0
) -> Bars | None:
    """Put cells of `unit`, numbered from `first`, into bins of the least width that is enough."""
    total = counts.sum()
    if total == 0:
        return None
    running = np.cumsum(counts) / total
    reach = int(np.searchsorted(running, COVERED)) + 1
    width = next((w for w in widths if w * (MAX_BINS - 1) >= reach), widths[-1])
    number = np.minimum(np.arange(len(counts)) // width, MAX_BINS - 1)
    share = np.bincount(number, counts) / total
    return Bars(
        width=width * unit,
        share=tuple(share.tolist()),
        open_ended=len(share) == MAX_BINS,
        typical=float((np.searchsorted(running, 0.5) + first) * unit),
    )
