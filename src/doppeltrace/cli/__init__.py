"""The command line: `doppeltrace demo`, `synthesize`, `validate`, `evaluate` and the others.

Nothing is imported here, so that an interruption is quiet from the first moment on.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, leave_at_once)
    signal.signal(signal.SIGTERM, _terminate)
    from doppeltrace.cli.program import app

    app()


def leave_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """Leave while modules are loaded, when there is nothing to clear up yet."""
    os.write(2, b"interrupted\n")
    os._exit(128 + number)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)  # so that half-written output is removed on the way out
