"""Progress and time left for each phase: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from doppeltrace.cli import console as channels
from doppeltrace.cli.wording import remark
from doppeltrace.progress import Step, readable_time

SECONDS_BETWEEN_LINES = 3.0


class Reporter:
    """The `Monitor` of a terminal: shows where the work stands, and keeps each phase's time.

    Attributes
    ----------
    seconds : phase → time it took, in the order of the phases.
    """

    def __init__(
        self, console: Console = channels.asides, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds: dict[str, float] = {}
        self._console = console
        self._now = now
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._started: dict[str, tuple[float, int]] = {}
        self._last_line = -float("inf")

    @contextmanager
    def phase(self, name: str, note: str = "", *, part: bool = False) -> Iterator[Reporter]:
        """Time a phase; steps reported inside it may have phases of their own.

        part : whether this is one of several that together make the phase.
        """
        began = self._now()
        before = self.seconds.get(name, 0.0) if part else 0.0
        self._started.clear()
        if self._console.is_terminal:
            self._bars = self._bars or self._new_bars()
            self._bars.start()
            self._bars.update(self._task(name, None), figures=note)
        else:
            self._console.print(f"{name} … {f'({note})' if note else ''}".rstrip())
        try:
            yield self
        finally:
            self.seconds[name] = before + self._now() - began
            if self._bars is not None:
                for task in self._bars.tasks:
                    if task.total is None:
                        self._bars.update(task.id, total=1, completed=1)
                self._bars.stop()
        if not self._console.is_terminal:
            self._console.print(f"{name} done in {readable_time(self.seconds[name])}")

    def __call__(self, step: Step) -> None:
        """Show one step."""
        now = self._now()
        began, before = self._started.setdefault(step.phase, (now, step.done))
        figures = "  ".join(f"{name} {value:.4g}" for name, value in step.figures.items())
        if self._bars is not None:
            self._bars.update(
                self._task(step.phase, step.total),
                total=step.total,
                completed=step.done,
                figures=figures,
            )
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            # the first step starts the watch, so it is not among those that were timed
            rate = (now - began) / max(step.done - before, 1)
            left = rate * (step.total - step.done)
            estimate = f"  {readable_time(left)} left" if step.done > before else ""
            self._console.print(
                f"{step.phase} {step.done:,}/{step.total:,}{estimate}  {figures}".rstrip()
            )

    def say(self, text: str) -> None:
        """Show a remark."""
        channels.say(remark(text), self._console)

    def warn(self, text: str) -> None:
        """Show what must not be overlooked."""
        channels.warn(remark(text), self._console)

    def _task(self, name: str, total: int | None) -> TaskID:
        assert self._bars is not None
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total, figures="")
        return self._tasks[name]

    def _new_bars(self) -> Progress:
        return Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=self._console,
        )
