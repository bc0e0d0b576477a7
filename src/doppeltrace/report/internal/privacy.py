"""What attacks and the deniability test found, as the page tells it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.attacks import (
    Copies,
    Membership,
    Reidentification,
    copy_check,
    reidentification,
)
from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.report.internal.run_summary import RunSummary
from doppeltrace.traces import SyntheticTraces, Traces

CURVE_POINTS = 60


@dataclass(frozen=True)
class Privacy:
    """Attacks and test; None where something was not measured.

    Attributes
    ----------
    reidentification, membership : rates with intervals and chance.
    copies, test_copies : shared runs of the released and of the testing traces.
    pass_rates : (k, share of the traces made with at least k plausible users), rising in k;
        empty where every trace passes at any k for a reason that protects nobody.
    still : share of the released traces whose events are all at one place.
    users : training users.
    longest_possible : events of a synthetic trace.
    """

    reidentification: dict[str, Any] | None
    membership: dict[str, Any] | None
    copies: dict[str, Any] | None
    test_copies: dict[str, Any] | None
    pass_rates: list[tuple[int, float]]
    still: float
    users: int
    longest_possible: int


def privacy(
    train: Traces,
    made: SyntheticTraces,
    score: Scorecard | None,
    run: RunSummary,
    plausible: NDArray[np.int64] | None,
) -> Privacy:
    """Take the scorecard's attacks; without one, run those that need no testing users."""
    if score is not None:
        named, member = score.reidentification, score.membership
        copied, test_copied = score.copies, score.test_copies
    else:
        member = test_copied = None
        named = reidentification(train, made) if len(made) else None
        copied = copy_check(train, made) if len(made) else None
    most = train.n_users if run.counted_all else int(run.guarantee.parameters.get("k", 0))
    return Privacy(
        reidentification=_figures(named),
        membership=_figures(member),
        copies=_figures(copied),
        test_copies=_figures(test_copied),
        pass_rates=[] if run.guarantee.vacuous else pass_rates(plausible, most),
        still=still_share(made),
        users=train.n_users,
        longest_possible=made.locations.shape[1],
    )


def still_share(made: SyntheticTraces) -> float:
    """Return the share of the traces with all events at one place."""
    if len(made) == 0:
        return 0.0
    places = made.locations
    first = np.take_along_axis(places, np.argmax(places >= 0, axis=1)[:, None], axis=1)
    return float(((places == first) | (places < 0)).all(axis=1).mean())


def pass_rates(plausible: NDArray[np.int64] | None, most: int) -> list[tuple[int, float]]:
    """Return the share of traces with at least k plausible users, for k from 1 to `most`.

    At most `CURVE_POINTS` of them, evenly on a logarithmic scale.
    """
    if plausible is None or len(plausible) == 0 or most < 1:
        return []
    ks = np.unique(np.rint(np.geomspace(1, most, CURVE_POINTS)).astype(np.int64))
    ordered = np.sort(plausible)
    at_least = len(ordered) - np.searchsorted(ordered, ks, side="left")
    rates = at_least / len(ordered)
    last = np.flatnonzero(rates > 0)[-1] if rates.any() else 0
    pairs = zip(ks.tolist(), rates.tolist(), strict=True)
    return list(pairs)[: last + 2]  # beyond the first zero all are zero


def _figures(found: Reidentification | Membership | Copies | None) -> dict[str, Any] | None:
    """Return what was found, as far as the page tells it; None for what is not a number.

    Not the rates per replicate, of which there may be many, nor the attacker's threshold: a
    likelihood of real people, and ∞ where the best attack is to accuse nobody.
    """
    if found is None:
        return None
    left_out = ("per_replicate", "threshold")
    figures = {name: value for name, value in asdict(found).items() if name not in left_out}
    return {
        name: value if value is not None and math.isfinite(value) else None
        for name, value in figures.items()
    }
