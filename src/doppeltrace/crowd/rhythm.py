"""When people stay and when they move: shares of (moved before?, moves now?) at every step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.shrink import correction
from doppeltrace.crowd.statistics import Noisy

Floats = NDArray[np.float64]

CHECKIN_STAY = 2 / 3
"""Share of steps that stay where the data do not record staying."""
_AXES = ((0, 3), (0,), (3,), ())  # overall, by class, by slot, by both
_BOUND = 0.02


def rhythm(tables: Mapping[str, Noisy], slots: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the rhythm of each step, and the weights of the mobility classes.

    Returns
    -------
    steps : (T − 1, 2, 2, Q) shares of (moved before?, moves now?), sum 1 for each class.
    weight : (Q,) of the classes, sum 1.
    """
    noisy, sigma = tables["persistence"]
    model = np.full(noisy.shape, max(noisy.sum(), 4 * sigma, 1.0) / noisy.size)
    for axes in _AXES:
        cells = int(np.prod([noisy.shape[a] for a in axes])) if axes else 1
        total, predicted = (t.sum(axis=axes, keepdims=True) for t in (noisy, model))
        model = model * correction(total, predicted, sigma * np.sqrt(cells), 1.0)
    model = np.maximum(model, 1e-4 * model.mean())
    weight = model.sum(axis=(0, 1, 2))
    weight /= weight.sum()
    moving = _moving(model, weight, tables["stays"])
    steps = np.empty((len(slots) - 1, *noisy.shape[1:]))
    for i, (before, now) in enumerate(zip(slots[:-1], slots[1:], strict=True)):
        for q in range(noisy.shape[3]):
            steps[i, :, :, q] = _with_margins(
                model[now, :, :, q], moving[before, q], moving[now, q]
            )
    return steps, weight


def stay_share(stays: Noisy) -> float:
    """Return the share of all steps that stay."""
    counts, sigma = stays
    both = float(counts.sum())
    if both <= 4 * sigma * np.sqrt(counts.size):
        return 0.5
    return float(np.clip(counts[:, 0].sum() / both, 0.0, 0.95))


def _moving(model: Floats, weight: Floats, stays: Noisy) -> Floats:
    """Return (L, Q) the share that moves in each slot: classes together as often as counted."""
    counts, sigma = stays
    both = counts.sum(axis=1)
    overall = counts[:, 1].sum() / max(both.sum(), 1.0)
    known = both > 12 * max(sigma, 0.5)
    share = np.where(known, counts[:, 1] / np.maximum(both, 1.0), overall)
    if overall > 0.8:
        share = np.full(len(both), 1 - CHECKIN_STAY)
    share = np.clip(share, _BOUND, 1 - _BOUND)
    now = model.sum(axis=1)[:, 1] / model.sum(axis=(1, 2))
    odds = np.log(now / (1 - now))
    for _ in range(20):
        together = (weight / (1 + np.exp(-odds))).sum(axis=1)
        odds += (np.log(share / (1 - share)) - np.log(together / (1 - together)))[:, None]
    return np.clip(1 / (1 + np.exp(-odds)), 0.002, 0.998)


def _with_margins(table: Floats, before: float, now: float) -> Floats:
    """Return the 2 × 2 table with these margins and the odds ratio of the one given."""
    rows, columns = np.array([1 - before, before]), np.array([1 - now, now])
    found = table / table.sum()
    for _ in range(25):
        found = found * (rows / found.sum(axis=1))[:, None]
        found = found * (columns / found.sum(axis=0))
    return found
