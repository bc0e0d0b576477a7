"""The seed of a run: from a file, the environment or an option; better from none of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.errors import InputError, SettingsError

VARIABLE = "DOPPELTRACE_SEED"

Seed = Annotated[
    int | None,
    typer.Option(
        help="Seed, to repeat a run; by default from the operating system. Everybody on this "
        f"machine can read it in the list of processes: prefer --seed-file, or {VARIABLE} in the "
        "environment.",
        show_default=False,
    ),
]
SeedFile = Annotated[
    Path | None,
    typer.Option(help="File that holds the seed, readable by you only.", show_default=False),
]

SECRET = (
    "whoever learns it can replay every user's random numbers and so link released traces to users"
)


def choose_seed(
    seed: int | None, file: Path | None, environment: Mapping[str, str] = os.environ
) -> tuple[int | None, str | None]:
    """Return the seed that was given, if any, and a warning that fits how it was given."""
    if seed is not None and file is not None:
        raise SettingsError("--seed and --seed-file exclude each other: give one of them")
    if seed is not None:
        return _whole(str(seed), "--seed"), (
            f"the seed was given, and shows in the list of processes: {SECRET}; leave --seed out, "
            f"or use --seed-file or {VARIABLE}"
        )
    if file is not None:
        return _of_file(file)
    text = environment.get(VARIABLE)
    if text is None:
        return None, None
    return _whole(text, VARIABLE), f"the seed was given in {VARIABLE}: {SECRET}; keep it secret"


def _of_file(file: Path) -> tuple[int, str]:
    try:
        text = file.read_text(encoding="ascii")
        shared = file.stat().st_mode & 0o077 != 0
    except OSError as error:
        raise InputError(f"cannot read --seed-file {file}: {error.strerror}") from error
    except UnicodeDecodeError:
        text, shared = "", False
    warning = f"the seed was given in {file}: {SECRET}; keep it secret"
    if shared:
        warning += f". Others may read that file: chmod 600 {file}"
    return _whole(text, f"--seed-file {file}"), warning


def _whole(text: str, origin: str) -> int:
    """Return a seed; a wrong one is not repeated, since it may be a secret all the same."""
    if not text.strip().isascii() or not text.strip().isdigit():
        raise SettingsError(f"{origin}: a seed must be a non-negative integer")
    return int(text)
