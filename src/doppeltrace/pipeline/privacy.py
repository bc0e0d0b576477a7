"""What a model with differential privacy needs of a run: public inputs, a ledger of budgets."""

from __future__ import annotations

from doppeltrace.crowd import budget
from doppeltrace.errors import OutputError, SettingsError
from doppeltrace.io.dataset import Dataset
from doppeltrace.pipeline.source import Data, Source
from doppeltrace.progress import Monitor
from doppeltrace.synthesizers import Synthesizer


def is_private(model: Synthesizer) -> bool:
    """Tell whether everything the model gives has differential privacy."""
    return model.guarantee is not None and model.guarantee.kind == "differential privacy"


def require_public_inputs(model: Synthesizer, data: Data) -> None:
    """Refuse places or a clock that the reader took from the rows: no noise covers them.

    Of traces that were not read from a file nobody can tell; then it is the caller's word.
    """
    if not is_private(model) or not isinstance(data, Dataset) or not data.validation.derived:
        return
    raise SettingsError(
        f"model={model.name} promises differential privacy, which does not cover "
        + "; nor ".join(data.validation.derived),
        "model",
    )


def spend(model: Synthesizer, source: Source, data: str, monitor: Monitor) -> None:
    """Enter a fit in the ledger beside the input, before it is made; say what all come to.

    data : fingerprint of the traces.
    """
    if not is_private(model) or source.file is None:
        return
    assert model.guarantee is not None
    spent = model.guarantee.parameters
    file = budget.ledger_file(source.file)
    try:
        total = budget.spend(
            file, data, spent["epsilon"], spent["delta"], purpose=f"model={model.name}"
        )
    except OutputError as error:
        monitor.warn(
            f"the ledger of privacy budgets cannot be kept beside the input ({error}): count the "
            "fits on these data yourself, since their ε add up"
        )
        return
    monitor.say(f"  the privacy budget that this fit spends is entered in {file}")
    if total.warning is not None:
        monitor.warn(total.warning)
