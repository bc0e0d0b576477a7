"""Model files: arrays in safetensors, settings as JSON in its header. Never a pickle.

A model file holds profiles of the input users, and the seed; both must stay inside. Its header
holds the SHA-256 of the whole file, with zeros where the hash itself stands: a file of which one
byte has changed is refused.
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
from safetensors import SafetensorError
from safetensors.numpy import load, save

from doppeltrace.errors import InputError, OutputError
from doppeltrace.files import cannot_write
from doppeltrace.traces import Traces

NO_HASH = "0" * 64
"""Stands for the hash while the file is hashed."""

HEADER_LENGTH = 8
"""Bytes that tell, little end first, how long the header of a safetensors file is."""

TRAIN_AGAIN = "train the model again"


def fingerprint(traces: Traces) -> str:
    """Return a hash of events, places and slots: whether a model belongs to these traces."""
    digest = hashlib.sha256()
    places, clock = traces.places, traces.clock
    events = (traces.offsets, traces.location, traces.instant)
    for array in (*events, places.lat, places.lng, clock.slot_of):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(f"{len(places)} {clock.cycle}".encode())
    return digest.hexdigest()


def write_model(path: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write the file in one piece, for the owner's eyes only.

    A kill leaves the earlier file or none, and perhaps a `FILE.part` beside it, which the
    next writing takes away.
    """
    header = json.dumps({"sha256": NO_HASH, **about})  # the hash first: nothing else is found
    content = bytearray(
        save(
            {k: np.ascontiguousarray(v) for k, v in arrays.items()},
            metadata={"doppeltrace": header},
        )
    )
    at = content.index(NO_HASH.encode())
    content[at : at + len(NO_HASH)] = hashlib.sha256(content).hexdigest().encode()
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


def read_about(path: Path, remedy: str = TRAIN_AGAIN) -> dict[str, Any]:
    """Return the settings, seed and iterations of a model file; see `read_model`."""
    return read_model(path, remedy)[1]


def read_model(
    path: Path, remedy: str = TRAIN_AGAIN
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and settings of a model file.

    Parameters
    ----------
    remedy : what to do about a damaged file, as the end of a sentence.
    """
    with _explained(path, remedy):
        content = path.read_bytes()
        start = HEADER_LENGTH + int.from_bytes(content[:HEADER_LENGTH], "little")
        header = content[HEADER_LENGTH:start]
        about: dict[str, Any] = json.loads(json.loads(header)["__metadata__"]["doppeltrace"])
        told = str(about.pop("sha256")).encode()
        at = content.index(told) if len(told) == len(NO_HASH) else -1
        if at < 0 or _hash_without(content, at) != told:
            raise InputError(f"{path} is damaged (its checksum does not match): {remedy}")
        # copies, since kernels are compiled for arrays that may be written to
        return {name: np.array(array) for name, array in load(content).items()}, about


def _hash_without(content: bytes, at: int) -> bytes:
    """Return the hash of a file whose own hash stands at a position."""
    digest = hashlib.sha256(content[:at])
    digest.update(NO_HASH.encode())
    digest.update(memoryview(content)[at + len(NO_HASH) :])
    return digest.hexdigest().encode()


@contextmanager
def _explained(path: Path, remedy: str) -> Iterator[None]:
    """Say in one line what is wrong with a file that cannot be read."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"model file {path} does not exist") from error
    except OSError as error:
        raise InputError(f"cannot read the model file {path}: {error.strerror}") from error
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is damaged, or not a model file of doppeltrace: {remedy}"
        ) from error
