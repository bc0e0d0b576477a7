"""The program and its commands, each of which is loaded when it is called.

`doppeltrace --help` and `--version` load none of them, so they answer at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from doppeltrace import __version__
from doppeltrace.cli.console import BAD_INPUT, BLOCKED, INTERRUPTED, fail, results
from doppeltrace.cli.signals import while_working
from doppeltrace.cli.wording import told
from doppeltrace.errors import DoppeltraceError, ReleaseBlockedError


class Entry(NamedTuple):
    """A command: the module and the function, and the first sentence of its help."""

    module: str
    function: str
    help: str


COMMANDS = {
    "demo": Entry(
        "demo",
        "demo",
        "Simulate a city, make synthetic traces of it, test, release and score them.",
    ),
    "synthesize": Entry(
        "synthesize",
        "synthesize",
        "Make synthetic traces of INPUT, test each of them, and release those that pass.",
    ),
    "sample": Entry("sample", "sample", "Draw traces from a model that `synthesize` kept."),
    "validate": Entry(
        "inspect",
        "validate",
        "Read INPUT and say what would be kept, dropped and merged; write nothing.",
    ),
    "evaluate": Entry(
        "inspect",
        "evaluate",
        "Score synthetic traces: how useful they are, and how well attacks on them do.",
    ),
    "compare": Entry(
        "compare",
        "compare",
        "Fit several models to the same data and compare utility, attacks, time and memory.",
    ),
    "tune": Entry("tune", "tune", "Choose settings of a model by cross-validation on INPUT."),
    "audit": Entry(
        "audit", "audit", "Attack releases of INPUT as a stranger would, before you publish one."
    ),
    "report": Entry("report", "report", "Make the report and the datasheet of a run again."),
    "export": Entry(
        "export",
        "export",
        "Write the released traces of RUN_DIR in the format of another program.",
    ),
}


class Command(TyperCommand):
    """A command whose flags show as flags in its help, without a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        return _plain_flags(super().get_params(ctx))


class Program(TyperGroup):
    """Loads commands when they are called; turns errors and interruptions into one line."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return what the help needs to know of a command."""
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else TyperCommand(cmd_name, help=entry.help)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command that was called, the command, and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        return _plain_flags(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was called."""
        try:
            return super().invoke(ctx)
        except ReleaseBlockedError as error:
            fail(told(error), BLOCKED)
        except DoppeltraceError as error:
            fail(told(error), BAD_INPUT)
        except MemoryError:
            fail(
                "not enough memory: close other programs, or take fewer places (--top-places), "
                "factors, or traces per user; what was kept is there for --resume",
                BAD_INPUT,
            )
        except KeyboardInterrupt:
            fail("interrupted; nothing was left half-written", INTERRUPTED)


def load(name: str) -> Any:
    """Return a command, ready to run."""
    entry = COMMANDS[name]
    function = getattr(import_module(f"doppeltrace.cli.{entry.module}"), entry.function)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=Command, context_settings=CONTEXT)(function)
    command = typer.main.get_command(alone)
    while_working()
    return command


def _plain_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


def _print_version(asked: bool) -> None:
    if asked:
        results.print(__version__)
        raise typer.Exit


CONTEXT = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="doppeltrace",
    cls=Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


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

    Exit status: 0 done; 2 something must be changed (one line says what;
    nothing was written); 3 the release was held back, since it would give
    places of few people away (nothing was written), or the audit is red;
    130 interrupted, 143 ended by a signal.
    """
