"""Columns: which column of a table plays which role, and labels as users wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.errors import InputError, SettingsError
from doppeltrace.io._frames import Rows, shortened

ALIASES: dict[str, tuple[str, ...]] = {
    "user": ("uid", "user", "user_id", "userid", "user_index"),
    "time": (
        "datetime",
        "time",
        "timestamp",
        "tracked_at",
        "utc_datetime",
        "utc_time",
        "utctimestamp",
        "local_datetime",
        "local_time",
        "unixtime",
    ),
    "lat": ("lat", "latitude", "y"),
    "lng": ("lng", "lon", "long", "longitude", "x"),
    "location": (
        "location",
        "location_id",
        "place",
        "place_id",
        "venue",
        "venue_id",
        "venueid",
        "poi_index",
        "poi_id",
        "label",
    ),
    "offset": (
        "tz_offset_minutes",
        "timezone_offset",
        "timezoneoffset",
        "tz_offset",
        "utc_offset_minutes",
    ),
    "category": ("category",),
    "part": ("part", "split", "set"),
}
"""The names, in lower case, under which each role's column is looked for, in this order."""


TEXTS = (pl.String, pl.Categorical, pl.Enum)
MAX_LABEL_LENGTH = 200
"""Characters. In an array of labels each takes the room of the longest."""


def find_columns(
    rows: Rows, roles: tuple[str, ...], given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the column of each role that the source has a column for.

    Parameters
    ----------
    roles : keys of `ALIASES`.
    given : role → column, where the usual names do not do; it must be right.
    """
    given = dict(given or {})
    for role, column in given.items():
        if role not in roles:
            raise SettingsError(f"columns: {role!r} is none of the roles {', '.join(roles)}")
        if column not in rows.columns:
            raise InputError(
                f"{rows.name}: no column {column!r} for {role}; "
                f"the columns are {rows.listed_columns}"
            )
    known = {column.strip().lower(): column for column in reversed(rows.columns)}
    found = dict(given)
    for role in roles:
        if role not in found:
            names = [known[alias] for alias in ALIASES[role] if alias in known]
            if names:
                found[role] = names[0]
    for role, column in found.items():
        if f"{column}_duplicated_0" in rows.columns:  # so Polars calls the second one
            raise InputError(
                f"{rows.name}, row 1: two columns are called {column!r}, which is to be the "
                f"{role}: rename one of them"
            )
    return found


def require_role(rows: Rows, found: Mapping[str, str], role: str, remedy: str = "") -> str:
    """Return the role's column, or raise `InputError` naming the columns and the remedy."""
    if role not in found:
        remedy = remedy or f"say which it is (columns={{{role!r}: …}})"
        raise InputError(
            f"{rows.name}: no {role} column (such as {', '.join(ALIASES[role][:3])}); "
            f"the columns are {rows.listed_columns}: {remedy}"
        )
    return found[role]


def as_labels(column: pl.Series, source: str) -> pl.Series:
    """Return labels as Int64 if all are integers, else as text; empty ones and NaN null.

    `InputError` names the source of a column that holds no labels, such as lists.
    """
    if not (column.dtype.is_numeric() or column.dtype in (*TEXTS, pl.Boolean, pl.Null)):
        raise _wrong_type(column, source, "labels: give text or integers")
    if column.dtype.is_float():  # of integers with gaps, as pandas keeps them, or no labels
        column = column.fill_nan(None)
        number = column.cast(pl.Int64, strict=False)
        if (number.cast(pl.Float64).eq_missing(column.cast(pl.Float64))).all():
            return number
    if column.dtype.is_integer():
        number = column.cast(pl.Int64, strict=False)
        if number.null_count() == column.null_count():
            return number
    text = trimmed(column.cast(pl.String))
    number = text.cast(pl.Int64, strict=False)
    same = number.cast(pl.String).eq_missing(text)  # "007" and "+7" are not numbers but names
    return number if same.all() else text


def as_numbers(column: pl.Series, source: str) -> pl.Series:
    """Return a column of numbers, or of text that may hold them, trimmed.

    `InputError` names the source of a column of another type.
    """
    if column.dtype in TEXTS:
        return trimmed(column.cast(pl.String))
    if not (column.dtype.is_numeric() or column.dtype == pl.Null):
        raise _wrong_type(column, source, "numbers: convert it")
    return column


def _wrong_type(column: pl.Series, source: str, wanted: str) -> InputError:
    kind = shortened(str(column.dtype))
    return InputError(f"{source}: the column {shortened(column.name)} is {kind}, not {wanted}")


def label_array(labels: pl.Series) -> NDArray[Any]:
    """Return labels as an array of int64 or of str."""
    array = labels.to_numpy()
    return array if labels.dtype.is_integer() else array.astype(str)


def categories(column: pl.Series, source: str) -> NDArray[np.str_]:
    """Return the categories of places as an array of str, cut where they are very long."""
    text = as_labels(column, source).cast(pl.String).fill_null("")
    return text.str.slice(0, MAX_LABEL_LENGTH).to_numpy().astype(str)


def trimmed(text: pl.Series) -> pl.Series:
    """Return the text without the blanks around it, null if nothing is left."""
    column = pl.col(text.name).str.strip_chars()
    return text.to_frame().select(pl.when(column != "").then(column)).to_series()


def finite_number(column: str) -> pl.Expr:
    """Return the column as Float64, null where it is not a finite number."""
    number = pl.col(column).cast(pl.Float64, strict=False)
    return pl.when(number.is_finite()).then(number)
