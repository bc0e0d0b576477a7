"""A run's folder: `public/`, which may be handed on, and `internal/`, which must not leave.

```
RUN/public/     traces.csv or traces.parquet, datasheet.html
RUN/internal/   manifest.json, report.html, findings.json      (for the owner's eyes only)
```
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.errors import InputError
from doppeltrace.files import INTERNAL, MARKER, PUBLIC
from doppeltrace.release.columns import FORMATS
from doppeltrace.traces import SyntheticTraces


@dataclass(frozen=True)
class TraceCounts:
    """How many traces were made, passed the test and left, and the events of those that left.

    A trace without a single event passes but is not written.
    """

    made: int
    passed: int
    released: int
    events_released: int

    @classmethod
    def of(cls, passed: NDArray[np.bool_], released: SyntheticTraces) -> TraceCounts:
        """Count traces, given which of them passed and those that leave."""
        events = int(np.count_nonzero(released.locations >= 0))
        return cls(len(passed), int(np.count_nonzero(passed)), len(released), events)


@dataclass(frozen=True)
class Release:
    """Where a release is, and how many traces it holds.

    Attributes
    ----------
    folder : the run's folder.
    traces, manifest : the public file of traces, and the internal manifest.
    made, released, events : traces given, traces written, rows written.
    """

    folder: Path
    traces: Path
    manifest: Path
    made: int
    released: int
    events: int

    @property
    def public(self) -> Path:
        """The folder that may be handed on."""
        return self.folder / PUBLIC

    @property
    def internal(self) -> Path:
        """The folder that must not leave."""
        return self.folder / INTERNAL


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of a run's folder."""
    home = Path(folder)
    try:
        manifest = json.loads((home / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise not_a_run(home) from error
    if not isinstance(manifest, dict):
        raise not_a_run(home)
    return manifest


def read_release(folder: str | Path) -> Release:
    """Return what a run's folder says of itself."""
    home = Path(folder)
    manifest = read_manifest(home)
    try:
        counts = TraceCounts(**manifest["traces"])
        (traces,) = released_files(home)
    except (ValueError, KeyError, TypeError) as error:
        raise not_a_run(home) from error
    return Release(
        home, traces, home / MARKER, counts.made, counts.released, counts.events_released
    )


def not_a_run(folder: Path) -> InputError:
    """Return the error for a folder that no run wrote."""
    return InputError(
        f"{folder} is not the folder of a run: give one that `doppeltrace synthesize` wrote"
    )


def released_files(folder: Path) -> list[Path]:
    """Return the files of traces of a run, or of its public folder: one, if it is a release."""
    homes = (folder / PUBLIC, folder)
    return [f for home in homes for kind in FORMATS if (f := home / f"traces.{kind}").is_file()]


def run_around(file: Path) -> Path | None:
    """Return the folder of the run to which a file of traces belongs, if it belongs to one."""
    folder = file.resolve().parent.parent
    return folder if (folder / MARKER).is_file() else None
