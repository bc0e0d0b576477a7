"""What the first look decides: the style of the data, the clips, and how many users there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.ledger import Ledger
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.statistics import FIRST_LOOK, NORM_BINS, Clips, Style

DENSE_SHARE = 0.5
"""Share of events that follow another one instant before, from which on data are dense."""

EDGES = 2.0 ** (np.arange(NORM_BINS) / 4 - 1)
"""Upper edges of the bins of norms."""
TYPICAL = EDGES * 2 ** (-1 / 8)
"""Typical norms of the bins."""

UNCAPPED = 0.9
"""Share of the users who are not scaled down where there is no noise."""

_SURE = 3.5  # σ from which on a bin is believed: one in 4,000 empty ones is
_TYPICAL_SHARE = 0.15  # of ρ, for the noise that a clip is weighed against
_NOISE_WEIGHT = 0.13  # how much of the noise survives the shrinkage, roughly
_BIAS_WEIGHT = 0.3  # how different users with many events are from the others, roughly


@dataclass(frozen=True, eq=False)
class FirstLook:
    """Noisy answers of the first pass.

    Attributes
    ----------
    users : noisy number of users, at least 1.
    style, clips : chosen from noisy numbers.
    events_per_day : (T,) weights of 1 … T events on a day, sum 1.
    visits_square : sum over users of the square of their clipped norm of visits.
    """

    users: float
    style: Style
    clips: Clips
    events_per_day: NDArray[np.float64]
    visits_square: float


def release_first_look(
    ledger: Ledger, vector: NDArray[np.int64], public: PublicInputs, style: Style | None
) -> FirstLook:
    """Add noise to the first pass and decide."""
    cuts = np.cumsum([1, 1, NORM_BINS, NORM_BINS])
    answers = [
        ledger.release(name, total, 1.0, share)
        for (name, share), total in zip(FIRST_LOOK.items(), np.split(vector, cuts), strict=True)
    ]
    users = max(float(answers[0][0][0]), 1.0)
    if style is None:
        style = "dense" if answers[1][0][0] >= DENSE_SHARE * users else "checkins"
    unit = 0.0 if math.isinf(ledger.rho) else 1 / math.sqrt(2 * ledger.rho * _TYPICAL_SHARE)
    cells = public.n_slots * public.n_places
    n_flows = (int(public.levels[-1].max()) + 1) ** 2
    visits, kept_visits = choose_clip(*answers[2], cells, unit)
    moves, kept_moves = choose_clip(*answers[3], n_flows, unit)
    clipped = np.minimum(TYPICAL, visits)
    return FirstLook(
        users=users,
        style=style,
        clips=Clips(visits, moves, kept_visits, kept_moves),
        events_per_day=_histogram(*answers[4]),
        visits_square=float((np.maximum(answers[2][0], 0.0) * clipped**2).sum()),
    )


def choose_clip(
    norms: NDArray[np.float64], sigma: float, cells: int, unit: float
) -> tuple[float, float]:
    """Return (clip, share of the counts that it keeps): noise against unequal weights of users.

    A clip scales down users of larger norms. If all are scaled alike, nothing is lost; what
    counts is the noise relative to what is kept, and how far weights differ between users.

    norms : noisy histogram of users' norms; unit : σ of a table with clip 1.
    """
    weight = np.where(norms > _SURE * sigma, norms, 0.0)
    if weight.sum() <= 0:
        return float(EDGES[NORM_BINS // 4]), 1.0
    mass = weight * TYPICAL
    mass /= mass.sum()
    scale = np.minimum(1.0, EDGES[:, None] / TYPICAL)  # (clip, norm)
    mean = scale @ mass
    unequal = (np.abs(scale - mean[:, None]) @ mass) / (2 * mean)
    noise = unit * EDGES * cells / (mean * (weight * TYPICAL).sum())
    if unit == 0:  # no noise to balance: a cap that few users exceed
        best = int(np.searchsorted(np.cumsum(weight), UNCAPPED * weight.sum()))
        return float(EDGES[best]), float(mean[best])
    loss = _NOISE_WEIGHT * noise + _BIAS_WEIGHT * unequal
    best = int(np.flatnonzero(loss <= 1.02 * loss.min())[-1])  # alike: the one that keeps more
    return float(EDGES[best]), float(mean[best])


def _histogram(value: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Return weights of a noisy histogram, where noise alone counts as nothing."""
    weight = np.where(value > _SURE * sigma, value, 0.0)
    if weight.sum() <= 0:
        weight = np.zeros_like(value)
        weight[-1] = 1.0
    result: NDArray[np.float64] = weight / weight.sum()
    return result
