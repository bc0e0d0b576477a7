"""Model files: arrays in safetensors, settings as JSON in its header. Never a pickle.

A model file holds Θ and the seed; both must stay inside.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from doppeltrace.errors import InputError, OutputError
from doppeltrace.traces import Traces


def fingerprint(traces: Traces) -> str:
    """Return a hash of the events, which tells whether a model belongs to these traces."""
    digest = hashlib.sha256()
    for array in (traces.offsets, traces.location, traces.instant, traces.clock.slot_of):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(f"{len(traces.places)} {traces.clock.cycle}".encode())
    return digest.hexdigest()


def write_model(path: Path, arrays: Mapping[str, NDArray], about: Mapping[str, Any]) -> None:
    """Write the file in one piece: a crash leaves the earlier file or none."""
    content = save({k: np.ascontiguousarray(v) for k, v in arrays.items()},
                   metadata={"doppeltrace": json.dumps(about)})  # fmt: skip
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(f"cannot write the model file {path}: {error.strerror}") from error


def read_model(path: Path) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Return the arrays and settings of a model file."""
    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {})["doppeltrace"])
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except FileNotFoundError as error:
        raise InputError(f"model file {path} does not exist") from error
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise InputError(f"{path} is not a doppeltrace model file: {error}") from error
