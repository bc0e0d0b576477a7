"""What a run learns from: the traces, and where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from doppeltrace.cities import City
from doppeltrace.errors import InputError, SettingsError
from doppeltrace.io.dataset import Dataset
from doppeltrace.traces import Traces

Data = Dataset | Traces | City
"""What can be learned from."""


@dataclass(frozen=True)
class Source:
    """Where an input comes from, for the manifest and the internal report.

    Attributes
    ----------
    name : its path, or what it is.
    file : the file or folder that was read, if there is one.
    options : those of the reader.
    sha256 : of the file, or of the folder's files.
    validation : what was kept and dropped, and why.
    """

    name: str = ""
    file: Path | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    sha256: str | None = None
    validation: Mapping[str, Any] | None = None

    @classmethod
    def of_file(cls, path: str | Path, options: Mapping[str, str] | None = None) -> Source:
        """Return the source of traces that are read from a file or folder."""
        return cls(str(path), Path(path), options or {})

    def described(self, data: object) -> Source:
        """Return it with what can be said once the data are read."""
        return replace(
            self,
            sha256=None if self.file is None else file_hash(self.file),
            validation=data.validation.to_dict() if isinstance(data, Dataset) else None,
        )

    @property
    def title(self) -> str:
        """The title of the internal report."""
        name = Path(self.name).name
        return f"Synthetic traces of {name}" if name else "Synthetic traces"


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of its files' names and hashes."""
    if not path.exists():
        raise InputError(f"{path} does not exist: check the path of the input")
    if not path.is_dir():
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(f for f in path.rglob("*") if f.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()} {file_hash(file)}\n".encode())
    return digest.hexdigest()


def train_and_test(data: object) -> tuple[Traces, Traces | None]:
    """Return the training traces, and the testing traces if there are any."""
    if isinstance(data, Dataset):
        return data.train, data.test
    if isinstance(data, City):
        return data.split()
    if isinstance(data, Traces):
        return data, None
    raise SettingsError(
        f"data must be a Dataset, Traces or City, not {_kind(data)}: read a file or a frame with "
        "dt.read or dt.read_table first"
    )


def read(data: Data | Callable[[int], Data], seed: int) -> Data:
    """Return the data, which may come from a function of the seed that reads them.

    The seed decides which users are held out: it is a secret, so nobody can work that out.
    """
    return data(seed) if callable(data) else data


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
