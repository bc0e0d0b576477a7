"""The command line: `doppeltrace demo`, `synthesize`, `validate`, `evaluate` and the others."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from doppeltrace import __version__
from doppeltrace.cli.compare import compare
from doppeltrace.cli.console import BAD_INPUT, INTERRUPTED, fail, results
from doppeltrace.cli.demo import demo
from doppeltrace.cli.export import export
from doppeltrace.cli.inspect import evaluate, validate
from doppeltrace.cli.report import report
from doppeltrace.cli.synthesize import synthesize
from doppeltrace.errors import DoppeltraceError


class _Guarded(TyperGroup):
    """Turns what a user can mend, and interruptions, into one line and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except DoppeltraceError as error:
            fail(" ".join(str(error).split()), BAD_INPUT)
        except MemoryError:
            fail(
                "not enough memory: close other programs, or take fewer places (--top-places), "
                "factors, or traces per user; what was kept is there for --resume",
                BAD_INPUT,
            )
        except KeyboardInterrupt:
            fail("interrupted; nothing was left half-written", INTERRUPTED)


app = typer.Typer(
    name="doppeltrace",
    cls=_Guarded,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(synthesize)
app.command()(validate)
app.command()(evaluate)
app.command()(compare)
app.command()(report)
app.command()(export)


def _print_version(asked: bool) -> None:
    if asked:
        results.print(__version__)
        raise typer.Exit


@app.callback()
def _doppeltrace(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Synthetic location traces that are useful, private and fast to make.

    Start with `doppeltrace demo`; then `doppeltrace validate INPUT` and
    `doppeltrace synthesize INPUT --out DIR` with data of your own.

    Exit status: 0 done, 2 something to mend (one line says what; nothing was
    written), 130 interrupted.
    """


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)  # so that half-written output is removed on the way out


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _terminate)
    app()
