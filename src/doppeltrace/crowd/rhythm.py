"""When people stay and when they move: shares of (moved before?, moves now?) at every step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.shrink import correction, shrink
from doppeltrace.crowd.statistics import Noisy

Floats = NDArray[np.float64]

REPEAT_STAYS = np.array([0.05, 0.2, 0.4, 0.6, 0.85])
"""Share of steps that stay, by class of check-in users: check-ins do not record staying, so a
trace repeats places as often as the users' events do."""
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
    if "repeats" in tables:
        weight, moving = _repeating(tables["repeats"], len(noisy))
        model = np.broadcast_to(model, (*model.shape[:3], len(weight)))
        return _steps(model, moving, slots), weight
    weight = model.sum(axis=(0, 1, 2))
    weight /= weight.sum()
    return _steps(model, _moving(model, weight, tables["stays"]), slots), weight


def _repeating(repeats: Noisy, n_slots: int) -> tuple[Floats, Floats]:
    """Return the weights of the classes of check-in users, and (L, Q) how often they move."""
    even = np.full(len(REPEAT_STAYS), max(repeats.value.sum(), 1.0) / len(REPEAT_STAYS))
    weight = shrink(repeats.value, even, repeats.sigma, 1.0)
    moving = np.broadcast_to(1 - REPEAT_STAYS, (n_slots, len(REPEAT_STAYS)))
    return weight / weight.sum(), moving


def _steps(model: Floats, moving: Floats, slots: NDArray[np.int64]) -> Floats:
    """Return (T − 1, 2, 2, Q) shares with the margins `moving` (L, Q)."""
    steps = np.empty((len(slots) - 1, *model.shape[1:]))
    for i, (before, now) in enumerate(zip(slots[:-1], slots[1:], strict=True)):
        for q in range(model.shape[3]):
            steps[i, :, :, q] = _with_margins(
                model[now, :, :, q], moving[before, q], moving[now, q]
            )
    return steps


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
    share = np.clip(share, _BOUND, 1 - _BOUND)
    now = model.sum(axis=1)[:, 1] / model.sum(axis=(1, 2))
    odds = np.log(now / (1 - now))
    for _ in range(20):
        together = (weight / (1 + np.exp(-odds))).sum(axis=1)
        odds += (np.log(share / (1 - share)) - np.log(together / (1 - together)))[:, None]
    result: NDArray[np.float64] = np.clip(1 / (1 + np.exp(-odds)), 0.002, 0.998)
    return result


def _with_margins(table: Floats, before: float, now: float) -> Floats:
    """Return the 2 × 2 table with these margins and the odds ratio of the one given."""
    rows, columns = np.array([1 - before, before]), np.array([1 - now, now])
    found = table / table.sum()
    for _ in range(25):
        found = found * (rows / found.sum(axis=1))[:, None]
        found = found * (columns / found.sum(axis=0))
    result: NDArray[np.float64] = found
    return result
