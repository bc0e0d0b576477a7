"""Files for other programs, written from a release as a stream of blocks.

| format | suffix | what it is |
|---|---|---|
| csv, parquet | .csv, .parquet | the release itself |
| geojson | .geojson, .json | a FeatureCollection with one Point per event |
| geoparquet | .geoparquet | GeoParquet 1.1, one Point (WKB, OGC:CRS84) per event |
| kepler | (name it) | CSV whose times kepler.gl recognises as such |

An event is a point, not a piece of a line: between two events nothing is known, and a trace may
have one event only. Times are local, as in the release, and have no zone in any of these formats;
kepler.gl takes them for UTC and so shows the local time of day.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from doppeltrace.errors import SettingsError, require
from doppeltrace.files import atomic_file
from doppeltrace.release.columns import FORMATS as RELEASED
from doppeltrace.release.exports.source import TIME_FORMAT, explained, released_file, released_rows
from doppeltrace.release.folder import run_around
from doppeltrace.traces import SyntheticTraces

KEPLER_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"

SUFFIXES = MappingProxyType(
    {
        ".csv": "csv",
        ".parquet": "parquet",
        ".geojson": "geojson",
        ".json": "geojson",
        ".geoparquet": "geoparquet",
    }
)


ALSO = MappingProxyType({"kepler": "csv", "geoparquet": "parquet"})
"""Format → the one that it is a kind of, whose suffix it may have."""


def export(
    source: SyntheticTraces | str | Path, path: str | Path, format: str | None = None
) -> Path:
    """Write synthetic traces for another program, and return the file's path.

    The file holds what a release holds and no more. It appears complete or not at all.

    Parameters
    ----------
    source : a release (its folder, or the file of traces in it), or synthetic traces. The
        latter are written as they are, all of them: select those that passed the deniability
        test first, `synthetic.select(verdict.passed)`.
    path : the file to write; an earlier one is replaced.
    format : one of `FORMATS`; by default what the name ends in says.

    Raises
    ------
    InputError : the source is not a release.
    OutputError : the file cannot be written; an earlier one is then as it was.
    """
    target = Path(path)
    write = WRITERS[format_of(target, format)]
    rows = released_rows(source)
    if isinstance(source, SyntheticTraces):
        with atomic_file(target) as partial:
            write(rows, partial)
        return target
    origin = released_file(Path(source))
    check_apart(target, origin)
    with atomic_file(target) as partial, explained(origin):
        write(rows, partial)
    return target


def check_apart(target: Path, origin: Path) -> None:
    """Raise if an export would touch the run that it is made from, or be taken for it."""
    run = run_around(origin)
    require(
        run is None or not target.resolve().is_relative_to(run),
        f"{target} lies inside the run that is exported, {run}: write the export elsewhere",
    )
    beside = target.resolve().parent == origin.resolve().parent
    require(
        not beside or target.name not in (origin.name, *(f"traces.{kind}" for kind in RELEASED)),
        f"{target} could be taken for the release itself: give another name for the export",
    )


def format_of(path: Path, format: str | None) -> str:
    """Return the format that was named, or that the file's name ends in; refuse if they differ."""
    suffix = path.suffix.lower()
    known = SUFFIXES.get(suffix)
    if format is not None:
        require(format in WRITERS, f"format must be one of {', '.join(FORMATS)}")
        fitting = [s for s, name in SUFFIXES.items() if name in (format, ALSO.get(format))]
        require(
            known is None or suffix in fitting,
            f"{path.name}: the name ends in {suffix}, but the format is {format}: let it end in "
            f"{' or '.join(fitting)}",
        )
        return format
    if known is None:
        raise SettingsError(
            f"{path.name}: let the name end in {', '.join(SUFFIXES)}, or name the format, one of "
            f"{', '.join(FORMATS)}"
        )
    return known


def _write_csv(rows: pl.LazyFrame, path: Path) -> None:
    rows.sink_csv(path, datetime_format=TIME_FORMAT)


def _write_kepler(rows: pl.LazyFrame, path: Path) -> None:
    rows.sink_csv(path, datetime_format=KEPLER_TIME_FORMAT)


def _write_parquet(rows: pl.LazyFrame, path: Path) -> None:
    rows.sink_parquet(path)


def _write_geojson(rows: pl.LazyFrame, path: Path) -> None:
    """Write a feature per line: all that needs escaping is prepared once per place."""
    places = _places(rows)
    end = [
        f'"location":{json.dumps(label, ensure_ascii=False)}}},"geometry":{{"type":"Point",'
        f'"coordinates":[{lng!r},{lat!r}]}}}}'
        for label, lat, lng in places.iter_rows()
    ]
    features = (
        rows.join(_prepared(places, pl.Series(end, dtype=pl.String)), on="location", how="left",
                  nulls_equal=True, maintain_order="left")
        .with_row_index("number")
        .select(
            line=pl.concat_str(
                pl.when(pl.col("number") == 0).then(pl.lit("")).otherwise(pl.lit(",")),
                pl.lit('{"type":"Feature","properties":{"uid":'),
                "uid",
                pl.lit(',"tid":'),
                "tid",
                pl.lit(',"datetime":"'),
                pl.col("datetime").dt.to_string(TIME_FORMAT),
                pl.lit('",'),
                "prepared",
            )
        )
    )  # fmt: skip
    first = pl.LazyFrame({"line": ['{"type":"FeatureCollection","features":[']})
    last = pl.LazyFrame({"line": ["]}"]})
    pl.concat([first, features, last]).sink_csv(path, include_header=False, quote_style="never")


def _write_geoparquet(rows: pl.LazyFrame, path: Path) -> None:
    places = _places(rows)
    points = [struct.pack("<BIdd", 1, 1, lng, lat) for _, lat, lng in places.iter_rows()]
    # without a crs it is OGC:CRS84: longitude first
    column: dict[str, Any] = {"encoding": "WKB", "geometry_types": ["Point"]}
    if len(places):
        lng, lat = places["lng"], places["lat"]
        column["bbox"] = [lng.min(), lat.min(), lng.max(), lat.max()]
    about = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    (
        rows.join(_prepared(places, pl.Series(points, dtype=pl.Binary)), on="location", how="left",
                  nulls_equal=True, maintain_order="left")
        .rename({"prepared": "geometry"})
        .sink_parquet(path, metadata={"geo": json.dumps(about)})
    )  # fmt: skip


def _places(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return (location, lat, lng) of the places that occur: few, where rows may be many."""
    return (
        rows.select("location", "lat", "lng")
        .unique("location")
        .sort("location")
        .collect(engine="streaming")
    )


def _prepared(places: pl.DataFrame, column: pl.Series) -> pl.LazyFrame:
    return places.select("location", prepared=column).lazy()


WRITERS: MappingProxyType[str, Callable[[pl.LazyFrame, Path], None]] = MappingProxyType(
    {
        "csv": _write_csv,
        "parquet": _write_parquet,
        "geojson": _write_geojson,
        "geoparquet": _write_geoparquet,
        "kepler": _write_kepler,
    }
)

FORMATS = tuple(WRITERS)
