"""The few exceptions a user meets.

Each message is one line that names what is wrong (file and row, or option) and the remedy.
The command line prints it and exits with status 2.
"""


class DoppeltraceError(Exception):
    """Base of every error that is the caller's to mend."""


class InputError(DoppeltraceError, ValueError):
    """The data cannot be used as they are; the message names file, row and remedy."""


class SettingsError(DoppeltraceError, ValueError):
    """A setting is out of its range; the message names the setting and its range."""


class NotFittedError(DoppeltraceError, RuntimeError):
    """A synthesizer was asked for something that needs `fit` first."""


class OutputError(DoppeltraceError, OSError):
    """A result cannot be written; nothing was left half-written."""


def require(condition: bool, message: str) -> None:
    """Raise `SettingsError(message)` unless the condition holds."""
    if not condition:
        raise SettingsError(message)
