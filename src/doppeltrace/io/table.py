"""Any table of events: CSV or TSV (plain or gz), Parquet, Polars or pandas frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from doppeltrace.discretize.per_instant import check_rule
from doppeltrace.discretize.where import check_rank, keep_places, most_visited
from doppeltrace.errors import InputError, SettingsError
from doppeltrace.io._events import (
    ROLES,
    add_times,
    as_bounds,
    check_where,
    locate,
    merge_instants,
    order_events,
    place_on_clock,
    refuse_empty,
    row_faults,
    select_roles,
)
from doppeltrace.io._frames import SURPLUS, load
from doppeltrace.io.columns import find_columns, require_role
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.faults import SURPLUS_FAULT, refuse
from doppeltrace.io.finish import Finishing, dataset_of
from doppeltrace.io.places import read_places
from doppeltrace.io.validation import BOX_OF_ROWS, MOST_VISITED, PLACES_OF_ROWS, Tally
from doppeltrace.traces import Bounds, Clock


def read_table(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    places: Any = None,
    grid: tuple[int, int] | float | None = None,
    h3: int | None = None,
    bounds: Bounds | tuple[float, float, float, float] | None = None,
    top_places: int | None = None,
    rank_by: str = "users",
    per_instant: str | None = None,
    timezone: str | None = None,
    time_format: str | None = None,
    naive_is_utc: bool | None = None,
    clock: Clock | None = None,
    instant_minutes: int = 60,
    instants_per_slot: int = 1,
    first_hour: float = 0.0,
    last_hour: float = 24.0,
    daily: bool = True,
    split: Any = None,
    split_seed: int | None = None,
    drop_invalid: bool = False,
) -> Dataset:
    """Read a table with one event per row: who, when, where.

    Rows may stand in any order. Exact duplicates are dropped and counted. Several traces of
    one user, however the table tells them apart, are laid on one time axis, with missing
    events between them. Events of a user in one instant are ordered by their exact time.

    Parameters
    ----------
    source : path of a CSV or TSV (plain or gz) or Parquet file, or a Polars or pandas frame.
    columns : role → column where it has none of the usual names; roles: user, time, lat, lng,
        location, offset (minutes east of UTC).
    places : table (path or frame) of label, lat, lng, or `Places`: the events' location
        column holds the labels. Places keep this order.
    grid : (rows, columns) of cells over `bounds`, or a cell's side in metres, instead of
        places. Without `places`, `grid` and `h3` the rows themselves name and locate the
        places, numbered in label order.
    h3 : resolution (0 … 15) of H3 hexagons as places; those with events, in label order.
    bounds : box (south, west, north, east) in degrees; what lies outside is dropped and
        counted. A grid without bounds covers nearly all users: see `public_box`.
    top_places : keep only this many places, those with the most users; among equals, the
        first by label. The places keep their order.
    rank_by : `users`, or `events` to keep the places with the most rows, as the paper does; one
        person alone can then bring a place among them.
    per_instant : keep one event per user and instant, for positions recorded all the time:
        `majority`, the place with the most points in it, or `stay`, the one with the most time
        (see `one_per_instant`). By default every row is an event.
    timezone : IANA name of the local time zone. Without it and without an offset column,
        times are local as they are written.
    time_format : strptime format of times that are neither ISO 8601 nor unix seconds.
    naive_is_utc : whether times without an offset are UTC; by default if there is an offset
        column or the time column is called utc_…, otherwise they are local.
    clock : instants and slots; or else they are made from the next five: see `regular_clock`.
    instant_minutes, instants_per_slot : lengths of an instant and a slot.
    first_hour, last_hour : hours of the day that count; the rest is dropped and counted.
    daily : whether slots repeat every day; otherwise each day has its own.
    split : testing users: a fraction, or a table of user and part (see `split_users`).
    split_seed : seed of that fraction's draw, a secret; by default fresh.
    drop_invalid : drop and count rows with missing or impossible values, instead of raising
        `InputError` on the first.
    """
    bounds = as_bounds(bounds)
    check_rule(per_instant)
    check_rank(rank_by)
    finishing = Finishing(
        clock, instant_minutes, instants_per_slot, first_hour, last_hour, daily, split, split_seed
    )
    rows = load(source, keep_surplus=True)
    found = find_columns(rows, ROLES, columns)
    require_role(rows, found, "user")
    require_role(rows, found, "time")
    if "offset" in found and timezone is not None:
        if columns and "offset" in columns:
            raise SettingsError("timezone and an offset column exclude each other: give one")
        del found["offset"]
    cells = check_where(rows, found, places, grid, h3)
    if len(rows.frame) == 0:
        raise InputError(f"{rows.name}: there are no rows below the header")
    given = None if places is None else read_places(places, bounds=bounds)
    used = [r for r in ROLES if r in found and not (r in ("lat", "lng") and given is not None)]
    if cells and "location" in used:
        used.remove("location")
    frame = select_roles(rows, {role: found[role] for role in used})
    tally = Tally(rows.name, rows_read=len(frame))
    frame = add_times(frame, found, tally, timezone, time_format, naive_is_utc)
    faults = row_faults(used, found, given, bounds, time_format)
    if SURPLUS in frame.columns:
        faults.insert(0, SURPLUS_FAULT)
    for fault in faults:
        if drop_invalid:
            frame = tally.drop(frame, fault.where, fault.reason)
        else:
            hint = "; or leave such rows out with drop_invalid=True"
            refuse(rows.name, frame, fault, hint)
    refuse_empty(rows.name, frame, "no row is valid: see the columns chosen (columns=…)")
    frame = order_events(frame, used, tally)
    frame, where = locate(frame, tally, given, cells, bounds)
    if h3 is not None or (given is None and not cells):
        tally.derived.append(PLACES_OF_ROWS)
    elif given is None and bounds is None:
        tally.derived.append(BOX_OF_ROWS)
    if top_places is not None:
        tally.derived.append(MOST_VISITED)
    clock = finishing.make_clock(frame["user"], frame["local"])
    finishing.note_derived(tally)
    frame = place_on_clock(frame, clock, tally)
    if per_instant is not None:
        frame = merge_instants(frame, clock, per_instant, tally)
    if top_places is not None:
        user = frame["user"].rle_id().to_numpy()  # rows are ordered by user
        kept = most_visited(frame["place"].to_numpy(), user, where.labels, top_places, rank_by)
        where, number = keep_places(where, kept)
        frame = frame.with_columns(place=pl.Series(number[frame["place"].to_numpy()]))
        reason = f"not at one of the {len(where):,} most visited places"
        frame = tally.drop(frame, pl.col("place") < 0, reason)
    return dataset_of(frame, where, clock, tally, split, split_seed)
