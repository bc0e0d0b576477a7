"""The New York check-ins (a subset of TSMC2014) in the protocol of the comparison figures.

A folder with checkins.csv(.gz): uid, venue, utc_datetime, tz_offset_minutes; venues.csv: venue,
lat, lng; split.csv: uid, part (train or test).
"""

from __future__ import annotations

from pathlib import Path

from doppeltrace.errors import InputError
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.table import read_table

BOUNDS = (40.5, -74.28, 41.0, -73.68)
"""South, west, north, east of the grid on which transitions are compared."""


def is_nyc_checkins(path: Path) -> bool:
    """Tell whether the folder holds the three files."""
    return _checkins(path) is not None and all(
        (path / name).is_file() for name in ("venues.csv", "split.csv")
    )


def read_nyc_checkins(folder: str | Path) -> Dataset:
    """Read the 1,000 venues with the most check-ins: hourly instants, two-hour slots, local."""
    folder = Path(folder)
    checkins = _checkins(folder)
    if checkins is None:
        raise InputError(f"{folder} holds no checkins.csv or checkins.csv.gz: check the path")
    return read_table(
        checkins,
        places=folder / "venues.csv",
        top_places=1000,
        rank_by="events",
        bounds=BOUNDS,
        instant_minutes=60,
        instants_per_slot=2,
        split=folder / "split.csv",
    )


def _checkins(folder: Path) -> Path | None:
    for name in ("checkins.csv", "checkins.csv.gz"):
        if (folder / name).is_file():
            return folder / name
    return None
