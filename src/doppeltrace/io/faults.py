"""Faults: what can be wrong with a row, and the line that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io._frames import SURPLUS, TOO_MANY, describe
from doppeltrace.io.columns import MAX_LABEL_LENGTH, finite_number
from doppeltrace.traces import Bounds

INHABITED_SOUTH = -60.0
"""South of this a latitude is more likely a longitude in the wrong column."""


@dataclass(frozen=True)
class Fault:
    """Something that can be wrong with a row.

    Attributes
    ----------
    where : true on the faulty rows.
    column : the column at fault.
    called : its name in the source.
    message : completes `<file>, row <n>: <called> <value> …`.
    reason : names the fault in the list of dropped rows.
    """

    where: pl.Expr
    column: str
    called: str
    message: str
    reason: str


def refuse(name: str, frame: pl.DataFrame, fault: Fault, hint: str = "") -> None:
    """Raise `InputError` on the first row of the source `name` that has the fault."""
    faulty = frame.filter(fault.where)
    if len(faulty):
        line = describe(name, faulty, fault.column, fault.message, fault.called)
        raise InputError(line + hint)


def missing(column: str, called: str) -> Fault:
    """Return the fault of a row without a value in this column."""
    return Fault(
        pl.col(column).is_null(), column, called, "in this row: fill it in", f"no {called}"
    )


def too_long(column: str, called: str) -> Fault:
    """Return the fault of a label that would make every label take a large room in memory."""
    fault = f"is longer than {MAX_LABEL_LENGTH} characters"
    long = pl.col(column).cast(pl.String).str.len_chars() > MAX_LABEL_LENGTH
    where = long.fill_null(False)
    return Fault(where, column, called, f"{fault}: shorten it", f"{called} {fault}")


SURPLUS_FAULT = Fault(
    pl.col(SURPLUS).is_not_null(),
    SURPLUS,
    "surplus field",
    TOO_MANY,
    "more fields than the header names",
)


def coordinate_faults(
    lat: str, lng: str, called: Mapping[str, str], bounds: Bounds | None = None
) -> list[Fault]:
    """Return what can be wrong with the coordinates in the columns `lat` and `lng`.

    A point looks swapped if exchanging its coordinates brings it into `bounds` or, without
    bounds, from beyond a pole or from Antarctica to a possible place.
    """
    y, x = finite_number(lat), finite_number(lng)
    if bounds is None:
        swapped = ((y.abs() > 90) & (y.abs() <= 180) | (y < INHABITED_SOUTH)) & (x.abs() <= 90)
    else:
        swapped = ~_in_box(y, x, bounds) & _in_box(x, y, bounds)
    both = f"and {called['lng']} look swapped"
    exchange = Fault(
        swapped.fill_null(False),
        lat,
        called["lat"],
        f"{both}: exchange the two "
        f"(columns={{'lat': {called['lng']!r}, 'lng': {called['lat']!r}}})",
        f"{called['lat']} {both}",
    )
    return [
        _not_finite(lat, called["lat"]),
        _not_finite(lng, called["lng"]),
        exchange,
        _out_of_range(lat, called["lat"], 90),
        _out_of_range(lng, called["lng"], 180),
    ]


def _in_box(lat: pl.Expr, lng: pl.Expr, box: Bounds) -> pl.Expr:
    return lat.is_between(box.south, box.north) & lng.is_between(box.west, box.east)


def _not_finite(column: str, called: str) -> Fault:
    fault = "is not a finite number of degrees"
    where = pl.col(column).is_not_null() & finite_number(column).is_null()
    return Fault(where, column, called, f"{fault}: correct it", f"{called} {fault}")


def _out_of_range(column: str, called: str, limit: int) -> Fault:
    fault = f"is outside ±{limit} degrees"
    where = (finite_number(column).abs() > limit).fill_null(False)
    return Fault(where, column, called, f"{fault}: correct it", f"{called} {fault}")
