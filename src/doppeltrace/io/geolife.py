"""GeoLife: GPS positions in folders <user>/Trajectory/<start>.plt, with six lines of header.

lat, lng, 0, altitude in feet, days since 1899-12-30, 2008-10-23, 02:53:04 (UTC)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl

from doppeltrace.discretize.cells import CellChoice, Cells
from doppeltrace.discretize.per_instant import check_rule, one_per_instant
from doppeltrace.discretize.stamps import FIRST_YEAR, LAST_YEAR
from doppeltrace.discretize.when import check_timezone
from doppeltrace.discretize.where import inside, keep_places, most_visited
from doppeltrace.errors import InputError, SettingsError
from doppeltrace.io._blocks import Layout, map_rows
from doppeltrace.io._checkins import whole_rows
from doppeltrace.io._events import as_bounds
from doppeltrace.io._frames import ROW
from doppeltrace.io.columns import finite_number
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.finish import Finishing, FinishingOptions
from doppeltrace.io.sniff import first_lines
from doppeltrace.io.validation import MOST_VISITED, PLACES_OF_ROWS, Tally, nothing_left
from doppeltrace.traces import Bounds

LAYOUT = Layout(
    ("lat", "lng", "zero", "altitude", "serial", "date", "time"), separator=",", skip=6
)
HOME = "Asia/Shanghai"
"""Where most of GeoLife's users live."""

POINT: dict[str, pl.DataType | type[pl.DataType]] = {
    ROW: pl.UInt32,
    "lat": pl.Float64,
    "lng": pl.Float64,
    "moment": pl.Datetime("us"),
    "local": pl.Datetime("us"),
}
WORLD = Bounds(-90.0, -180.0, 90.0, 180.0)


def is_geolife(path: Path) -> bool:
    """Tell whether this is a folder with <user>/Trajectory/*.plt, or its parent."""
    return path.is_dir() and next(_files(path), None) is not None


def read_geolife(
    folder: str | Path,
    *,
    grid: tuple[int, int] | float | None = None,
    h3: int | None = None,
    bounds: Bounds | tuple[float, float, float, float] | None = None,
    top_places: int | None = None,
    per_instant: str = "majority",
    timezone: str = HOME,
    **finishing: Unpack[FinishingOptions],
) -> Dataset:
    """Read GeoLife: one event per user and instant, in cells of a grid or in H3 hexagons.

    One user's points are in memory at a time. Users are labelled by their folders. The row
    numbers of faults are lines of the file that is named with them.

    Parameters
    ----------
    folder : the folder of users (`Data`), or the one above it.
    grid : (rows, columns) over `bounds`, or a cell's side in metres.
    h3 : resolution of H3 hexagons, instead of a grid.
    bounds : box (south, west, north, east) in degrees, which a grid needs; points outside are
        dropped and counted.
    top_places : keep only this many cells, those with the most users.
    per_instant : `majority` or `stay`: see `one_per_instant`.
    timezone : IANA name of the local time zone; the files are in UTC.
    finishing : instants, slots, hours and split; see `Finishing`.
    """
    folder = Path(folder)
    rest, choice, box = Finishing(**finishing), CellChoice(grid, h3), as_bounds(bounds)
    check_timezone(timezone)
    check_rule(per_instant)
    if not choice:
        raise SettingsError("give a grid (grid=…, with bounds=…) or H3 cells (h3=…)")
    if grid is not None and box is None:
        raise SettingsError("a grid needs bounds: give the box (bounds=…)")
    if not is_geolife(folder):
        raise InputError(f"{folder}: no folders <user>/Trajectory with .plt files in it")
    cells = choice.over(box or WORLD)
    tally = Tally(str(folder))
    first_files: dict[str, str] = {}
    events = []
    for user, files in _users(folder).items():
        points = _points(files, timezone, tally, first_files)
        merged = _merge(points, cells, box, rest, per_instant, tally)
        events.append(merged.with_columns(user=pl.lit(user)))
    tally.dropped = [
        replace(f, reason=f"{f.reason}, first in {first_files[f.reason]}")
        if f.reason in first_files
        else f
        for f in tally.dropped
    ]
    frame = pl.concat(events)
    if len(frame) == 0:
        raise nothing_left(tally)
    number, places = cells.number(frame["place"].to_numpy())
    if h3 is not None:
        tally.derived.append(PLACES_OF_ROWS)
    if top_places is not None:
        tally.derived.append(MOST_VISITED)
        who = frame["user"].rle_id().to_numpy()  # users come one after the other
        kept = most_visited(number, who, places.labels, top_places)
        places, renumber = keep_places(places, kept)
        number = renumber[number]
        reason = f"not at one of the {len(places):,} most visited places"
        tally.note(reason, int((number < 0).sum()))
    frame = frame.with_columns(place=pl.Series(number)).filter(pl.col("place") >= 0)
    return rest.dataset(frame, places, tally)


def _files(folder: Path) -> Iterator[Path]:
    for pattern in ("*/Trajectory/*.plt", "Data/*/Trajectory/*.plt"):
        yield from folder.glob(pattern)
        yield from folder.glob(f"{pattern}.gz")


def _users(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each user, both in the order of their names."""
    users: dict[str, list[Path]] = {}
    for file in sorted(_files(folder)):
        users.setdefault(file.parent.parent.name, []).append(file)
    return users


def _points(
    files: list[Path], timezone: str, tally: Tally, first_files: dict[str, str]
) -> pl.DataFrame:
    """Return `ROW`, `lat`, `lng`, `moment`, `local` of one user's points, in time order."""

    def work(rows: pl.DataFrame) -> tuple[pl.DataFrame, Tally]:
        part = Tally(tally.source, rows_read=len(rows))
        frame = whole_rows(rows, LAYOUT, part)
        frame = frame.with_columns(finite_number("lat"), finite_number("lng"))
        possible = (pl.col("lat").abs() <= 90) & (pl.col("lng").abs() <= 180)
        frame = part.drop(frame, ~possible.fill_null(False), "coordinates are not degrees")
        written = pl.concat_str("date", pl.lit(" "), "time")
        utc = written.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="us")
        frame = frame.with_columns(moment=utc)
        early, late = dt.datetime(FIRST_YEAR, 1, 1), dt.datetime(LAST_YEAR + 1, 1, 1)
        odd = ~pl.col("moment").is_between(early, late, closed="left").fill_null(False)
        reason = f"time is not like 2008-10-23,02:53:04, from {FIRST_YEAR} to {LAST_YEAR}"
        frame = part.drop(frame, odd, reason)
        there = pl.col("moment").dt.replace_time_zone("UTC").dt.convert_time_zone(timezone)
        frame = frame.with_columns(local=there.dt.replace_time_zone(None))
        return frame.select(ROW, "lat", "lng", "moment", "local"), part

    found = []
    for file in files:
        layout = LAYOUT if _has_header(file) else replace(LAYOUT, skip=0)
        for frame, part in map_rows(file, layout, work):
            for finding in part.dropped:
                new = first_files.setdefault(finding.reason, str(file)) == str(file)
                tally.note(finding.reason, finding.count, finding.rows if new else ())
            tally.rows_read += part.rows_read
            found.append(frame)
    if not found:
        return pl.DataFrame(schema=POINT)
    return pl.concat(found).sort("moment", maintain_order=True)


def _has_header(file: Path) -> bool:
    """Tell whether the first line is anything but a point."""
    first = first_lines(file, limit=1000)[:1]
    return not first or first[0].count(LAYOUT.separator) + 1 != len(LAYOUT.names)


def _merge(
    points: pl.DataFrame,
    cells: Cells,
    box: Bounds | None,
    rest: Finishing,
    rule: str,
    tally: Tally,
) -> pl.DataFrame:
    """Return one user's events: `ROW`, `place` (a cell's key), `moment`, `local`."""
    if box is not None:
        within = inside(box, points["lat"].to_numpy(), points["lng"].to_numpy())
        if not within.all():
            tally.note("outside the bounds", int((~within).sum()))
        points = points.filter(pl.Series(within))
    keys = cells.keys(points["lat"].to_numpy(), points["lng"].to_numpy())
    instant, left = rest.instants(points["local"])
    points = points.with_columns(
        place=pl.Series(keys, dtype=pl.Int64), instant=instant, left=left, user=pl.lit(0)
    )
    kept = one_per_instant(points, rule)
    if len(kept) < len(points):
        tally.note(f"merged into one event per instant ({rule})", len(points) - len(kept))
    return kept.select(ROW, "place", "moment", "local")
