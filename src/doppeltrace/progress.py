"""How long work says where it stands: one callback for every phase of every room."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Step:
    """One unit of a phase is done.

    Attributes
    ----------
    phase : what is going on, in words a user knows ("training", "synthesis", …).
    done, total : units finished and in all.
    figures : numbers worth showing or keeping, such as {"rmse": 0.31}.
    """

    phase: str
    done: int
    total: int
    figures: Mapping[str, float] = field(default_factory=dict)


Callback = Callable[[Step], None]


def silent(step: Step) -> None:
    """Ignore progress: the default callback."""


class Monitor(Protocol):
    """Who watches a run: hears of every step, phase, remark and warning.

    The command line shows them; a Python caller may pass its own. `seconds` maps each phase to
    the time it took, in the order of the phases.
    """

    seconds: dict[str, float]

    def __call__(self, step: Step) -> None:
        """Hear of one step."""

    def phase(
        self, name: str, note: str = "", *, part: bool = False
    ) -> AbstractContextManager[Any]:
        """Time a phase; `part` tells that it is one of several that make the phase."""

    def say(self, text: str) -> None:
        """Hear a remark."""

    def warn(self, text: str) -> None:
        """Hear what must not be overlooked."""


class QuietMonitor:
    """Keeps the times and the warnings, and shows nothing."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.warnings: list[str] = []

    def __call__(self, step: Step) -> None:
        """Ignore a step."""

    @contextmanager
    def phase(self, name: str, note: str = "", *, part: bool = False) -> Iterator[QuietMonitor]:
        """Time a phase."""
        began = time.monotonic()
        before = self.seconds.get(name, 0.0) if part else 0.0
        try:
            yield self
        finally:
            self.seconds[name] = before + time.monotonic() - began

    def say(self, text: str) -> None:
        """Ignore a remark."""

    def warn(self, text: str) -> None:
        """Keep a warning."""
        self.warnings.append(text)


def readable_time(seconds: float) -> str:
    """Return a duration as people say it: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
