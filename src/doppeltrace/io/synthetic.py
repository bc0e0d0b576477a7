"""Synthetic traces read back: the published tools' files, and our own releases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io._frames import Rows, load
from doppeltrace.io.people_flow import (
    is_people_flow,
    people_flow_clock,
    read_people_flow_places,
)
from doppeltrace.io.places import number_of_label
from doppeltrace.traces import Clock, Places, SyntheticTraces, Traces

PUBLISHED = ("user", "trace_no", "time_instant", "poi_index")
PUBLISHED_SLOT = ("time_slot", "time_period")
RELEASED = ("uid", "tid", "datetime", "location")
SAME_DEGREES = 1e-5  # about a metre, for files that were rounded


def read_synthetic(path: str | Path, *, like: Traces | None = None) -> SyntheticTraces:
    """Read synthetic traces, so that they can be scored.

    Two layouts are known by their columns:

    - the published tools' files: `user, trace_no, time_slot, time_instant, poi_index`, where
      `time_slot` may be called `time_period` and `time_instant` counts the instants inside
      the slot. The owner is `user`, the replicate `trace_no`.
    - a release of ours: `uid, tid, datetime, lat, lng, location`. It names no owner: the
      owner is −1 and the replicate 0 for every trace.

    Parameters
    ----------
    path : CSV (plain or gz) or Parquet file.
    like : traces whose places and clock the file uses. May be left out for a published file
        in a people-flow folder or in a folder directly inside one.
    """
    rows = load(path)
    slot_column = next((name for name in PUBLISHED_SLOT if name in rows.columns), None)
    published = slot_column is not None and set(PUBLISHED) <= set(rows.columns)
    if not published and not set(RELEASED) <= set(rows.columns):
        raise InputError(
            f"{rows.name}: not a file of synthetic traces, which has the columns "
            f"{', '.join(RELEASED)}, or {PUBLISHED_SLOT[0]}, {', '.join(PUBLISHED)}; "
            f"the columns are {', '.join(rows.columns)}"
        )
    if len(rows.frame) == 0:
        raise InputError(f"{rows.name}: there are no rows below the header")
    if like is not None:
        places, clock = like.places, like.clock
    elif published:
        places, clock = _from_enclosing_folder(Path(path))
    else:
        raise InputError(
            f"{rows.name}: a released file says nothing of the clock: pass like= the traces "
            "that it was made from"
        )
    if published:
        assert slot_column is not None
        return _published(rows, slot_column, places, clock)
    return _released(rows, places, clock)


def _from_enclosing_folder(path: Path) -> tuple[Places, Clock]:
    for folder in path.resolve().parents[:2]:
        if is_people_flow(folder):
            return read_people_flow_places(folder), people_flow_clock()
    raise InputError(
        f"{path}: not inside a people-flow folder, so its places and clock are unknown: "
        "pass like= the traces that it was made from"
    )


def _published(rows: Rows, slot_column: str, places: Places, clock: Clock) -> SyntheticTraces:
    slot_size = np.bincount(clock.slot_of)
    slot = rows.integers(slot_column)
    within = rows.integers("time_instant")
    size = pl.Series(slot_size).gather(slot.clip(0, clock.n_slots - 1))
    rows = Rows(
        rows.name,
        rows.frame.with_columns(
            _owner=rows.integers("user"),
            _trace=rows.integers("trace_no"),
            _slot=slot,
            _within=within,
            _size=size,
            _location=rows.integers("poi_index"),
        ),
    )
    rows.fail_where(
        ~pl.col("_slot").is_between(0, clock.n_slots - 1),
        slot_column,
        f"is not one of the clock's {clock.n_slots} slots: another clock made this file",
    )
    rows.fail_where(
        (pl.col("_within") < 0) | (pl.col("_within") >= pl.col("_size")),
        "time_instant",
        "is not an instant of its slot: another clock made this file",
    )
    rows.fail_where(
        ~pl.col("_location").is_between(0, len(places) - 1),
        "poi_index",
        f"is not one of the {len(places)} places",
    )
    # Position of the k-th instant of slot s: the positions ordered by slot, then by time.
    by_slot = np.argsort(clock.slot_of, kind="stable")
    first = np.concatenate([[0], np.cumsum(slot_size)[:-1]])
    step = by_slot[first[slot.to_numpy()] + within.to_numpy()]
    key = {"user": pl.col("_owner"), "trace_no": pl.col("_trace")}
    return _assemble(rows, key, step, clock.n_instants, places, clock)


def _released(rows: Rows, places: Places, clock: Clock) -> SyntheticTraces:
    frame = rows.frame
    time = frame["datetime"]
    if time.dtype == pl.String:
        time = time.str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False)
    seconds = (time - clock.start).dt.total_seconds()
    instant = seconds // clock.instant_seconds
    if clock.cycle is not None and instant.min() is not None:
        # A clock that repeats shows times of day: its first day is the file's first.
        instant = instant - instant.min() // clock.cycle * clock.cycle  # type: ignore[operator]
    location = number_of_label(frame["location"], places)
    position = instant if clock.cycle is None else instant % clock.cycle
    rows = Rows(
        rows.name,
        frame.with_columns(
            _location=location,
            _seconds=seconds,
            _position=position,
            _trace=pl.lit(0),
            _owner=pl.lit(-1),
        ),
    )
    rows.fail_where(
        pl.col("_seconds").is_null(), "datetime", "is not a local time like 2020-01-31T09:20:00"
    )
    rows.fail_where(
        (pl.col("_seconds") % clock.instant_seconds != 0)
        | ~pl.col("_position").is_between(0, clock.n_instants - 1),
        "datetime",
        "is not an instant of the clock of like=: another clock made this file",
    )
    rows.fail_where(
        pl.col("_location").is_null(),
        "location",
        "is not among the places of like=: pass the traces that the file was made from",
    )
    _check_where(rows, places)
    cycle = clock.n_instants if clock.cycle is None else clock.cycle
    step = (instant // cycle * clock.n_instants + position).to_numpy()
    key = {name: _number_or_text(frame[name]) for name in ("uid", "tid")}
    return _assemble(rows, key, step, int(step.max()) + 1, places, clock)


def _check_where(rows: Rows, places: Places) -> None:
    """Refuse a release whose places have the labels of `places`, but lie elsewhere."""
    for name, degrees in (("lat", places.lat), ("lng", places.lng)):
        if name in rows.columns:
            there = pl.Series(degrees).gather(rows.frame["_location"])
            frame = rows.frame.with_columns(_there=there)
            Rows(rows.name, frame).fail_where(
                ~(
                    (pl.col(name).cast(pl.Float64, strict=False) - pl.col("_there")).abs()
                    <= SAME_DEGREES
                ).fill_null(False),
                name,
                "is not where like= has this place: read the original traces with the same "
                "options as for the release (grid=…, bounds=…, places=…, top_places=…)",
            )


def _number_or_text(column: pl.Series) -> pl.Series:
    """Return the column as integers if it holds nothing else, so that 10 comes after 9."""
    number = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String) if number.null_count() else number


def _assemble(
    rows: Rows,
    key: dict[str, pl.Expr] | dict[str, pl.Series],
    step: np.ndarray,
    length: int,
    places: Places,
    clock: Clock,
) -> SyntheticTraces:
    """Put each row's location at its trace and step; traces in the order of their key."""
    frame = rows.frame.with_columns(_step=pl.Series(step), _number=pl.struct(**key).rank("dense"))
    Rows(rows.name, frame).fail_where(
        ~pl.struct("_number", "_step").is_first_distinct(),
        next(iter(key)),
        "has a second event at one instant of a trace: keep one of them",
    )
    number = frame["_number"].to_numpy().astype(np.int64) - 1
    n_traces = int(number.max()) + 1
    locations = np.full((n_traces, length), -1, dtype=np.int32)
    locations[number, step] = frame["_location"].to_numpy()
    owner, replicate = np.empty(n_traces, np.int64), np.empty(n_traces, np.int64)
    owner[number] = frame["_owner"].to_numpy()
    replicate[number] = frame["_trace"].to_numpy()
    return SyntheticTraces(locations, owner, replicate, places, clock)
