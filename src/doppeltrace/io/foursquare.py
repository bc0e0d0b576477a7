"""Foursquare check-ins of the whole world (WWW2019, TIST2015): two TSV files without header.

…Checkins….txt[.gz]   user, venue, Tue Apr 03 18:00:06 +0000 2012, offset in minutes
…POIs….txt[.gz]       venue, lat, lng, category, country
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Unpack

import polars as pl

from doppeltrace.discretize.where import check_rank
from doppeltrace.errors import InputError, SettingsError
from doppeltrace.io._blocks import Layout, map_rows
from doppeltrace.io._checkins import (
    collect,
    count_known_places,
    stamp_times,
)
from doppeltrace.io._events import as_bounds
from doppeltrace.io._frames import ROW, SURPLUS
from doppeltrace.io._place_counts import choose_places
from doppeltrace.io.columns import finite_number
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.finish import Finishing, FinishingOptions
from doppeltrace.io.sniff import first_lines
from doppeltrace.io.validation import Tally, nothing_left
from doppeltrace.traces import Bounds

CHECKINS = Layout(("user", "location", "time", "offset"))
POIS = Layout(("location", "lat", "lng", "category", "country"))

CITIES = {
    "Istanbul": Bounds(40.8, 28.5, 41.2, 29.5),
    "Jakarta": Bounds(-6.4, 106.7, -6.1, 107.0),
    "New York City": Bounds(40.5, -74.28, 41.0, -73.68),
    "Kuala Lumpur": Bounds(3.0, 101.6, 3.3, 101.8),
    "San Paulo": Bounds(-24.0, -46.8, -23.4, -46.3),
    "Tokyo": Bounds(35.5, 139.5, 35.9, 140.0),
}
"""The paper's six cities, in its order and spelling, with the boxes of its authors' programs."""

SHORT_NAMES = {
    "ist": "Istanbul",
    "jk": "Jakarta",
    "nyc": "New York City",
    "newyork": "New York City",
    "kl": "Kuala Lumpur",
    "sp": "San Paulo",
    "saopaulo": "San Paulo",
    "sãopaulo": "San Paulo",
    "tky": "Tokyo",
}
STAMPED = re.compile(r"^\w{3} \w{3} \d{2} \d{2}:\d{2}:\d{2} [+-]\d{4} \d{4}$")


def is_foursquare(path: Path) -> bool:
    """Tell whether this is a file of check-ins or a folder that holds one beside its POIs."""
    if path.is_dir():
        return bool(_files(path, "checkins")) and bool(_files(path, "pois"))
    return _is_checkins(path)


def city_bounds(city: str) -> Bounds:
    """Return the box of one of `CITIES`, by its name or the paper's short name for it."""
    key = re.sub(r"[\s_-]+", "", city).lower()
    names = {re.sub(r"\s+", "", name).lower(): name for name in CITIES} | SHORT_NAMES
    if key not in names:
        raise SettingsError(
            f"city {city!r} is not one of {', '.join(CITIES)}: for others give the box (bounds=…)"
        )
    return CITIES[names[key]]


def read_foursquare(
    path: str | Path,
    *,
    places: str | Path | None = None,
    city: str | None = None,
    bounds: Bounds | tuple[float, float, float, float] | None = None,
    top_places: int | None = None,
    rank_by: str = "users",
    timezone: str | None = None,
    **finishing: Unpack[FinishingOptions],
) -> Dataset:
    """Read the Foursquare check-ins of a city, or of any box, in two passes over the file.

    Parameters
    ----------
    path : folder with both files, or the file of check-ins.
    places : the file of POIs; by default the one in the same folder.
    city : one of the paper's six cities (`CITIES`), instead of `bounds`.
    bounds : box (south, west, north, east) in degrees; by default the whole world.
    top_places : keep only this many places, those with the most users.
    rank_by : `users`, or `events` to keep the places with the most rows, as the paper does.
    timezone : IANA name of the local time zone, instead of the offset in each row.
    finishing : instants, slots, hours and split; see `Finishing`.
    """
    path = Path(path)
    rest = Finishing(**finishing)
    check_rank(rank_by)
    times = stamp_times(timezone)
    if city is not None and bounds is not None:
        raise SettingsError("city and bounds exclude each other: give one of them")
    box = as_bounds(bounds) if city is None else city_bounds(city)
    checkins = _only(path, "checkins") if path.is_dir() else path
    pois = Path(places) if places is not None else _only(checkins.parent, "pois")
    for file in (checkins, pois):
        if not file.is_file():
            raise InputError(f"{file} is not a file: give the folder with check-ins and POIs")
    tally = Tally(str(checkins))
    known = _read_pois(pois, box, tally)
    reason = f"venue not in {pois.name}" + (" inside the bounds" if box is not None else "")
    by_users = top_places is not None and rank_by == "users"
    counts = count_known_places(checkins, CHECKINS, known, tally, reason, users=by_users)
    del known
    kept, names = choose_places(counts, top_places, box, tally)
    del counts
    return rest.dataset(collect(checkins, CHECKINS, names, tally, times), kept, tally)


def _read_pois(path: Path, box: Bounds | None, tally: Tally) -> pl.DataFrame:
    """Return `location`, `lat`, `lng`, `category` of the venues in the box, each once."""
    account = Tally(str(path))

    def work(rows: pl.DataFrame) -> tuple[pl.DataFrame, Tally]:
        part = Tally(str(path), rows_read=len(rows))
        frame = rows.select(
            ROW, "location", finite_number("lat"), finite_number("lng"), "category", SURPLUS
        )
        y, x = pl.col("lat"), pl.col("lng")
        valid = (y.abs() <= 90) & (x.abs() <= 180) & pl.col("location").is_not_null()
        valid &= pl.col(SURPLUS).is_null()
        frame = part.drop(frame, ~valid.fill_null(False), "not venue, lat, lng, category, country")
        if box is not None:
            frame = frame.filter(
                y.is_between(box.south, box.north) & x.is_between(box.west, box.east)
            )
        return frame.select("location", "lat", "lng", "category"), part

    found = []
    for frame, part in map_rows(path, POIS, work):
        account.absorb(part)
        found.append(frame)
    if not found or account.rows_read == sum(f.count for f in account.dropped):
        raise nothing_left(account)
    tally.warnings += [f"{path.name}: left out {finding}" for finding in account.dropped]
    venues = pl.concat(found).unique("location", keep="first", maintain_order=True)
    if len(venues) == 0:
        raise InputError(f"{path}: no venue lies inside the bounds: widen them (bounds=…)")
    return venues


def _is_checkins(path: Path) -> bool:
    lines = [line.split("\t") for line in first_lines(path)[:20]]
    return any(len(f) == len(CHECKINS.names) and STAMPED.match(f[2].strip()) for f in lines)


def _files(folder: Path, word: str) -> list[Path]:
    """Return the text files of the folder with this word in their names, raw ones alone."""
    found = sorted(
        file
        for file in folder.iterdir()
        if word in file.name.lower() and file.name.lower().endswith((".txt", ".txt.gz", ".tsv"))
    )
    raw = [file for file in found if file.name.startswith("raw_")]
    return raw or found


def _only(folder: Path, word: str) -> Path:
    found = _files(folder, word)
    if len(found) != 1:
        fault = f"several files *{word}*" if found else f"no file *{word}*.txt or .txt.gz"
        remedy = "name the file of POIs with places=…" if word == "pois" else "name the file"
        raise InputError(f"{folder}: {fault} in this folder: {remedy}")
    return found[0]
