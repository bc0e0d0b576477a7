"""Model files: arrays in safetensors, settings as JSON in its header. Never a pickle.

A model file holds Θ and the seed; both must stay inside.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from doppeltrace.errors import InputError, OutputError
from doppeltrace.files import cannot_write
from doppeltrace.traces import Traces


def fingerprint(traces: Traces) -> str:
    """Return a hash of events, places and slots: whether a model belongs to these traces."""
    digest = hashlib.sha256()
    places, clock = traces.places, traces.clock
    events = (traces.offsets, traces.location, traces.instant)
    for array in (*events, places.lat, places.lng, clock.slot_of):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(f"{len(places)} {clock.cycle}".encode())
    return digest.hexdigest()


def write_model(path: Path, arrays: Mapping[str, NDArray], about: Mapping[str, Any]) -> None:
    """Write the file in one piece, for the owner's eyes only.

    A kill leaves the earlier file or none, and perhaps a `FILE.part` beside it, which the
    next writing takes away.
    """
    content = save({k: np.ascontiguousarray(v) for k, v in arrays.items()},
                   metadata={"doppeltrace": json.dumps(about)})  # fmt: skip
    part = part_of(path)
    try:
        part.unlink(missing_ok=True)  # one with other rights, or a link to somewhere else
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise cannot_write(path, error.errno) from error
    finally:
        part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """Return where a model file is written before it takes its place."""
    return path.with_name(path.name + ".part")


def remove_model(path: Path) -> None:
    """Remove a model file, and what a killed process left of one."""
    try:
        for file in (path, part_of(path)):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot remove the model file {path}: {error.strerror}") from error


def read_about(path: Path) -> dict[str, Any]:
    """Return the settings, seed and iterations of a model file."""
    with _explained(path), safe_open(path, framework="numpy") as file:
        return _about(file)


def read_model(path: Path) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Return the arrays and settings of a model file."""
    with _explained(path), safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, _about(file)  # noqa: SIM118


def _about(file: Any) -> dict[str, Any]:
    return json.loads((file.metadata() or {})["doppeltrace"])


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say in one line what is wrong with a file that cannot be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"model file {path} does not exist") from error
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise InputError(f"{path} is not a doppeltrace model file: {error}") from error
