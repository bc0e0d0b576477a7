"""Messages in the words of the command line: its options instead of Python's."""

from __future__ import annotations

import re
import shlex
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


READING = (
    "format", "columns", "places", "grid", "h3", "city", "per_instant", "bounds", "top_places",
    "timezone", "time_format", "instant_minutes", "instants_per_slot", "first_hour", "last_hour",
    "daily", "split", "drop_invalid",
)  # fmt: skip
"""Options of the readers, which messages name as `name=…`, `name=True` or `name='value'`."""

_READING = re.compile(
    rf"(?<![\w-])(?P<name>{'|'.join(READING)})=(?P<value>…|True\b|'[^']*'|\{{[^}}]*\}})"
)


def told(error: DoppeltraceError) -> str:
    """Return the line for an error, with options as they are typed."""
    return with_options(_reading(" ".join(str(error).split())), error.options)


def remark(text: str) -> str:
    """Return a remark or warning, with options as they are typed."""
    for name in ASSIGNED:
        text = _assigned(text, name)
    return _reading(text)


def with_options(text: str, names: Iterable[str]) -> str:
    """Return a text with these options as they are typed: `min_users=5` as `--min-users 5`."""
    for name in names:
        text = _assigned(text, name)
        text = re.sub(rf"(?<![\w-]){name}\b(?!=)", _flag(name), text)
    return text


def _reading(text: str) -> str:
    """Return a text with the options of readers as they are typed."""
    return _READING.sub(_typed, text)


def _typed(match: re.Match[str]) -> str:
    flag, value = _flag(match["name"]), match["value"]
    if value in ("…", "True"):
        return flag
    if value.startswith("{"):
        pairs = re.findall(r"'([^']*)': (?:'([^']*)'|…)", value)
        return " ".join(f"{flag} {r}={shlex.quote(c) if c else 'NAME'}" for r, c in pairs)
    return f"{flag} {shlex.quote(value[1:-1])}"


def _assigned(text: str, name: str) -> str:
    for spelled, option in SPELLED.items():
        if spelled.startswith(f"{name}="):
            text = text.replace(spelled, option)
    text = re.sub(rf"(?<![\w-]){name}=True\b", _flag(name), text)
    return re.sub(rf"(?<![\w-]){name}=(?=\S)", f"{_flag(name)} ", text)


def _flag(name: str) -> str:
    return SPELLED.get(name, f"--{name.replace('_', '-')}")
