"""When people move: the share of events at another place than the instant before, by slot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.report.figures.encoding import plain
from doppeltrace.utility.move_rates import move_rates
from doppeltrace.utility.summary import Summary


@dataclass(frozen=True)
class MoveRates:
    """Shares of events that are elsewhere than their user was one instant before.

    Attributes
    ----------
    real, synthetic : (n_slots,) the share among events with an event just before; None where
        a slot has none.
    real_mean, synthetic_mean : over the slots, each weighted by the real events in it.
    """

    real: list[float | None]
    synthetic: list[float | None]
    real_mean: float | None
    synthetic_mean: float | None


def compare_move_rates(real: Summary, made: Summary) -> MoveRates:
    """Compare when people move."""
    weight = real.moves[:, 1]
    rates, made_rates = move_rates(real.moves), move_rates(made.moves)
    return MoveRates(
        real=plain(rates),
        synthetic=plain(made_rates),
        real_mean=_mean(rates, weight),
        synthetic_mean=_mean(made_rates, weight),
    )


def _mean(values: NDArray[np.float64], weight: NDArray[np.int64]) -> float | None:
    """Return the weighted mean of what is known, None if nothing is."""
    known = np.isfinite(values) & (weight > 0)
    return float(np.average(values[known], weights=weight[known])) if known.any() else None
