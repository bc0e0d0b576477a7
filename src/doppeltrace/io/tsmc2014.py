"""Foursquare check-ins in New York and Tokyo (TSMC2014): one TSV file, or CSV with a header.

user, venue, category id, category, lat, lng, offset in minutes, Tue Apr 03 18:00:06 +0000 2012
"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from doppeltrace.discretize.where import check_rank
from doppeltrace.errors import InputError
from doppeltrace.io._blocks import Layout
from doppeltrace.io._checkins import (
    collect,
    count_places,
    located_rows,
    stamp_times,
)
from doppeltrace.io._events import as_bounds
from doppeltrace.io._place_counts import choose_places
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.finish import Finishing, FinishingOptions
from doppeltrace.io.foursquare import STAMPED
from doppeltrace.io.sniff import first_lines
from doppeltrace.io.validation import Tally
from doppeltrace.traces import Bounds

HEADER = {
    "userid": "user",
    "venueid": "location",
    "venuecategoryid": "category_id",
    "venuecategory": "category",
    "latitude": "lat",
    "longitude": "lng",
    "timezoneoffset": "offset",
    "utctimestamp": "time",
}
"""The names in the CSV file's header, in lower case, and what they hold."""

TSV = Layout(tuple(HEADER.values()))


def is_tsmc2014(path: Path) -> bool:
    """Tell whether this is a file of this format."""
    return path.is_file() and _layout(path) is not None


def read_tsmc2014(
    path: str | Path,
    *,
    bounds: Bounds | tuple[float, float, float, float] | None = None,
    top_places: int | None = None,
    rank_by: str = "users",
    timezone: str | None = None,
    **finishing: Unpack[FinishingOptions],
) -> Dataset:
    """Read check-ins of TSMC2014, in two passes over the file.

    Parameters
    ----------
    path : dataset_TSMC2014_NYC.txt or …_TKY.txt, or the same as CSV; plain or gz.
    bounds : box (south, west, north, east) in degrees; by default the box around the data.
    top_places : keep only this many places, those with the most users.
    rank_by : `users`, or `events` to keep the places with the most rows, as the paper does.
    timezone : IANA name of the local time zone, instead of the offset in each row.
    finishing : instants, slots, hours and split; see `Finishing`.
    """
    path = Path(path)
    rest, times, box = Finishing(**finishing), stamp_times(timezone), as_bounds(bounds)
    check_rank(rank_by)
    if not path.is_file():
        raise InputError(f"{path} is not a file: give dataset_TSMC2014_NYC.txt or the like")
    layout = _layout(path) or TSV
    tally = Tally(str(path))
    keep = located_rows(layout, box, drop_origin=False)
    by_users = top_places is not None and rank_by == "users"
    counts = count_places(path, layout, keep, tally, users=by_users)
    places, names = choose_places(counts, top_places, box, tally)
    return rest.dataset(collect(path, layout, names, tally, times, keep), places, tally)


def _layout(path: Path) -> Layout | None:
    """Return how the file is written, None if it does not look like this format."""
    lines = first_lines(path)[:20]
    for separator in (",", "\t"):
        header = [name.strip(' "').lower() for name in lines[0].split(separator)] if lines else []
        if set(HEADER) <= set(header):
            names = tuple(HEADER.get(name, f"other_{i}") for i, name in enumerate(header))
            return Layout(names, separator, skip=1, quoted=True)
    fields = [line.split("\t") for line in lines]
    fit = any(len(f) == len(TSV.names) and STAMPED.match(f[-1].strip()) for f in fields)
    return TSV if fit else None
