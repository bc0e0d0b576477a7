"""People-flow folders: the layout in which the paper's authors prepared their data set PF.

traintraces_<city>.csv[.gz]   user_index, poi_index, …, hour, min, …: one event per row
testtraces_<city>.csv[.gz]    the same for the testing users (may be absent)
POI_<city>.csv[.gz]           poi_id, y, x, category, …: centres of the regions
POIindex_<city>.csv[.gz]      poi_id, poi_index, …: which regions are used, and their number
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io._frames import ROW, Rows, load
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.validation import Tally, check_usable
from doppeltrace.traces import Bounds, Clock, Places, Traces

FIRST_HOUR, LAST_HOUR = 9, 19
DAY = dt.date(2013, 7, 1)
"""The day the clock shows: events of several days are laid over one, and only hours count."""

SUFFIXES = (".csv", ".csv.gz")


def is_people_flow(path: str | Path) -> bool:
    """Tell whether this is a people-flow folder."""
    folder = Path(path)
    return folder.is_dir() and bool(_cities(folder))


def people_flow_clock() -> Clock:
    """Return the clock of PF: 30 instants of 20 minutes from 9:00 to 19:00, each a slot."""
    return Clock.regular(
        instant_minutes=20,
        first_hour=FIRST_HOUR,
        last_hour=LAST_HOUR,
        start_day=DAY,
        daily=False,
    )


def read_people_flow(folder: str | Path, *, city: str | None = None) -> Dataset:
    """Read a people-flow folder.

    Locations are numbered by `poi_index`, users labelled by `user_index`. An event's instant
    is 3 · (hour − 9) + minute div 20, from the columns `hour` and `min` (local time).

    Parameters
    ----------
    folder : the folder, with files as the module's head lists them, plain or gz.
    city : the suffix of the file names; needed only if the folder holds several.

    Returns
    -------
    Dataset; `test` is None if there is no file of testing traces.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give the folder that holds traintraces_*.csv")
    city = _choose_city(folder, city)
    places = _read_places(folder, city)
    clock = people_flow_clock()
    tally = Tally(source=str(folder))
    train = _read_traces(_require_file(folder, "traintraces", city), places, clock, tally)
    check_usable(train, tally.source)
    test_file = _file(folder, "testtraces", city)
    test = None if test_file is None else _read_traces(test_file, places, clock, tally)
    return Dataset(train, test, tally.result([train] if test is None else [train, test]))


def read_people_flow_places(folder: str | Path, *, city: str | None = None) -> Places:
    """Read only the regions of a people-flow folder."""
    folder = Path(folder)
    return _read_places(folder, _choose_city(folder, city))


def _cities(folder: Path) -> list[str]:
    found = set()
    for path in folder.glob("traintraces_*"):
        for suffix in SUFFIXES:
            if path.name.endswith(suffix):
                found.add(path.name.removeprefix("traintraces_").removesuffix(suffix))
    return sorted(found)


def _choose_city(folder: Path, city: str | None) -> str:
    cities = _cities(folder)
    if not cities:
        raise InputError(f"{folder}: no traintraces_<city>.csv or .csv.gz in this folder")
    if city is None and len(cities) > 1:
        raise InputError(f"{folder} holds several cities: choose city= from {', '.join(cities)}")
    if city is not None and city not in cities:
        raise InputError(f"{folder}: no city {city!r}: choose from {', '.join(cities)}")
    return cities[0] if city is None else city


def _file(folder: Path, stem: str, city: str) -> Path | None:
    for suffix in SUFFIXES:
        path = folder / f"{stem}_{city}{suffix}"
        if path.is_file():
            return path
    return None


def _require_file(folder: Path, stem: str, city: str) -> Path:
    path = _file(folder, stem, city)
    if path is None:
        raise InputError(f"{folder}: {stem}_{city}.csv or .csv.gz is missing")
    return path


def _read_places(folder: Path, city: str) -> Places:
    """Return the regions that POIindex numbers, in that order, with POI's coordinates."""
    index = load(_require_file(folder, "POIindex", city))
    index.require_columns(["poi_id", "poi_index"])
    centres = load(_require_file(folder, "POI", city))
    centres.require_columns(["poi_id", "y", "x"])
    numbered = index.frame.select("poi_id", ROW, number=index.integers("poi_index"))
    located = centres.frame.select(
        "poi_id",
        lat=centres.floats("y"),
        lng=centres.floats("x"),
        category="category" if "category" in centres.columns else pl.lit("-"),
    ).unique("poi_id", keep="first", maintain_order=True)
    joined = numbered.join(located, on="poi_id", how="left").sort("number")
    Rows(index.name, joined).fail_where(
        pl.col("lat").is_null(), "poi_id", f"is not in {centres.name}: add it there"
    )
    number = joined["number"].to_numpy()
    if not np.array_equal(number, np.arange(len(number))):
        raise InputError(f"{index.name}: poi_index must number the regions 0, 1, 2 … without gap")
    category = joined["category"].to_numpy()
    return Places(
        labels=number,
        lat=joined["lat"].to_numpy(),
        lng=joined["lng"].to_numpy(),
        bounds=_grid_bounds(located["lat"].to_numpy(), located["lng"].to_numpy()),
        category=None if np.all(category == "-") else category,
    )


def _grid_bounds(lat: np.ndarray, lng: np.ndarray) -> Bounds:
    """Return the box of a regular grid of centres: half a cell beyond the outermost ones.

    The box around the centres if they have no two different latitudes or longitudes.
    """
    edges = []
    for centre in (lat, lng):
        lines = np.unique(centre.round(9))
        if len(lines) < 2:
            return Bounds.around(lat, lng)
        half = (lines[-1] - lines[0]) / (len(lines) - 1) / 2
        edges.append((round(lines[0] - half, 9), round(lines[-1] + half, 9)))
    (south, north), (west, east) = edges
    return Bounds(float(south), float(west), float(north), float(east))


def _read_traces(path: Path, places: Places, clock: Clock, tally: Tally) -> Traces:
    rows = load(path)
    rows.require_columns(["user_index", "poi_index", "hour", "min"])
    if len(rows.frame) == 0:
        raise InputError(f"{rows.name}: there are no rows below the header")
    minute_of_day = 60 * rows.integers("hour") + rows.integers("min")
    frame = rows.frame.select(
        ROW,
        "hour",
        "min",
        "poi_index",
        user=rows.integers("user_index"),
        location=rows.integers("poi_index"),
        instant=(minute_of_day - 60 * FIRST_HOUR) // 20,
        minute=rows.frame["min"].cast(pl.Int64),
    )
    rows = Rows(rows.name, frame)
    rows.fail_where(~pl.col("minute").is_between(0, 59), "min", "is not a minute of an hour")
    rows.fail_where(
        ~pl.col("instant").is_between(0, clock.n_instants - 1),
        "hour",
        f"is outside {FIRST_HOUR}:00–{LAST_HOUR}:00, the hours of this format",
    )
    rows.fail_where(
        ~pl.col("location").is_between(0, len(places) - 1),
        "poi_index",
        "is not in the POIindex file: add it there",
    )
    tally.rows_read += len(frame)
    event = pl.struct("user", "instant", "minute", "location")
    frame = tally.drop(frame, ~event.is_first_distinct(), f"exact duplicate in {path.name}")
    moment = 60 * pl.col("instant").cast(pl.Int64) + pl.col("minute")
    tally.unsorted += int(frame.select((moment.diff().over("user") < 0).sum()).item())
    frame = frame.sort("user", "instant", "minute", "location")
    tally.rows_kept += len(frame)
    return Traces.from_events(
        frame["user"].to_numpy(),
        frame["location"].to_numpy(),
        frame["instant"].to_numpy(),
        places=places,
        clock=clock,
    )
