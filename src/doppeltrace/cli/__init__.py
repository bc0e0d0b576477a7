"""The command line: `doppeltrace demo`, `synthesize`, `validate`, `evaluate` and the others.

Hardly anything is imported here, so that an interruption is quiet from the first moment on.
"""

from __future__ import annotations

from doppeltrace.cli.signals import while_loading


def main() -> None:
    """Run the command line."""
    while_loading()
    from doppeltrace.cli.program import app

    app()
