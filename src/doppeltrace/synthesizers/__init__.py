"""The front doors: every synthesizer has the same `fit` and `sample`."""

from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.crowd import Crowd
from doppeltrace.synthesizers.doppel import Doppel
from doppeltrace.synthesizers.dp_baselines import DPIndependent, DPMarkov, DPNGram
from doppeltrace.synthesizers.frozen import Frozen
from doppeltrace.synthesizers.independent import Independent
from doppeltrace.synthesizers.itf import ITF
from doppeltrace.synthesizers.ppmtf import PPMTF
from doppeltrace.synthesizers.sgd import SGD
from doppeltrace.synthesizers.sglt import SGLT
from doppeltrace.synthesizers.training import Training
from doppeltrace.synthesizers.uniform import Uniform

MODELS: dict[str, type[Synthesizer]] = {
    model.name: model
    for model in (
        Doppel,
        Crowd,
        PPMTF,
        ITF,
        SGD,
        SGLT,
        DPIndependent,
        DPMarkov,
        DPNGram,
        Frozen,
        Independent,
        Uniform,
        Training,
    )
}
"""Name on the command line → synthesizer."""

__all__ = [
    "Crowd",
    "DPIndependent",
    "DPMarkov",
    "DPNGram",
    "Doppel",
    "Frozen",
    "ITF",
    "Independent",
    "MODELS",
    "PPMTF",
    "SGD",
    "SGLT",
    "Synthesizer",
    "Training",
    "Uniform",
]
