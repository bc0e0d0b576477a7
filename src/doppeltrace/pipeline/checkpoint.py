"""What a run has done so far, kept beside its output folder until it is complete.

`OUT.unfinished` holds what the run is (`about.json`), the state of the training, and for every
batch of traces what was drawn and how far its test is. Each file is replaced in one step, so
a kill at any moment leaves something to go on from. It is as secret as the input: only its
owner may read it, and it is removed when the release stands.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace.deniability.deterministic import Counting
from doppeltrace.errors import InputError, OutputError
from doppeltrace.files import MARKER, atomic_file
from doppeltrace.synthesizers.model_file import read_model, remove_model, write_model


class KeptBatch(NamedTuple):
    """The traces of users first … last − 1, and how far their test is."""

    first: int
    last: int
    locations: NDArray[np.int32]
    counted: Counting


class RunCheckpoint:
    """The folder of one run that is under way, or was.

    Attributes
    ----------
    folder : where it is.
    run : a random number by which the run is known in its manifest, once it has begun.
    """

    def __init__(self, out: Path) -> None:
        self._out = out.resolve()
        self.folder = self._out.with_name(f"{self._out.name}.unfinished")
        self._lock: int | None = None
        self.run: str | None = None

    def __bool__(self) -> bool:
        """Tell whether there is one."""
        return self._about.is_file()

    @property
    def training(self) -> Path:
        """The state of the training."""
        return self.folder / "training.safetensors"

    @property
    def seed(self) -> int:
        """The seed of the run that began."""
        return int(self._read()["seed"])

    @property
    def released(self) -> bool:
        """Tell whether the run was stopped after its release stood, before it was cleared up."""
        try:
            manifest = json.loads((self._out / MARKER).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        known = isinstance(manifest, dict) and manifest.get("run") is not None
        return known and bool(self) and manifest["run"] == self._read()["run"]

    def begin(self, seed: int, what: Mapping[str, Any]) -> None:
        """Begin a run, or go on with the one that is there.

        Parameters
        ----------
        what : everything that decides the released traces, as JSON, options by their names; a
            run that is there must have begun with the same.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._take()
            if not self:
                self._clear()
                fresh = {"run": secrets.token_hex(8), "seed": str(seed), "what": what}
                with atomic_file(self._about) as partial:
                    partial.touch(mode=0o600)
                    text = json.dumps({**fresh, "sha256": _checksum(fresh)}, indent=2)
                    partial.write_text(text, encoding="utf-8")
        except OutputError:
            raise
        except OSError as error:
            raise OutputError(f"cannot write to {self.folder}: {error.strerror}") from error
        about = self._read()
        for name, value in json.loads(json.dumps(what)).items():
            if about["what"].get(name) != value:
                raise InputError(
                    f"{self.folder} belongs to a run with another {name} "
                    f"({about['what'].get(name)}, now {value}): give the same, or discard it with "
                    "overwrite=True",
                    *([name] if name.isidentifier() else []),  # others are not options
                    "overwrite",
                )
        if int(about["seed"]) != seed:  # both are secrets, so the message names neither
            raise InputError(
                f"{self.folder} belongs to a run with another seed: do not give one, or discard "
                "it with overwrite=True",
                "overwrite",
            )
        self.run = about["run"]

    def batch_from(self, first: int) -> KeptBatch | None:
        """Return what was kept of the batch that begins with this user, if anything was."""
        for path in self.folder.glob(f"traces-{first}-*.safetensors"):
            arrays, about = read_model(path, "remove the file, and its traces are made again")
            if about["run"] != self.run:
                continue
            counted = Counting(arrays["own"], arrays["plausible"], about["done"])
            return KeptBatch(first, about["last"], arrays["locations"], counted)
        return None

    def keep_batch(self, batch: KeptBatch) -> None:
        """Keep a batch of traces, in place of what was kept of it before."""
        arrays: dict[str, NDArray[Any]] = {
            "locations": batch.locations,
            "own": batch.counted.own,
            "plausible": batch.counted.plausible,
        }
        about = {"run": self.run, "last": batch.last, "done": batch.counted.done}
        write_model(self._file(batch), arrays, about)

    def drop_batch(self, batch: KeptBatch) -> None:
        """Forget what was kept of a batch."""
        remove_model(self._file(batch))

    @property
    def has_begun(self) -> bool:
        """Tell whether there is more than the seed to go on from."""
        return bool(self) and any(self.folder.glob("*.safetensors"))

    def remove(self) -> None:
        """Remove everything, and last what tells that there is a run."""
        if self.folder.is_dir():
            if self._lock is None:
                self._take()
            self._clear()
            self._about.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # somebody else's file is in it
                self.folder.rmdir()
        self.leave()

    def leave(self) -> None:
        """Let other processes go on from it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def _about(self) -> Path:
        return self.folder / "about.json"

    def _file(self, batch: KeptBatch) -> Path:
        return self.folder / f"traces-{batch.first}-{batch.last}.safetensors"

    def _read(self) -> dict[str, Any]:
        try:
            about = json.loads(self._about.read_text(encoding="utf-8"))
            told = about.pop("sha256")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{self.folder} is damaged, or not an unfinished run: remove it, or choose "
                "another out",
                "out",
            ) from error
        if told != _checksum(about):
            raise InputError(
                f"{self._about} is damaged (its checksum does not match): discard the unfinished "
                "run with overwrite=True",
                "overwrite",
            )
        return dict(about)

    def _clear(self) -> None:
        """Remove what is kept of a run, but not what tells of it."""
        for pattern in ("*.safetensors*", f".{self._about.name}.*.partial"):
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)

    def _take(self) -> None:
        """Make sure that no other process works on it, or has just removed it."""
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = not os.path.samestat(os.fstat(self._lock), os.stat(self.folder))
        except (BlockingIOError, FileNotFoundError):
            gone = True
        if gone:
            self.leave()
            raise OutputError(
                f"another process is making {self._out}: wait for it, or choose another out",
                "out",
            )


def _checksum(about: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
