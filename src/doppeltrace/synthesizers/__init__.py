"""The front doors: every synthesizer has the same `fit` and `sample`."""

from doppeltrace.synthesizers.base import Synthesizer

MODELS: dict[str, type[Synthesizer]] = {}
"""Name on the command line → synthesizer."""

__all__ = ["MODELS", "Synthesizer"]
