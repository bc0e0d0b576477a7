"""What may leave: the only door out.

A release holds the traces that passed, ordered by content and numbered afresh. Owner,
likelihood, seed and the order in which traces were made stay behind: the same set of traces
gives the same bytes in whatever order it comes.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import require
from doppeltrace.files import INTERNAL, MARKER, PUBLIC, atomic_folder
from doppeltrace.plain import to_json
from doppeltrace.release.columns import COLUMNS, FORMATS, by_content, local_times, released_frame
from doppeltrace.release.folder import Release, TraceCounts
from doppeltrace.traces import SyntheticTraces

NOTICE = (
    "Internal: do not publish. The seed gives every user's random numbers away; "
    f"only the folder {PUBLIC} may leave."
)

_ROWS_AT_ONCE = 1_000_000


def about(counts: TraceCounts) -> dict[str, Any]:
    """Return what every manifest begins with: versions, and how many traces there are."""
    packages = ("numpy", "scipy", "numba", "polars")
    versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
    return {
        "doppeltrace": version("doppeltrace"),
        "notice": NOTICE,
        "versions": versions,
        "traces": counts,
    }


def leaving(synthetic: SyntheticTraces, passed: ArrayLike) -> SyntheticTraces:
    """Return the traces that leave as they leave: ordered by content, without their owners."""
    chosen = np.asarray(passed)
    require(
        chosen.dtype == np.bool_ and chosen.shape == (len(synthetic),),
        "passed needs one True or False per trace",
    )
    locations = by_content(synthetic.locations[chosen])
    unknown = np.full(len(locations), -1)
    return SyntheticTraces(
        locations, unknown, np.zeros_like(unknown), synthetic.places, synthetic.clock
    )


def release(
    synthetic: SyntheticTraces,
    passed: ArrayLike,
    out_dir: str | Path,
    *,
    format: str = "csv",
    manifest: Callable[[TraceCounts], Mapping[str, Any]] = about,
    internal_files: Mapping[str, str] | None = None,
    public_files: Mapping[str, Callable[[Path], str]] | None = None,
    overwrite: bool = False,
) -> Release:
    """Write the traces that passed to `out_dir/public`, and what is kept of the run beside it.

    Parameters
    ----------
    synthetic : the traces, in any order; it does not show in the result.
    passed : (n_traces,) bool; the others are held back.
    out_dir : a new or empty folder, or with `overwrite` one of an earlier release. It appears
        complete or not at all.
    format : "csv" or "parquet".
    manifest : gives what to keep about the run in `out_dir/internal`, when all other files are
        written; begins with `about(counts)`.
    internal_files : more internal text files to write, by name.
    public_files : text files that may be published with the traces, by name: each is what its
        function returns for the path of the written file of traces.

    Raises
    ------
    OutputError : the folder cannot be written; it is then as it was before.
    """
    require(format in FORMATS, f"format must be one of {', '.join(FORMATS)}")
    released = leaving(synthetic, passed)
    counts = TraceCounts.of(np.asarray(passed), released)
    name = f"traces.{format}"
    with atomic_folder(out_dir, overwrite=overwrite) as folder:
        (folder / PUBLIC).mkdir()
        (folder / INTERNAL).mkdir(mode=0o700)
        write_traces(folder / PUBLIC / name, released)
        for file, text in (internal_files or {}).items():
            write_internal(folder / INTERNAL / file, text)
        for file, make in (public_files or {}).items():
            page = make(folder / PUBLIC / name)
            (folder / PUBLIC / file).write_text(page, encoding="utf-8")
        write_internal(folder / MARKER, to_json(manifest(counts)))
    home = Path(out_dir)
    return Release(
        folder=home,
        traces=home / PUBLIC / name,
        manifest=home / MARKER,
        made=counts.made,
        released=counts.released,
        events=counts.events_released,
    )


def write_traces(path: Path, released: SyntheticTraces) -> None:
    """Write traces that leave to a .csv or .parquet file."""
    write = _write_parquet if path.suffix == ".parquet" else _write_csv
    write(path, released.locations, released)


def write_internal(path: Path, text: str) -> None:
    """Write a file for the owner's eyes only."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _write_csv(path: Path, locations: NDArray[np.int32], synthetic: SyntheticTraces) -> None:
    """Write the rows, a block of traces at a time."""
    traces_at_once = max(1, _ROWS_AT_ONCE // max(1, locations.shape[1]))
    with path.open("xb") as handle:
        for first in range(0, max(1, len(locations)), traces_at_once):
            part = released_frame(locations[first : first + traces_at_once], synthetic, first)
            text = part.write_csv(include_header=first == 0, datetime_format="%Y-%m-%dT%H:%M:%S")
            handle.write(text.encode())


def _write_parquet(path: Path, locations: NDArray[np.int32], synthetic: SyntheticTraces) -> None:
    """Write the same rows in row groups; only numbers are in memory for all of them at once."""
    trace, step = np.nonzero(locations >= 0)
    events = pl.LazyFrame(
        {
            "uid": trace.astype(np.uint32),
            "step": step.astype(np.uint32),
            "place": locations[locations >= 0].astype(np.uint32),
        }
    )
    del trace, step
    places, times = synthetic.places, local_times(synthetic)
    when = pl.LazyFrame({"step": np.arange(len(times), dtype=np.uint32), "datetime": times})
    where = pl.LazyFrame(
        {
            "place": np.arange(len(places), dtype=np.uint32),
            "lat": places.lat,
            "lng": places.lng,
            "location": pl.Series(places.labels),
        }
    )
    rows = events.join(when, on="step", how="left", maintain_order="left")
    rows = rows.join(where, on="place", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("uid").cast(pl.Int64), tid=pl.lit(0, pl.Int64))
    rows.select(COLUMNS).sink_parquet(path, compression="zstd", row_group_size=_ROWS_AT_ONCE)
