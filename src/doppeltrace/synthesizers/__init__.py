"""The front doors: every synthesizer has the same `fit` and `sample`."""

from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.itf import ITF
from doppeltrace.synthesizers.ppmtf import PPMTF

MODELS: dict[str, type[Synthesizer]] = {model.name: model for model in (PPMTF, ITF)}
"""Name on the command line → synthesizer."""

__all__ = ["ITF", "MODELS", "PPMTF", "Synthesizer"]
