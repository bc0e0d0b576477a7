"""Two channels: results go to standard output, everything said on the way to standard error."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console
from rich.markup import escape

results = Console(highlight=False, soft_wrap=True)
asides = Console(stderr=True, highlight=False, soft_wrap=True)

BAD_INPUT = 2
BLOCKED = 3
INTERRUPTED = 130


def say(text: str, console: Console = asides) -> None:
    """Tell the user something on the way."""
    console.print(escape(text))


def warn(text: str, console: Console = asides) -> None:
    """Print one line that must not be overlooked."""
    console.print(f"[bold yellow]warning:[/] {escape(text)}")


def fail(text: str, status: int = BAD_INPUT) -> NoReturn:
    """Print one line and leave."""
    asides.print(f"[bold red]error:[/] {escape(text)}")
    raise typer.Exit(status)
