"""Check-ins of any number in two passes: which places count, then the events at them.

Only the places, a few blocks of the file and the kept events (26 bytes each) are in memory.
Rows that cannot be used are dropped and counted: the published files are known to have some.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.discretize.stamps import EXAMPLE, FIRST_YEAR, LAST_YEAR, parse_stamps
from doppeltrace.discretize.when import check_timezone, parse_times, to_local
from doppeltrace.io._blocks import Layout, map_rows
from doppeltrace.io._dedup import DedupBuffer
from doppeltrace.io._events import MAX_OFFSET_MINUTES
from doppeltrace.io._frames import ROW, SURPLUS
from doppeltrace.io._place_counts import DistinctUsers, PlaceCounts, users_of
from doppeltrace.io.columns import finite_number
from doppeltrace.io.places import rounded_degrees, warn_of_scattered
from doppeltrace.io.validation import Tally, nothing_left
from doppeltrace.traces import Bounds

OPTIONAL = ("category_id", "category")
"""Fields that may be empty."""


Filter = Callable[[pl.DataFrame, Tally], pl.DataFrame]
"""Keeps the usable ones of a block of rows, and counts the others."""


def located_rows(layout: Layout, box: Bounds | None, *, drop_origin: bool) -> Filter:
    """Return the filter of rows that locate themselves with `lat` and `lng`, in the box.

    `drop_origin` drops rows at 0° N 0° E, which stand for an unknown position.
    """

    def keep(rows: pl.DataFrame, part: Tally) -> pl.DataFrame:
        frame = whole_rows(rows, layout, part)
        frame = frame.with_columns(finite_number("lat"), finite_number("lng"))
        y, x = pl.col("lat"), pl.col("lng")
        impossible = ~((y.abs() <= 90) & (x.abs() <= 180)).fill_null(False)
        frame = part.drop(frame, impossible, "coordinates are not degrees")
        if drop_origin:
            frame = part.drop(frame, (y == 0) & (x == 0), "at 0° N 0° E: position unknown")
        if box is None:
            return frame
        beyond = ~(y.is_between(box.south, box.north) & x.is_between(box.west, box.east))
        return part.drop(frame, beyond, "outside the bounds")

    return keep


def count_places(
    path: Path, layout: Layout, keep: Filter, tally: Tally, *, users: bool
) -> PlaceCounts:
    """Pass 1 where the rows themselves locate the places (`location`, `lat`, `lng`).

    A place stands where its first row puts it, rounded: in these files all rows of a place
    repeat the place's own coordinates. `users` counts its users, too.
    """
    own = [name for name in ("category",) if name in layout.names]
    edges = [pl.col(c).alias(f"{c}_{e}") for c in ("lat", "lng") for e in ("low", "high")]
    distinct = DistinctUsers()

    def work(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame | None, Tally]:
        part = Tally(tally.source, rows_read=len(rows))
        frame = keep(rows, part)
        pairs = users_of(frame, pl.col("location").hash()) if users else None
        return _visits(frame.with_columns(*edges, visits=pl.lit(1, pl.Int64)), own), pairs, part

    found: list[pl.DataFrame] = []
    for frame, pairs, part in map_rows(path, layout, work):
        tally.absorb(part)
        if pairs is not None:
            distinct.add(pairs)
        found.append(frame)
        if len(found) == 64:
            found = [_visits(pl.concat(found), own)]
    if sum(map(len, found)) == 0:
        raise nothing_left(tally)
    places = _visits(pl.concat(found), own)
    warn_of_scattered(places, tally)
    places = places.with_columns(rounded_degrees("lat"), rounded_degrees("lng"))
    return PlaceCounts(
        names=places["location"],
        lat=places["lat"].to_numpy(),
        lng=places["lng"].to_numpy(),
        visits=places["visits"].to_numpy(),
        first_row=places[ROW].to_numpy().astype(np.int64),
        category=places["category"] if own else None,
        users=distinct.count(places["location"].hash()) if users else None,
    )


def _visits(frame: pl.DataFrame, own: list[str]) -> pl.DataFrame:
    first = pl.col(ROW, "lat", "lng", *own).first()
    return frame.group_by("location", maintain_order=True).agg(
        first,
        pl.col("visits").sum(),
        pl.col("lat_low", "lng_low").min(),
        pl.col("lat_high", "lng_high").max(),
    )


def count_known_places(
    path: Path,
    layout: Layout,
    places: pl.DataFrame,
    tally: Tally,
    reason: str,
    *,
    users: bool,
) -> PlaceCounts:
    """Pass 1 where a frame of `location`, `lat`, `lng`, `category` locates the places.

    Rows at none of them are dropped for this reason. Places without rows are left out. `users`
    counts the users of each, too.
    """
    distinct = DistinctUsers()
    known = pl.Enum(places["location"])
    visits = np.zeros(len(places), dtype=np.int64)
    first_row = np.full(len(places), np.iinfo(np.int64).max, dtype=np.int64)

    def work(
        rows: pl.DataFrame,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], pl.DataFrame | None, Tally]:
        part = Tally(tally.source, rows_read=len(rows))
        numbered = rows.with_columns(
            number=pl.col("location").cast(known, strict=False).to_physical()
        )
        if numbered["number"].null_count():
            numbered = part.drop(numbered, pl.col("location").is_null(), incomplete(layout))
            numbered = part.drop(numbered, pl.col("number").is_null(), reason)
        pairs = users_of(numbered, pl.col("number")) if users else None
        return numbered["number"].to_numpy(), numbered[ROW].to_numpy(), pairs, part

    needed = ("user", "location") if users else ("location",)
    for number, row, pairs, part in map_rows(path, layout, work, needed):
        tally.absorb(part)
        if pairs is not None:
            distinct.add(pairs)
        visits += np.bincount(number, minlength=len(visits))
        new = first_row[number] > row
        first_row[number[new][::-1]] = row[new][::-1]  # the first of several is written last
    if not visits.any():
        raise nothing_left(tally)
    visited = np.flatnonzero(visits)
    return PlaceCounts(
        names=places["location"].gather(visited),
        lat=places["lat"].gather(visited).to_numpy(),
        lng=places["lng"].gather(visited).to_numpy(),
        visits=visits[visited],
        first_row=first_row[visited],
        category=places["category"].gather(visited),
        users=distinct.count(pl.Series(visited, dtype=pl.UInt64)) if users else None,
    )


def collect(
    path: Path,
    layout: Layout,
    names: pl.Series,
    tally: Tally,
    add_times: Filter,
    keep: Filter | None = None,
) -> pl.DataFrame:
    """Pass 2: return `ROW`, `user`, `place`, `moment` and `local` of the rows at these places.

    Parameters
    ----------
    names : the places as the file writes them, in the order of their numbers.
    add_times : adds `moment` and `local` to a block of rows, and drops those it cannot read.
    keep : the filter of the first pass, which has counted what it drops; if there was none,
        rows that are not whole are dropped and counted now.
    """
    kept = pl.Enum(names)

    def work(rows: pl.DataFrame) -> tuple[pl.DataFrame, Tally]:
        part = Tally(tally.source)
        place = pl.col("location").cast(kept, strict=False).to_physical().cast(pl.Int32)
        frame = rows.with_columns(place=place).filter(pl.col("place").is_not_null())
        if keep is None:
            frame = whole_rows(frame, layout, part)
        else:
            frame = keep(frame, Tally("counted in the first pass"))
        frame = frame.with_columns(pl.col("user").str.strip_chars().cast(pl.Int64, strict=False))
        frame = part.drop(frame, pl.col("user").is_null(), "user is not an integer")
        frame = add_times(frame, part)
        return frame.select(ROW, "user", "place", "moment", "local"), part

    events = DedupBuffer(tally)
    for frame, part in map_rows(path, layout, work):
        tally.absorb(part)
        events.add(frame)
    if events.rows == 0:
        raise nothing_left(tally)
    return events.whole()


def stamp_times(timezone: str | None) -> Filter:
    """Return what reads `time` as a stamp and makes it local by `offset` or by the time zone."""
    if timezone is not None:
        check_timezone(timezone)

    def add(frame: pl.DataFrame, part: Tally) -> pl.DataFrame:
        frame = frame.with_columns(moment=parse_stamps(frame["time"]))
        reason = f"time is not like {EXAMPLE}, from {FIRST_YEAR} to {LAST_YEAR}"
        frame = part.drop(frame, pl.col("moment").is_null(), reason)
        if timezone is not None:
            there = pl.col("moment").dt.replace_time_zone("UTC").dt.convert_time_zone(timezone)
            return frame.with_columns(local=there.dt.replace_time_zone(None))
        minutes = pl.col("offset").str.strip_chars().cast(pl.Int64, strict=False)
        frame = frame.with_columns(offset=minutes)
        odd = ~(pl.col("offset").abs() <= MAX_OFFSET_MINUTES).fill_null(False)
        frame = part.drop(frame, odd, f"offset is not within ±{MAX_OFFSET_MINUTES} minutes")
        return frame.with_columns(local=pl.col("moment") + pl.duration(minutes="offset"))

    return add


def iso_times(timezone: str | None) -> Filter:
    """Return what reads `time` as ISO 8601 and makes it local with the time zone, or else UTC."""
    if timezone is not None:
        check_timezone(timezone)

    def add(frame: pl.DataFrame, part: Tally) -> pl.DataFrame:
        times = to_local(*parse_times(frame["time"]), timezone=timezone, naive_is_utc=True)
        local = times.moment if timezone is None else times.local
        frame = frame.with_columns(local=local, moment=times.moment)
        early, late = dt.datetime(FIRST_YEAR, 1, 1), dt.datetime(LAST_YEAR + 1, 1, 1)
        odd = ~pl.col("moment").is_between(early, late, closed="left").fill_null(False)
        example = "2010-10-19T23:55:27Z"
        reason = f"time is not like {example}, from {FIRST_YEAR} to {LAST_YEAR}"
        return part.drop(frame, odd, reason)

    return add


def incomplete(layout: Layout) -> str:
    """Return the reason for which `whole_rows` drops rows."""
    return f"blank, or not its {len(layout.names)} fields"


def whole_rows(rows: pl.DataFrame, layout: Layout, tally: Tally) -> pl.DataFrame:
    """Drop the rows that have empty fields, too few of them or too many."""
    needed = [name for name in layout.names if name not in OPTIONAL]
    broken = pl.any_horizontal(pl.col(needed).is_null()) | pl.col(SURPLUS).is_not_null()
    return tally.drop(rows, broken, incomplete(layout)).drop(SURPLUS)
