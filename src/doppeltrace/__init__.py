"""doppeltrace: synthetic location traces that are useful, private and fast to make."""

from doppeltrace.errors import DoppeltraceError, InputError, NotFittedError, SettingsError
from doppeltrace.traces import Bounds, Clock, Places, SyntheticTraces, Traces

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "Clock",
    "DoppeltraceError",
    "InputError",
    "NotFittedError",
    "Places",
    "SettingsError",
    "SyntheticTraces",
    "Traces",
]
