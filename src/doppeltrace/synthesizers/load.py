"""Models from files."""

from __future__ import annotations

from pathlib import Path

from doppeltrace import synthesizers
from doppeltrace.errors import InputError, require
from doppeltrace.io.dataset import Dataset
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.checks import training_traces
from doppeltrace.synthesizers.model_file import TRAIN_AGAIN, fingerprint, read_model
from doppeltrace.traces import Traces


def load(
    path: str | Path, *, train: Traces | Dataset | None = None, threads: int | None = None
) -> Synthesizer:
    """Return the model of a file that `save` wrote; it draws the same traces from a seed.

    The file is enough: to draw traces, and to test them, where the model can be tested. Owners
    of its traces are the positions of the users in the training traces, as for the fitted model.
    It holds profiles of these users, so it is as secret as they are.

    Parameters
    ----------
    train : the training traces, for what needs them (`model.train`); they must be those that the
        model was fitted to.
    threads : number of threads, or None for all cores.
    """
    arrays, about = read_model(Path(path))
    kind = synthesizers.MODELS.get(about.get("model", ""))
    if kind is None or "fitted" not in about:
        raise InputError(
            f"{path} is not the file of a model that this version knows: {TRAIN_AGAIN}"
        )
    require(
        train is None or kind.keeps_traces,
        f"{kind.__name__} keeps no traces of its input: leave train out",
    )
    traces = None if train is None else training_traces(train, "train")
    if traces is not None and about["data"] != fingerprint(traces):
        raise InputError(f"{path} was made from other data: use the same input")
    model = kind(**about["settings"], seed=int(about["seed"]), threads=threads)
    model._set_saved(arrays, about, traces)
    return model
