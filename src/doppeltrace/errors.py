"""The few exceptions a user meets.

Each message is one line that names what is wrong (file and row, or option) and the remedy.
Options are named as in Python, and each error says which ones its message names: the command
line puts its own names in their place, prints the line, and exits with status 2, or 3 if a
release was held back.
"""


class DoppeltraceError(Exception):
    """Base of every error that the caller can put right.

    Attributes
    ----------
    options : Python names of the options in the message, each written as `name` or `name=value`.
    """

    def __init__(self, message: str = "", *options: str) -> None:
        super().__init__(message)
        self.options = options


class InputError(DoppeltraceError, ValueError):
    """The data cannot be used as they are; the message names file, row and remedy."""


class SettingsError(DoppeltraceError, ValueError):
    """A setting is out of its range; the message names the setting and its range."""


class NotFittedError(DoppeltraceError, RuntimeError):
    """A synthesizer was asked for something that needs `fit` first."""


class OutputError(DoppeltraceError, OSError):
    """A result cannot be written; nothing was left half-written."""


class ReleaseBlockedError(DoppeltraceError):
    """The traces give something of few people away, so nothing was released."""


def require(condition: bool, message: str, *options: str) -> None:
    """Raise `SettingsError(message, *options)` unless the condition holds."""
    if not condition:
        raise SettingsError(message, *options)
