"""What signals do to the program."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def while_loading() -> None:
    """Leave at once on Ctrl-C, without a word of Python's: there is nothing to clear up yet."""
    signal.signal(signal.SIGINT, _leave_at_once)
    signal.signal(signal.SIGTERM, _terminate)


def while_working() -> None:
    """Clear up on Ctrl-C, from now on."""
    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave_at_once(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"error: interrupted\n")
    os._exit(128 + number)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)  # so that half-written output is removed on the way out
