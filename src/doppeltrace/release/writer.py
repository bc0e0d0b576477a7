"""What may leave: the only door out.

A release holds the traces that passed, ordered by content and numbered afresh. Owner,
likelihood, seed and the order in which traces were made stay behind: the same set of traces
gives the same bytes in whatever order it comes.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import InputError, require
from doppeltrace.files import MARKER, atomic_folder
from doppeltrace.release.columns import COLUMNS, FORMATS, by_content, local_times, released_frame
from doppeltrace.traces import SyntheticTraces

NOTICE = (
    "Internal: do not publish. The seed gives every user's random numbers away; "
    "only the file of traces and the datasheet may leave."
)

_ROWS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Release:
    """Where a release is, and how many traces it holds.

    Attributes
    ----------
    folder, traces, manifest : the output folder and the two files in it.
    made, released, events : traces given, traces written, rows written.
    """

    folder: Path
    traces: Path
    manifest: Path
    made: int
    released: int
    events: int


def release(
    synthetic: SyntheticTraces,
    passed: ArrayLike,
    out_dir: str | Path,
    *,
    format: Literal["csv", "parquet"] = "csv",
    manifest: Mapping[str, Any] | None = None,
    at_last: Callable[[], Mapping[str, Any]] = dict,
    files: Mapping[str, str] | None = None,
    public_files: Mapping[str, Callable[[Path], str]] | None = None,
    overwrite: bool = False,
) -> Release:
    """Write the traces that passed to `out_dir`, with a manifest beside them.

    Parameters
    ----------
    synthetic : the traces, in any order; it does not show in the result.
    passed : (n_traces,) bool; the others are held back.
    out_dir : a new or empty folder, or with `overwrite` one of an earlier release. It appears
        complete or not at all.
    format : "csv" or "parquet".
    manifest : what to keep about the run, for internal use; versions and counts are added.
    at_last : gives more of that when all other files are written.
    files : more internal text files to write, by name.
    public_files : text files that may be published with the traces, by name: each is what its
        function returns for the path of the written file of traces.

    Raises
    ------
    OutputError : the folder cannot be written; it is then as it was before.
    """
    require(format in FORMATS, f"format must be one of {', '.join(FORMATS)}")
    chosen = np.asarray(passed)
    require(
        chosen.dtype == bool and chosen.shape == (len(synthetic),),
        "passed needs one True or False per trace",
    )
    locations = by_content(synthetic.locations[chosen])
    events = int(np.count_nonzero(locations >= 0))
    counts = {
        "made": len(synthetic),
        "passed": int(chosen.sum()),
        "released": len(locations),
        "events_released": events,
    }
    internal = {
        "doppeltrace": version("doppeltrace"),
        "notice": NOTICE,
        "versions": _versions(),
        **(manifest or {}),
        "traces": counts,
    }
    name = f"traces.{format}"
    with atomic_folder(out_dir, overwrite=overwrite) as folder:
        if format == "parquet":
            _write_parquet(folder / name, locations, synthetic)
        else:
            _write_csv(folder / name, locations, synthetic)
        for file, text in (files or {}).items():
            _write_internal(folder / file, text)
        for file, make in (public_files or {}).items():
            (folder / file).write_text(make(folder / name), encoding="utf-8")
        internal |= at_last()
        _write_internal(folder / MARKER, json.dumps(internal, indent=2, default=_plain) + "\n")
    home = Path(out_dir)
    return Release(home, home / name, home / MARKER, counts["made"], counts["released"], events)


def read_release(folder: str | Path) -> Release:
    """Return what a release folder says of itself."""
    home = Path(folder)
    try:
        counts = json.loads((home / MARKER).read_text(encoding="utf-8"))["traces"]
        (traces,) = released_files(home)
        figures = (counts["made"], counts["released"], counts["events_released"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{home} is not a release of ours") from error
    return Release(home, traces, home / MARKER, *figures)


def released_files(folder: Path) -> list[Path]:
    """Return the files of traces in a folder: one, if it is a release."""
    return [path for kind in FORMATS if (path := folder / f"traces.{kind}").is_file()]


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


def _write_internal(path: Path, text: str) -> None:
    """Write a file for the owner's eyes only."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "numba", "polars")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def _plain(value: Any) -> Any:
    """Return what JSON can hold of a NumPy value or a path."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} does not belong in a manifest")
