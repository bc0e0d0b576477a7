"""How many people are where, when: from coarse to fine in space, by frequency in time.

Each map (4, 16, 64 groups, places) corrects what the coarser ones predict. A cell's course over
the slots is corrected in its cosine transform, whose noise is white and whose signal is mostly
in the low frequencies: each band of frequencies is shrunk by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct

from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.shrink import FLOOR, shrink_residuals
from doppeltrace.crowd.statistics import Noisy

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

BANDS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 18, 25, 40, 64, 100)
"""Frequencies at which a new band begins."""
_REPEATED = (1.0, 0.85, 0.7, 0.6)  # a user counts less often in one cell of a finer map
ROUNDS = 2
"""Times that the maps are gone through: the second time the coarse ones know the fine ones."""


def population(
    tables: Mapping[str, Noisy],
    public: PublicInputs,
    repeats: float,
    stay: float,
    prior: Floats | None = None,
) -> Floats:
    """Return (L, X) expected visits, positive everywhere.

    repeats : variance over mean of visits on the coarsest map; see `people.repeats`.
    stay : share of steps that stay: how far sampling noise is alike in neighbouring slots.
    prior : (L, X) what the maps correct; by default everybody is anywhere.
    """
    n_slots, n_places = public.n_slots, public.n_places
    labels = [*public.levels, np.arange(n_places)]
    maps = _combined([t for name, t in tables.items() if name.startswith("visits")], labels)
    total = max(maps[0][0].value.sum(), 1.0)
    model = np.full((n_slots, n_places), 1.0) if prior is None else np.maximum(prior, 0.0)
    model = model + 1e-6 * model.mean()
    model *= total / model.sum()
    spectrum = _spectrum(n_slots, stay)
    for _ in range(ROUNDS):
        for (noisy, variance), label, power in zip(maps, labels, _REPEATED, strict=True):
            sampling = repeats**power * spectrum
            predicted = add_columns(model, label)
            value = noisy.beside(predicted)
            model *= _factor(value, variance, predicted, sampling)[:, label]
    result: NDArray[np.float64] = np.maximum(model, 1e-9 * model.mean())
    return result


def _factor(value: Floats, variance: Floats, predicted: Floats, sampling: Floats) -> Floats:
    """Return (L, G) the factor from the prediction to the estimate.

    value, variance : (L, G) and (G,) noisy counts, and variance of their noise.
    sampling : (L,) variance over mean of the counts' own sampling, by frequency.
    """
    n_slots = len(value)
    m = np.maximum(predicted, 1e-12)
    residual = dct(value - m, axis=0, norm="ortho")
    size = np.broadcast_to(m.mean(axis=0), m.shape)
    noise = variance + sampling[:, None] * size
    edges = [b for b in BANDS if b < n_slots] + [n_slots]
    for low, high in zip(edges, edges[1:], strict=False):
        band = slice(low, high)
        residual[band] = shrink_residuals(residual[band], size[band], noise[band])
    result: NDArray[np.float64] = (
        np.maximum(m + idct(residual, axis=0, norm="ortho"), FLOOR * m) / m
    )
    return result


def _spectrum(n_slots: int, stay: float) -> Floats:
    """Return (L,) relative variances, by frequency, if people stay with this probability."""
    angle = np.pi * np.arange(n_slots) / n_slots
    return (1 - stay**2) / (1 - 2 * stay * np.cos(angle) + stay**2)


def _combined(maps: list[Noisy], labels: list[Labels]) -> list[tuple[Noisy, Floats]]:
    """Return each map with its variance (G,), joined with the sums of the finer ones.

    A group's own count and the sum of its parts are two estimates of one number; their mean by
    inverse variance is better than either. Without noise, its own count is all there is to know.
    """
    value = maps[-1].value
    variance = np.full(value.shape[1], maps[-1].sigma ** 2)
    found = [(maps[-1], variance)]
    for noisy, label, finer in zip(maps[-2::-1], labels[-2::-1], labels[:0:-1], strict=True):
        part_of = np.zeros(int(finer.max()) + 1, dtype=np.int64)
        part_of[finer] = label
        value, variance = add_columns(value, part_of), np.bincount(part_of, variance)
        own = noisy.sigma**2
        share = variance / (variance + own) if own > 0 else np.ones_like(variance)
        value = share * noisy.value + (1 - share) * value
        variance = share * own
        found.append((replace(noisy, value=value), variance))
    return found[::-1]


def add_columns(table: Floats, label: Labels) -> Floats:
    """Return (L, G) sums over the columns of each label."""
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return np.add.reduceat(table[:, order], starts, axis=1)
