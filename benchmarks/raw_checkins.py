"""Simulated check-ins of whole cities as the two raw files of the Foursquare layout.

Several cities share one pair of files, as in the published data: users, venues and boxes of
their own, each row with the offset of its city. Written in blocks, so any number fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

import doppeltrace as dt
from doppeltrace.cities.layout import BOUNDS as SEA
from doppeltrace.io.foursquare import CITIES

PAPER_USERS = {
    "Istanbul": 219_793,
    "Jakarta": 83_325,
    "New York City": 52_432,
    "Kuala Lumpur": 51_189,
    "San Paulo": 42_100,
    "Tokyo": 32_056,
}
"""Users of each city in the paper, after its own choice of users and places."""

OFFSET_MINUTES = {
    "Istanbul": 180,
    "Jakarta": 420,
    "New York City": -240,
    "Kuala Lumpur": 480,
    "San Paulo": -180,
    "Tokyo": 540,
}
SPAN_DEGREES = 0.09
"""Side of the simulated city: ten kilometres, in the middle of the real one's box."""

ROWS_AT_ONCE = 2_000_000


def write_foursquare(
    folder: Path, users: Mapping[str, int], *, places: int = 1000, seed: int = 0
) -> int:
    """Write the files of these cities (name → users) and return the number of check-ins."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = 0
    with (
        (folder / "raw_Checkins_anonymized.txt").open("wb") as checkins,
        (folder / "raw_POIs.txt").open("wb") as pois,
    ):
        for number, (name, many) in enumerate(users.items()):
            city = dt.simulate_city(many, places, style="checkins", seed=seed + number).traces
            prefix = f"{number:x}b0e{seed % 4096:03x}"
            _write(_pois(city, name, prefix), pois)
            for first in range(0, city.n_events, ROWS_AT_ONCE):
                block = slice(first, first + ROWS_AT_ONCE)
                _write(_checkins(city, block, number, name, prefix), checkins)
            rows += city.n_events
    return rows


def _pois(city: dt.Traces, name: str, prefix: str) -> pl.DataFrame:
    box, here = CITIES[name], city.places
    south = (box.south + box.north - SPAN_DEGREES) / 2
    west = (box.west + box.east - SPAN_DEGREES) / 2
    return pl.DataFrame(
        {
            "venue": _venues(np.arange(len(here)), prefix),
            "lat": south + (here.lat - SEA.south) / (SEA.north - SEA.south) * SPAN_DEGREES,
            "lng": west + (here.lng - SEA.west) / (SEA.east - SEA.west) * SPAN_DEGREES,
            "category": here.category,
            "country": ["XX"] * len(here),
        }
    )


def _checkins(city: dt.Traces, block: slice, number: int, name: str, prefix: str) -> pl.DataFrame:
    """Return rows in order of user; minutes and seconds are spread over the hour."""
    offset = OFFSET_MINUTES[name]
    instant = city.instant[block]
    scatter = (np.arange(len(instant), dtype=np.int64) * 2_654_435_761) % 3600
    stamp = city.clock.local_time(instant) + (scatter - offset * 60).astype("timedelta64[s]")
    return pl.DataFrame(
        {
            "user": city.user[block] + number * 10_000_000,
            "venue": _venues(city.location[block], prefix),
            "time": pl.Series(stamp.astype("datetime64[ms]")).dt.strftime(
                "%a %b %d %H:%M:%S +0000 %Y"
            ),
            "offset": np.full(len(instant), offset, dtype=np.int16),
        }
    )


def _venues(index: np.ndarray, prefix: str) -> pl.Series:
    return pl.Series(index).cast(pl.String).str.zfill(17).str.replace("^", prefix)


def _write(frame: pl.DataFrame, file) -> None:
    frame.write_csv(file, separator="\t", include_header=False)
