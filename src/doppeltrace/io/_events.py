"""The steps of `read_table`: rows to checked, ordered, located events on a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from doppeltrace.discretize.cells import CellChoice
from doppeltrace.discretize.extent import public_box
from doppeltrace.discretize.per_instant import one_per_instant
from doppeltrace.discretize.when import instants, parse_times, to_local
from doppeltrace.discretize.where import inside, keep_places
from doppeltrace.errors import InputError, SettingsError, require
from doppeltrace.io._frames import ROW, SURPLUS, Rows
from doppeltrace.io.columns import as_labels, as_numbers, finite_number, require_role, trimmed
from doppeltrace.io.faults import Fault, coordinate_faults, missing, too_long
from doppeltrace.io.places import number_of_label, places_of_rows
from doppeltrace.io.validation import DUPLICATE, ROWS_SHOWN, Tally
from doppeltrace.traces import Bounds, Clock, Places

ROLES = ("user", "time", "lat", "lng", "location", "offset")
MAX_OFFSET_MINUTES = 18 * 60
FIRST_YEAR, LAST_YEAR = 1900, 2199
"""Times in other years are taken as mistakes."""


def select_roles(rows: Rows, used: dict[str, str]) -> pl.DataFrame:
    """Return `ROW` and a column per role: labels as labels, text trimmed, null if empty."""
    columns = [rows.frame[own] for own in (ROW, SURPLUS) if own in rows.frame.columns]
    for role, name in used.items():
        column = rows.frame[name]
        if role in ("user", "location"):
            column = as_labels(column, rows.name)
        elif role == "time":
            column = trimmed(column) if column.dtype == pl.String else column
        else:
            column = as_numbers(column, rows.name)
        columns.append(column.alias(role))
    return pl.DataFrame(columns)


def as_bounds(bounds: Bounds | tuple[float, float, float, float] | None) -> Bounds | None:
    """Return a box that was given as `Bounds` or as its four numbers."""
    if bounds is None or isinstance(bounds, Bounds):
        return bounds
    require(len(bounds) == 4, "bounds need four numbers: south, west, north, east")
    return Bounds(*bounds)


def check_where(
    rows: Rows, found: dict[str, str], places: Any, grid: Any, h3: int | None
) -> CellChoice:
    """Return the choice of cells.

    Raise unless the columns suffice for them, or else for places.
    """
    if places is not None and (grid is not None or h3 is not None):
        raise SettingsError("places and grid exclude each other: give one of them")
    if places is not None:
        require_role(rows, found, "location")
        return CellChoice()
    cells = CellChoice(grid, h3)
    if not cells and "location" not in found:
        remedy = "name it (columns={'location': …}), or give a grid (grid=…)"
        require_role(rows, found, "location", remedy)
    if not cells and "lat" not in found and "lng" not in found:
        remedy = "give a table of places (places=…), or name it (columns={'lat': …})"
        require_role(rows, found, "lat", remedy)
    require_role(rows, found, "lat")
    require_role(rows, found, "lng")
    return cells


def add_times(
    frame: pl.DataFrame,
    found: dict[str, str],
    tally: Tally,
    timezone: str | None,
    time_format: str | None,
    naive_is_utc: bool | None,
) -> pl.DataFrame:
    """Add `read`, `local` and `moment`; null where the time or the row's offset cannot be read."""
    written, offset = parse_times(frame["time"], time_format)
    usual = pl.col("time").dt.year().is_between(FIRST_YEAR, LAST_YEAR)
    written = written.to_frame("time").select(pl.when(usual).then(pl.col("time"))).to_series()
    local_offset = None
    if "offset" in found:
        number = finite_number("offset")
        usable = number.abs() <= MAX_OFFSET_MINUTES
        local_offset = frame.select(pl.when(usable).then(number).cast(pl.Int64)).to_series()
        frame = frame.with_columns(minutes=local_offset)
    if naive_is_utc is None:
        naive_is_utc = found["time"].lower().startswith("utc_")
    times = to_local(
        written,
        offset,
        timezone=timezone,
        local_offset=local_offset,
        naive_is_utc=naive_is_utc,
    )
    tally.warnings.extend(times.warnings)
    return frame.with_columns(read=written, local=times.local, moment=times.moment)


def row_faults(
    used: list[str],
    found: dict[str, str],
    given: Places | None,
    box: Bounds | None,
    time_format: str | None,
) -> list[Fault]:
    """Return the faults of rows, in the order in which they are looked for."""
    faults = [missing(role, found[role]) for role in used]
    faults += [too_long(role, found[role]) for role in used if role in ("user", "location")]
    name = found["time"]
    if time_format is None:
        wanted = "like 2020-01-31T09:20:00+09:00 or unix seconds"
        remedy = "correct it or give time_format=…"
    else:
        wanted, remedy = f"of the form time_format={time_format!r}", "correct one of them"
    years = f"from {FIRST_YEAR} to {LAST_YEAR}"
    faults.append(
        Fault(
            pl.col("read").is_null(),
            "time",
            name,
            f"is not a time {wanted}, {years}: {remedy}",
            f"{name} is not a time",
        )
    )
    if "offset" in used:
        name = found["offset"]
        reason = f"is not an offset within ±{MAX_OFFSET_MINUTES} minutes"
        where = pl.col("minutes").is_null()
        faults.append(Fault(where, "offset", name, f"{reason}: correct it", f"{name} {reason}"))
    if "lat" in used:
        faults += coordinate_faults("lat", "lng", found, box)
    if given is not None:
        known = pl.Series(given.labels.astype(str)).implode()
        unknown = ~pl.col("location").cast(pl.String).is_in(known)
        name, reason = found["location"], "is not in the table of places"
        faults.append(Fault(unknown, "location", name, f"{reason}: add it", f"{name} {reason}"))
    return faults


def order_events(frame: pl.DataFrame, used: list[str], tally: Tally) -> pl.DataFrame:
    """Drop exact duplicates and order the rows by user, exact time and place."""
    where = [role for role in ("location", "lat", "lng") if role in used]
    frame = frame.with_columns(finite_number(r).alias(r) for r in where if r != "location")
    event = ["user", "moment", *where, "local"]
    frame = frame.sort(*event, ROW)
    again = pl.all_horizontal(pl.col(column) == pl.col(column).shift() for column in event)
    frame = tally.drop(frame, again.fill_null(False), DUPLICATE)
    stood = frame.select("user", "moment", ROW).sort("user", ROW)
    later = (pl.col("moment") < pl.col("moment").shift()) & (
        pl.col("user") == pl.col("user").shift()
    )
    tally.unsorted = int(stood.select(later.sum()).item())
    return frame


def locate(
    frame: pl.DataFrame,
    tally: Tally,
    given: Places | None,
    cells: CellChoice,
    box: Bounds | None,
) -> tuple[pl.DataFrame, Places]:
    """Add the column `place`, the number of each row's place; drop rows outside the box."""
    outside = "outside the bounds"
    nothing_left = f"every event lies {outside}: widen them (bounds=…)"
    if given is not None:
        where = given
        if box is not None:
            kept = np.flatnonzero(inside(box, given.lat, given.lng))
            if len(kept) == 0:
                raise InputError(f"{tally.source}: {nothing_left}")
            where, _ = keep_places(given, kept)
        frame = frame.with_columns(place=number_of_label(frame["location"], where))
        frame = tally.drop(frame, pl.col("place").is_null(), outside)
        refuse_empty(tally.source, frame, nothing_left)
        return frame, where
    lat, lng = frame["lat"].to_numpy(), frame["lng"].to_numpy()
    if box is not None:
        beyond = pl.lit(pl.Series(~inside(box, lat, lng)))
        frame = tally.drop(frame, beyond, outside)
        refuse_empty(tally.source, frame, nothing_left)
        lat, lng = frame["lat"].to_numpy(), frame["lng"].to_numpy()
    if not cells:
        where = places_of_rows(frame, tally, box)
        return frame.with_columns(place=number_of_label(frame["location"], where)), where
    if box is None:
        box = public_box(frame["user"], frame["lat"], frame["lng"])
        frame = _leave_out_strays(frame, box, tally)
        lat, lng = frame["lat"].to_numpy(), frame["lng"].to_numpy()
    chosen = cells.over(box)
    number, where = chosen.number(chosen.keys(lat, lng))
    return frame.with_columns(place=pl.Series(number)), where


def _leave_out_strays(frame: pl.DataFrame, box: Bounds, tally: Tally) -> pl.DataFrame:
    """Drop the few rows that lie outside the box that the data themselves gave, and say so."""
    stray = ~inside(box, frame["lat"].to_numpy(), frame["lng"].to_numpy())
    if not stray.any():
        return frame
    corners = ",".join(f"{edge:g}" for edge in (box.south, box.west, box.north, box.east))
    reason = f"far from almost all users, outside the box {corners}"
    kept = tally.drop(frame, pl.lit(pl.Series(stray)), reason)
    found = next(finding for finding in tally.dropped if finding.reason == reason)
    tally.warnings.append(f"left out {found}: give the box (bounds=…) to keep them")
    return kept


def place_on_clock(frame: pl.DataFrame, clock: Clock, tally: Tally) -> pl.DataFrame:
    """Add the column `instant`; drop the rows that the clock does not cover."""
    instant = instants(frame["local"], clock)
    first, last = str(frame["local"].min()), str(frame["local"].max())
    frame = frame.with_columns(instant=pl.Series(instant))
    uncovered = pl.lit(pl.Series(~clock.covers(instant)))
    frame = tally.drop(frame, uncovered, "outside the clock")
    refuse_empty(
        tally.source,
        frame,
        f"every event (local times {first} to {last}) lies outside the clock: widen the hours "
        "(first_hour=…, last_hour=…) or check the time zone (timezone=…)",
    )
    return frame


def merge_instants(frame: pl.DataFrame, clock: Clock, rule: str, tally: Tally) -> pl.DataFrame:
    """Keep one event per user and instant, and count the others as dropped."""
    ends = clock.local_time(frame["instant"].to_numpy() + 1).astype("datetime64[us]")
    kept = one_per_instant(frame.with_columns(left=pl.Series(ends) - frame["local"]), rule)
    merged = frame.join(kept.select(ROW), on=ROW, how="anti")[ROW]
    if len(merged):
        reason = f"merged into one event per instant ({rule})"
        tally.note(reason, len(merged), merged.sort().head(ROWS_SHOWN).to_list())
    return kept


def refuse_empty(name: str, frame: pl.DataFrame, message: str) -> None:
    if len(frame) == 0:
        raise InputError(f"{name}: {message}")
