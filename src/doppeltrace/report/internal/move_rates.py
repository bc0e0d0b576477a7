"""When people move: the share of events at another place than the instant before, by slot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.report.figures.encoding import plain
from doppeltrace.traces import SyntheticTraces, Traces
from doppeltrace.utility.summary import in_chunks


@dataclass(frozen=True)
class MoveRates:
    """Shares of events that are elsewhere than their user was one instant before.

    Attributes
    ----------
    real, synthetic : (n_slots,) the share among events with an event just before; None where
        a slot has none.
    real_mean, synthetic_mean : over the slots, each weighted by the real events in it.
    difference, training, uniform : mean absolute difference from `real`, with the same weights,
        of the synthetic traces, of the training users, and of places drawn at random.
    """

    real: list[float | None]
    synthetic: list[float | None]
    real_mean: float | None
    synthetic_mean: float | None
    difference: float | None
    training: float | None
    uniform: float | None


def moves_per_slot(
    traces: Traces | SyntheticTraces,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (n_slots,) events elsewhere than one instant before, and all that follow one."""
    n_slots = traces.clock.n_slots
    moved = seen = np.zeros(n_slots, dtype=np.int64)
    for part in in_chunks(traces):
        _, origin, destination, slot = part.transitions()
        seen = seen + np.bincount(slot, minlength=n_slots)
        moved = moved + np.bincount(slot[origin != destination], minlength=n_slots)
    return moved, seen


def move_rates(real: Traces, made: SyntheticTraces, train: Traces) -> MoveRates:
    """Compare when people move."""
    moved, seen = moves_per_slot(real)
    share = _shares(moved, seen)
    synthetic, training = (_shares(*moves_per_slot(traces)) for traces in (made, train))
    uniform = np.full(len(share), 1.0 - 1.0 / len(real.places))
    return MoveRates(
        real=plain(share),
        synthetic=plain(synthetic),
        real_mean=_mean(share, seen),
        synthetic_mean=_mean(synthetic, seen),
        difference=_mean(np.abs(synthetic - share), seen),
        training=_mean(np.abs(training - share), seen),
        uniform=_mean(np.abs(uniform - share), seen),
    )


def _shares(moved: NDArray[np.int64], seen: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = np.full(len(seen), np.nan)
    return np.divide(moved, seen, out=shares, where=seen > 0)


def _mean(values: NDArray[np.float64], weight: NDArray[np.int64]) -> float | None:
    """Return the weighted mean of what is known, None if nothing is."""
    known = np.isfinite(values) & (weight > 0)
    return float(np.average(values[known], weights=weight[known])) if known.any() else None
