"""Messages in the words of the command line: its options instead of Python's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType

from doppeltrace.errors import DoppeltraceError

SPELLED = MappingProxyType(
    {
        "k=None": "--no-test",
        "checkpoint_seconds=None": "--no-checkpoint",
        "epsilon0": "--randomized-test",
        "n_traces": "--traces",
    }
)
"""Options, or options with a value, that the command line spells in another way."""

ASSIGNED = ("resume", "overwrite", "allow_rare_places", "min_users")
"""Options that remarks and warnings name, always with a value."""


def told(error: DoppeltraceError) -> str:
    """Return the line for an error, with options as they are typed."""
    return with_options(" ".join(str(error).split()), error.options)


def remark(text: str) -> str:
    """Return a remark or warning, with options as they are typed."""
    for name in ASSIGNED:
        text = _assigned(text, name)
    return text


def with_options(text: str, names: Iterable[str]) -> str:
    """Return a text with these options as they are typed: `min_users=5` as `--min-users 5`."""
    for name in names:
        text = _assigned(text, name)
        text = re.sub(rf"(?<![\w-]){name}\b(?!=)", _flag(name), text)
    return text


def _assigned(text: str, name: str) -> str:
    for spelled, option in SPELLED.items():
        if spelled.startswith(f"{name}="):
            text = text.replace(spelled, option)
    text = re.sub(rf"(?<![\w-]){name}=True\b", _flag(name), text)
    return re.sub(rf"(?<![\w-]){name}=(?=\S)", f"{_flag(name)} ", text)


def _flag(name: str) -> str:
    return SPELLED.get(name, f"--{name.replace('_', '-')}")
