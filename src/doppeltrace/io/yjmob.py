"""YJMob100K: `uid,d,t,x,y` on a 200 × 200 grid of 500 m cells, in half-hour slots.

The publishers give neither coordinates nor dates. We lay the cells out from 0° N 0° E, x to the
east and y to the north, 500 m each way; day 0 is 2000-01-01. Distances within the city are
right; where it is, which way it faces, and the weekday are not to be read from the result.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.discretize.where import METRES_PER_DEGREE, Grid, check_rank
from doppeltrace.errors import InputError
from doppeltrace.io._blocks import Layout, map_rows
from doppeltrace.io._checkins import whole_rows
from doppeltrace.io._dedup import DedupBuffer
from doppeltrace.io._frames import ROW
from doppeltrace.io._place_counts import DistinctUsers, PlaceCounts, choose_places, users_of
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.finish import Finishing, FinishingOptions
from doppeltrace.io.sniff import first_lines
from doppeltrace.io.validation import Tally, nothing_left
from doppeltrace.traces import Bounds

LAYOUT = Layout(("user", "d", "t", "x", "y"), separator=",", skip=1)
HEADER = "uid,d,t,x,y"
CELLS = 200
SLOTS = 48
MAX_DAYS = 36_500
MASKED = 999
SIDE = 500 / METRES_PER_DEGREE
DAY_0 = dt.datetime(2000, 1, 1)
GRID = Grid(CELLS, CELLS, Bounds(0.0, 0.0, CELLS * SIDE, CELLS * SIDE))
PSEUDO = (
    "the format has no real coordinates or dates: cells of 500 m are laid out from 0° N 0° E, "
    f"and day 0 is {DAY_0.date()}"
)


def is_yjmob(path: Path) -> bool:
    """Tell whether this is a file of this format."""
    lines = first_lines(path)[:1] if path.is_file() else []
    return [line.replace(" ", "").lower() for line in lines] == [HEADER]


def read_yjmob(
    path: str | Path,
    *,
    top_places: int | None = None,
    rank_by: str = "users",
    **finishing: Unpack[FinishingOptions],
) -> Dataset:
    """Read a file of YJMob100K, in two passes.

    A place is a cell, labelled 200 · (y − 1) + (x − 1); its coordinates are made up as the
    module's head says. Masked positions (999) are dropped and counted.

    Parameters
    ----------
    path : yjmob100k-dataset1.csv or the like, plain or gz.
    top_places : keep only this many cells, those with the most users.
    rank_by : `users`, or `events` to keep the places with the most rows, as the paper does.
    finishing : instants (of 30 minutes by default), slots, hours and split; see `Finishing`.
    """
    path = Path(path)
    finishing.setdefault("instant_minutes", 30)
    rest = Finishing(**finishing)
    check_rank(rank_by)
    if not path.is_file():
        raise InputError(f"{path} is not a file: give yjmob100k-dataset1.csv or the like")
    tally = Tally(str(path), warnings=[PSEUDO])
    layout = LAYOUT if _has_header(path) else replace(LAYOUT, skip=0)
    counts = _count(path, layout, tally, top_places is not None and rank_by == "users")
    places, names = choose_places(counts, top_places, GRID.bounds, tally)
    number = np.full(CELLS * CELLS, -1, dtype=np.int32)
    number[names.cast(pl.Int64).to_numpy()] = np.arange(len(places))
    return rest.dataset(_collect(path, layout, number, tally), places, tally)


def _has_header(path: Path) -> bool:
    """Tell whether the first line is anything but numbers."""
    first = first_lines(path)[:1]
    return not first or not all(field.strip().isdecimal() for field in first[0].split(","))


def _count(path: Path, layout: Layout, tally: Tally, users: bool) -> PlaceCounts:
    distinct = DistinctUsers()
    visits = np.zeros(CELLS * CELLS, dtype=np.int64)
    first_row = np.full(CELLS * CELLS, np.iinfo(np.int64).max, dtype=np.int64)

    def work(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame | None, Tally]:
        part = Tally(tally.source, rows_read=len(rows))
        usable = _usable(rows, part)
        pairs = users_of(usable, pl.col("cell")) if users else None
        return usable.group_by("cell").agg(pl.len(), pl.col(ROW).min()), pairs, part

    for frame, pairs, part in map_rows(path, layout, work):
        tally.absorb(part)
        if pairs is not None:
            distinct.add(pairs)
        cell = frame["cell"].to_numpy()
        visits[cell] += frame["len"].to_numpy()
        first_row[cell] = np.minimum(first_row[cell], frame[ROW].to_numpy())
    visited = np.flatnonzero(visits)
    if len(visited) == 0:
        raise nothing_left(tally)
    cells = GRID.places()
    return PlaceCounts(
        pl.Series(visited).cast(pl.String),
        cells.lat[visited],
        cells.lng[visited],
        visits[visited],
        first_row[visited],
        users=distinct.count(pl.Series(visited, dtype=pl.UInt64)) if users else None,
    )


def _collect(path: Path, layout: Layout, number: NDArray[np.int32], tally: Tally) -> pl.DataFrame:
    """Return the events in the cells that have a number."""

    def work(rows: pl.DataFrame) -> pl.DataFrame:
        frame = _usable(rows, Tally(str(path)))  # counted in the first pass
        frame = frame.with_columns(place=pl.Series(number[frame["cell"].to_numpy()]))
        local = pl.lit(DAY_0) + pl.duration(days="d", minutes=30 * pl.col("t"))
        return frame.filter(pl.col("place") >= 0).select(
            ROW, "user", "place", moment=local, local=local
        )

    events = DedupBuffer(tally)
    for frame in map_rows(path, layout, work):
        events.add(frame)
    return events.whole()


def _usable(rows: pl.DataFrame, part: Tally) -> pl.DataFrame:
    """Return the rows with numbers in their ranges, and their `cell`."""
    frame = whole_rows(rows, LAYOUT, part)
    fields = LAYOUT.names
    frame = frame.with_columns(pl.col(fields).str.strip_chars().cast(pl.Int64, strict=False))
    broken = pl.any_horizontal(pl.col(fields).is_null())
    frame = part.drop(frame, broken, "a field is not an integer")
    x, y = pl.col("x"), pl.col("y")
    frame = part.drop(frame, (x == MASKED) | (y == MASKED), f"position is masked ({MASKED})")
    beyond = ~(x.is_between(1, CELLS) & y.is_between(1, CELLS))
    frame = part.drop(frame, beyond, f"x or y is not from 1 to {CELLS}")
    never = ~(pl.col("d").is_between(0, MAX_DAYS) & pl.col("t").is_between(0, SLOTS - 1))
    frame = part.drop(frame, never, f"d is not a day from 0 on, or t not from 0 to {SLOTS - 1}")
    return frame.with_columns(cell=(y - 1) * CELLS + (x - 1))
