"""Frames in memory: pandas, GeoPandas, and the schemas of scikit-mobility and trackintel.

Times stay local and without a zone, as in a release; only trackintel's schema wants a zone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from doppeltrace.errors import SettingsError
from doppeltrace.release.columns import COLUMNS
from doppeltrace.release.exports.source import released_rows
from doppeltrace.traces import SyntheticTraces, Traces

CRS = "EPSG:4326"

Source = Traces | SyntheticTraces | str | Path


def to_pandas(source: Source) -> Any:
    """Return a pandas frame with the columns of a release.

    Columns: `uid, tid` (numbers), `datetime` (local), `lat, lng` (degrees), `location` (label).

    Parameters
    ----------
    source : synthetic traces, ordered by content and numbered afresh as a release does, so that
        nothing tells their owners; a release (its folder, or its file of traces); or real
        `Traces`, whose `uid` are the users' own labels, and which must not leave your hands.
    """
    pandas = _library("pandas", "pandas")
    rows = _rows(source)
    # column by column: needs no pyarrow, and gives plain NumPy dtypes
    return pandas.DataFrame({name: rows[name].to_numpy() for name in rows.columns}, copy=False)


def to_geopandas(source: Source) -> Any:
    """Return `to_pandas(source)` as a GeoDataFrame of points in EPSG:4326."""
    geopandas = _library("geopandas", "geo")
    frame = to_pandas(source)
    points = geopandas.points_from_xy(frame["lng"], frame["lat"])
    return geopandas.GeoDataFrame(frame, geometry=points, crs=CRS)


def to_scikit_mobility(source: Source) -> Any:
    """Return a pandas frame that `skmob.TrajDataFrame(frame)` takes without further arguments.

    Its columns are scikit-mobility's own names: `uid, tid, datetime, lat, lng`.
    """
    return to_pandas(source)[["uid", "tid", "datetime", "lat", "lng"]]


def to_trackintel(source: Source, *, timezone: str | None = None) -> Any:
    """Return a GeoDataFrame of positionfixes as trackintel wants them.

    Columns: `user_id`, `tracked_at` (UTC), `tid`, `location` and `geometry`, points in EPSG:4326;
    the index is the unique number of the positionfix.

    Parameters
    ----------
    timezone : where the traces are, such as "Asia/Tokyo", to convert their local times to UTC; a
        time that the change to summer time leaves out moves to the next that exists, and one
        that occurs twice counts as the later. By default the local time is called UTC, so that
        hours of the day stay what they are.
    """
    frame = to_geopandas(source)
    zone = _zone(timezone)
    tracked_at = frame["datetime"].dt.tz_localize(
        zone, ambiguous=np.zeros(len(frame), dtype=bool), nonexistent="shift_forward"
    )
    frame["datetime"] = tracked_at.dt.tz_convert("UTC")
    frame = frame.rename(columns={"uid": "user_id", "datetime": "tracked_at"})
    frame.index.name = "id"
    return frame[["user_id", "tracked_at", "tid", "location", "geometry"]]


def _rows(source: Source) -> pl.DataFrame:
    if not isinstance(source, Traces):
        return released_rows(source).collect()
    places, place = source.places, source.location
    return pl.DataFrame(
        {
            "uid": pl.Series(source.users).gather(source.user),
            "tid": np.zeros(source.n_events, dtype=np.int64),
            "datetime": source.clock.local_time(source.instant).astype("datetime64[ms]"),
            "lat": places.lat[place],
            "lng": places.lng[place],
            "location": pl.Series(places.labels).gather(place),
        }
    ).select(COLUMNS)


def _zone(name: str | None) -> Any:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo("UTC" if name is None else name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise SettingsError(
            f"timezone {name!r} is not known: give a name such as Asia/Tokyo"
        ) from error


def _library(name: str, extra: str) -> Any:
    """Import a library that only an extra brings along."""
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise SettingsError(f"this needs {name}: pip install 'doppeltrace[{extra}]'") from error
