"""What is exported: the rows of a release, from memory or from its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.release.columns import COLUMNS, by_content, released_frame
from doppeltrace.release.folder import released_files
from doppeltrace.traces import SyntheticTraces, Traces

TIME_FORMAT = "%Y-%m-%dT%H:%M:%S"
"""Times of a released CSV file: local, without a zone."""


def released_rows(
    source: SyntheticTraces | str | Path, *, labels_as_text: bool = False
) -> pl.LazyFrame:
    """Return the rows of a release, with `COLUMNS` and nothing else.

    Parameters
    ----------
    source : synthetic traces, which are ordered by content and numbered afresh as a release
        does, since their own order tells who their owners are; or a release: its folder, or its
        file of traces, which is then read as it is needed and never held as a whole.
    labels_as_text : whether labels of places stay text, even if all of them are numbers.
    """
    text = pl.col("location").cast(pl.String) if labels_as_text else pl.col("location")
    if isinstance(source, SyntheticTraces):
        rows = released_frame(by_content(source.locations), source)
        return rows.lazy().with_columns(text)
    if isinstance(source, Traces):
        raise InputError("these are real traces, which are not exported: pass synthetic ones")
    path = released_file(Path(source))
    with explained(path):
        return _scan(path, labels_as_text).with_columns(text)


def released_file(path: Path) -> Path:
    """Return the file of traces of a release, given that file or the folder around it."""
    if path.is_file():
        return path
    found = released_files(path)
    if len(found) != 1:
        raise InputError(
            f"{path} is not a release: give the folder that `doppeltrace synthesize` wrote, or "
            "the file of traces in it"
        )
    return found[0]


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what a reader of tables has to say into one line that names the file."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{path} cannot be read as a file of released traces: {reason}"
        ) from error


def _scan(path: Path, labels_as_text: bool) -> pl.LazyFrame:
    if path.suffix == ".parquet":
        return pl.scan_parquet(path, glob=False).select(_known(path, pl.read_parquet_schema(path)))
    header = pl.scan_csv(path, glob=False, infer_schema=False)
    names = _known(path, header.collect_schema())
    text = header.select(names)
    # labels are numbers only if that loses nothing: 007 stays text
    number = pl.col("location").cast(pl.Int64, strict=False)
    same = number.cast(pl.String).eq_missing(pl.col("location"))
    whole = not labels_as_text and text.select(same.all()).collect(engine="streaming").item()
    return text.with_columns(
        pl.col("uid", "tid").cast(pl.Int64),
        pl.col("datetime").str.to_datetime(TIME_FORMAT, time_unit="ms"),
        pl.col("lat", "lng").cast(pl.Float64),
        number if whole else pl.col("location"),
    )


def _known(path: Path, schema: Iterable[str]) -> list[str]:
    missing = [name for name in COLUMNS if name not in schema]
    if missing:
        raise InputError(
            f"{path} is not a file of released traces: it has no column {missing[0]}, but "
            f"{', '.join(schema)}"
        )
    return list(COLUMNS)
