"""Places for a table's events: a given table of places, or those that the rows themselves name."""

from __future__ import annotations

from typing import Any

import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io._frames import load, shortened
from doppeltrace.io.columns import (
    as_labels,
    as_numbers,
    categories,
    find_columns,
    label_array,
    require_role,
)
from doppeltrace.io.faults import Fault, coordinate_faults, missing, refuse, too_long
from doppeltrace.io.validation import Tally
from doppeltrace.traces import Bounds, Places

DECIMALS = 3
"""Of the degrees at which a place stands that rows of users locate."""

MAX_APART = 0.1
"""Degrees between rows of one place, beyond which it is more likely two."""


def read_places(source: Any, *, bounds: Bounds | None = None) -> Places:
    """Read a table of places: label, lat, lng and perhaps category, under the usual names.

    Places keep the order of the table. Every row must be right: a fault raises `InputError`.

    Parameters
    ----------
    source : path or frame, as for `read_table`; or `Places`, returned as they are.
    bounds : box of the places, by default the one around them.
    """
    if isinstance(source, Places):
        return source
    rows = load(source)
    found = find_columns(rows, ("location", "lat", "lng", "category"))
    for role in ("location", "lat", "lng"):
        require_role(rows, found, role, "rename it in the table of places")
    if len(rows.frame) == 0:
        raise InputError(f"{rows.name}: there are no places below the header")
    label, lat, lng = found["location"], found["lat"], found["lng"]
    frame = rows.frame.with_columns(
        as_labels(rows.frame[label], rows.name).alias(label),
        *(as_numbers(rows.frame[column], rows.name) for column in (lat, lng)),
    )
    faults = [missing(column, column) for column in (label, lat, lng)]
    faults.append(too_long(label, label))
    faults += coordinate_faults(lat, lng, found)
    twice = ~pl.col(label).is_first_distinct()
    faults.append(Fault(twice, label, label, "is listed twice: list it once", ""))
    for fault in faults:
        refuse(rows.name, frame, fault)
    return Places(
        labels=label_array(frame[label]),
        lat=frame[lat].cast(pl.Float64).to_numpy(),
        lng=frame[lng].cast(pl.Float64).to_numpy(),
        bounds=bounds,  # type: ignore[arg-type]  # None: the box around the places
        category=categories(frame[found["category"]], rows.name) if "category" in found else None,
    )


def places_of_rows(events: pl.DataFrame, tally: Tally, bounds: Bounds | None = None) -> Places:
    """Return the places that rows with `user`, `location`, `lat`, `lng` name, in label order.

    A place stands at the median of its users' medians, rounded (`rounded_degrees`): neither
    the order of rows nor a user with many of them changes it, and no one's exact position is
    left. Labels whose rows lie far apart are warned of.
    """
    edges = events.group_by("location").agg(
        pl.col("lat", "lng").min().name.suffix("_low"),
        pl.col("lat", "lng").max().name.suffix("_high"),
    )
    warn_of_scattered(edges, tally)
    each = events.group_by("location", "user").agg(pl.col("lat", "lng").median())
    medians = each.group_by("location").agg(pl.col("lat", "lng").median()).sort("location")
    medians = medians.with_columns(rounded_degrees("lat"), rounded_degrees("lng"))
    return Places(
        labels=label_array(medians["location"]),
        lat=medians["lat"].to_numpy(),
        lng=medians["lng"].to_numpy(),
        bounds=bounds,  # type: ignore[arg-type]  # None: the box around the places
    )


def rounded_degrees(column: str) -> pl.Expr:
    """Return a column of degrees rounded to about 100 m."""
    return pl.col(column).round(DECIMALS)


def warn_of_scattered(edges: pl.DataFrame, tally: Tally) -> None:
    """Warn of labels whose rows lie far apart.

    edges : a row per label with `location`, `lat_low`, `lat_high`, `lng_low`, `lng_high`.
    """
    apart = pl.max_horizontal(
        pl.col("lat_high") - pl.col("lat_low"), pl.col("lng_high") - pl.col("lng_low")
    )
    found = edges.select("location", apart=apart).filter(pl.col("apart") > MAX_APART)
    if len(found) == 0:
        return
    worst = found.sort("apart", "location", descending=[True, False]).row(0, named=True)
    more = f" (and {len(found) - 1:,} more such labels)" if len(found) > 1 else ""
    tally.warnings.append(
        f"the place {shortened(str(worst['location']))!r} has rows {worst['apart']:.1f}° apart"
        f"{more}: is it one place? Give each its own label, or a grid (grid=…)"
    )


def number_of_label(label: pl.Series, places: Places) -> pl.Series:
    """Return each label's number among the places, null where it is not among them."""
    known = pl.Series(places.labels.astype(str))
    number = pl.int_range(len(places), eager=True)
    return label.cast(pl.String).replace_strict(known, number, default=None)
