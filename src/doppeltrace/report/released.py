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

from doppeltrace.exports.source import released_rows
from doppeltrace.traces import DAY_SECONDS, Clock, Places, Traces
from doppeltrace.utility import mobility
from doppeltrace.utility.summary import in_chunks

SHOWN_PLACES = 250
"""Places on the maps, the busiest."""
BUSIEST = 10
PERIODS = (("night", 0, 6), ("morning", 6, 12), ("afternoon", 12, 18), ("evening", 18, 24))
MOST_BINS = 12
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
    moving : hour of the day → share of events in it that are elsewhere than an instant before.
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
    moving: dict[int, float]
    trips: Bars | None
    stays: Bars | None
    busiest: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, path: Path) -> ReleasedFigures:
        """Count the released traces of a CSV or Parquet file."""
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        rows = released_rows(path)
        visits = (
            rows.group_by("location", "lat", "lng", hour=pl.col("datetime").dt.hour())
            .agg(events=pl.len())
            .collect()
        )
        places = (
            visits.group_by("location", "lat", "lng")
            .agg(pl.col("events").sum())
            .sort(-pl.col("events").cast(pl.Int64), "location")
        )
        events = int(places["events"].sum())
        shown = places.head(SHOWN_PLACES)
        traces = _traces(rows, places)
        trips, stays, moved, seen = _movement(traces)
        times = traces.clock.local_time(traces.instant[[]] if events == 0 else _ends(traces))
        first, last = times.tolist() if events else (None, None)
        hours = traces.clock.instant_seconds / 3600
        return cls(
            file=path.name,
            bytes=path.stat().st_size,
            sha256=digest,
            traces=traces.n_users,
            events=events,
            places=len(places),
            first=first,
            last=last,
            step_minutes=None if first == last else traces.clock.instant_seconds / 60,
            lat=shown["lat"].to_numpy(),
            lng=shown["lng"].to_numpy(),
            shown_share=int(shown["events"].sum()) / max(events, 1),
            periods=_periods(visits, shown),
            moving={h: float(moved[h] / seen[h]) for h in range(24) if seen[h]},
            trips=_bars(trips, mobility.KM, TRIP_BINS),
            stays=_bars(stays[1:], hours, STAY_BINS, first=1),
            busiest=tuple(
                (str(label), count / events)
                for label, count in places.head(BUSIEST).select("location", "events").rows()
            ),
        )


def _traces(rows: pl.LazyFrame, places: pl.DataFrame) -> Traces:
    """Return the released traces on a clock of their own, its step the largest that fits."""
    stamps = rows.select(pl.col("datetime").unique()).collect()["datetime"].to_numpy()
    seconds = stamps.astype("datetime64[s]").astype(np.int64)
    start = int(seconds.min()) if len(seconds) else 0
    step = int(np.gcd.reduce(seconds - start)) if len(seconds) else 0
    clock = Clock(
        np.zeros((int(seconds.max()) - start) // step + 1 if step else 1, dtype=np.int32),
        instant_seconds=step or DAY_SECONDS,
        start=dt.datetime(1970, 1, 1) + dt.timedelta(seconds=start),
    )
    if len(places) == 0:
        nowhere = Places(np.array(["nowhere"]), np.zeros(1), np.zeros(1))
        nothing = np.zeros(0, dtype=np.int32)
        return Traces(nothing, np.zeros(1, dtype=np.int64), nothing, nothing, nowhere, clock)
    number = places.select("location", place=pl.int_range(pl.len(), dtype=pl.Int32)).lazy()
    instant = (pl.col("datetime").dt.epoch("s") - start) // (step or DAY_SECONDS)
    events = (
        rows.join(number, on="location", nulls_equal=True, how="left")
        .select("uid", "tid", "place", instant=instant.cast(pl.Int32))
        .sort("uid", "tid", "instant", maintain_order=True)
        .collect()
    )
    begins = events.select((pl.struct("uid", "tid").rle_id().diff() != 0).fill_null(True))
    first = np.flatnonzero(begins.to_series().to_numpy())
    return Traces(
        users=np.arange(len(first)),
        offsets=np.append(first, len(events)),
        location=events["place"].to_numpy(),
        instant=events["instant"].to_numpy(),
        places=Places(
            places["location"].to_numpy(), places["lat"].to_numpy(), places["lng"].to_numpy()
        ),
        clock=clock,
    )


def _ends(traces: Traces) -> NDArray[np.int32]:
    return np.array([traces.instant.min(), traces.instant.max()])


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
        arrived = part.clock.local_time(part.instant[1:][follows])
        hour = (arrived.astype(np.int64) // 3600 % 24).astype(np.int64)
        elsewhere = np.diff(part.location)[follows] != 0
        seen += np.bincount(hour, minlength=24)
        moved += np.bincount(hour[elsewhere], minlength=24)
    return trips, stays, moved, seen


def _periods(visits: pl.DataFrame, shown: pl.DataFrame) -> tuple[Period, ...]:
    found = []
    for name, first, last in PERIODS:
        inside = visits.filter(pl.col("hour").is_between(first, last, closed="left"))
        total = inside["events"].sum()
        if total:
            here = inside.group_by("location").agg(pl.col("events").sum())
            counts = shown.select("location").join(
                here, on="location", how="left", nulls_equal=True, maintain_order="left"
            )["events"]
            found.append(Period(name, first, last, counts.fill_null(0).to_numpy() / total))
    return tuple(found)


def _bars(
    counts: NDArray[np.int64], unit: float, widths: tuple[int, ...], first: int = 0
) -> Bars | None:
    """Put cells of `unit`, numbered from `first`, into bins of the least width that is enough."""
    total = counts.sum()
    if total == 0:
        return None
    running = np.cumsum(counts) / total
    reach = int(np.searchsorted(running, COVERED)) + 1
    width = next((w for w in widths if w * (MOST_BINS - 1) >= reach), widths[-1])
    number = np.minimum(np.arange(len(counts)) // width, MOST_BINS - 1)
    share = np.bincount(number, counts) / total
    return Bars(
        width=width * unit,
        share=tuple(share.tolist()),
        open_ended=len(share) == MOST_BINS,
        typical=float((np.searchsorted(running, 0.5) + first) * unit),
    )
