"""Gowalla and Brightkite check-ins (SNAP): one TSV file without header.

user, 2010-10-19T23:55:27Z, lat, lng, place
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Unpack

from doppeltrace.discretize.where import check_rank
from doppeltrace.errors import InputError
from doppeltrace.io._blocks import Layout
from doppeltrace.io._checkins import collect, count_places, iso_times, located_rows
from doppeltrace.io._events import as_bounds
from doppeltrace.io._place_counts import choose_places
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.finish import Finishing, FinishingOptions
from doppeltrace.io.sniff import first_lines
from doppeltrace.io.validation import Tally
from doppeltrace.traces import Bounds

LAYOUT = Layout(("user", "time", "lat", "lng", "location"))
ROW_LOOKS = re.compile(r"^\d+\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t-?[\d.]+\t-?[\d.]+\t\S+$")


def is_gowalla(path: Path) -> bool:
    """Tell whether this is a file of this format."""
    return path.is_file() and any(ROW_LOOKS.match(line) for line in first_lines(path)[:20])


def read_gowalla(
    path: str | Path,
    *,
    bounds: Bounds | tuple[float, float, float, float] | None = None,
    top_places: int | None = None,
    rank_by: str = "users",
    timezone: str | None = None,
    **finishing: Unpack[FinishingOptions],
) -> Dataset:
    """Read check-ins of Gowalla or Brightkite, in two passes over the file.

    Rows with empty fields and rows at 0° N 0° E are dropped and counted.

    Parameters
    ----------
    path : Gowalla_totalCheckins.txt or Brightkite_totalCheckins.txt, plain or gz.
    bounds : box (south, west, north, east) in degrees; by default the box around the data.
    top_places : keep only this many places, those with the most users.
    rank_by : `users`, or `events` to keep the places with the most rows, as the paper does.
    timezone : IANA name of the local time zone; without it the times stay UTC.
    finishing : instants, slots, hours and split; see `Finishing`.
    """
    path = Path(path)
    rest, times, box = Finishing(**finishing), iso_times(timezone), as_bounds(bounds)
    check_rank(rank_by)
    if not path.is_file():
        raise InputError(f"{path} is not a file: give Gowalla_totalCheckins.txt or the like")
    tally = Tally(str(path))
    if timezone is None:
        tally.warnings.append(
            "times are in UTC and are taken as local time: give timezone=… and the "
            "box of one region (bounds=…)"
        )
    keep = located_rows(LAYOUT, box, drop_origin=True)
    by_users = top_places is not None and rank_by == "users"
    counts = count_places(path, LAYOUT, keep, tally, users=by_users)
    places, names = choose_places(counts, top_places, box, tally)
    return rest.dataset(collect(path, LAYOUT, names, tally, times, keep), places, tally)
