"""Days: what the chain cannot hold is kept by choosing among its traces.

Every released trace is picked among a few candidates of the chain with probability in proportion
to exp(log weight), the weight being a product of factors: one per cell of each histogram of days
(places a day, moves, radius, …), one per stay by its length, one per instant and group of places.
The factors are fitted to that very way of picking, on a pool of candidates, so that histograms
and population hold after it. It is post-processing of noisy tables only.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd._day_kernels import OFFSETS
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.sampler import DayFactors, Presence, Sampler
from doppeltrace.crowd.shrink import shrink
from doppeltrace.crowd.statistics import Noisy, radius_scale

Wide = NDArray[np.float64]

POOL = 6_000
"""Groups of candidates in the pool."""
ROUNDS = 40
LIMIT = 4.0
"""Largest log factor."""
_CELL_STEP, _DWELL_STEP, _PLACE_STEP = 0.5, 0.3, 0.08


def fit_days(
    tables: Mapping[str, Noisy],
    population: Wide,
    sampler: Sampler,
    presence: Presence,
    public: PublicInputs,
    *,
    candidates: int,
    key: NDArray[np.uint64],
) -> DayFactors:
    """Return the factors.

    population : (T, X) share of people at each place.
    """
    group = public.levels[-1]
    n_groups, n = int(group.max()) + 1, public.n_instants
    factors = DayFactors(
        np.zeros(OFFSETS[-1]),
        np.zeros(tables["lengths of stay"].value.size),
        np.zeros((n, n_groups)),
        group,
    )
    traces, cells, dwells = sampler.pool(
        POOL, presence, public.points, radius_scale(public), candidates=candidates, key=key
    )
    at = cells.astype(np.int64) + np.array(OFFSETS[:-1])
    where = group[traces] + n_groups * np.arange(n)
    del traces, cells
    wanted, stays = _targets(tables, at, dwells)
    people = np.stack([np.bincount(group, row, minlength=n_groups) for row in population])
    for _ in range(ROUNDS):
        pick = _pick(factors, at, dwells, where)
        seen = _histogram(at, pick, OFFSETS[-1])
        _nudge(factors.cells, wanted, seen, _CELL_STEP)
        pick = _pick(factors, at, dwells, where)
        _nudge(factors.dwells, stays, (dwells * pick[..., None]).sum(axis=(0, 1)), _DWELL_STEP)
        seen = _histogram(where, pick, n * n_groups).reshape(n, n_groups)
        _nudge(factors.places, people, seen, _PLACE_STEP)
    return factors


def _targets(
    tables: Mapping[str, Noisy], at: NDArray[np.int64], dwells: NDArray[np.float32]
) -> tuple[Wide, Wide]:
    """Return shares of each histogram's cells, and stays per day by length.

    Both correct what the chain's own candidates have, as far as the noise allows.
    """
    even = np.full(at.shape[:2], 1 / (at.shape[0] * at.shape[1]))
    own = _histogram(at, even, OFFSETS[-1])
    value, sigma = tables["days"]
    wanted = np.empty_like(own)
    users = 1.0
    for low, high in zip(OFFSETS, OFFSETS[1:], strict=False):
        users = max(value[low:high].sum(), 1.0)
        estimate = shrink(value[low:high], own[low:high] * users, sigma, 1.0)
        estimate = np.where(own[low:high] > 0, estimate, 0.0)
        wanted[low:high] = estimate / max(estimate.sum(), 1e-12)
    users = max(
        np.mean([value[a:b].sum() for a, b in zip(OFFSETS, OFFSETS[1:], strict=False)]), 1.0
    )
    chains = (dwells * even[..., None]).sum(axis=(0, 1))
    stays, stay_sigma = tables["lengths of stay"]
    return wanted, shrink(stays, chains * users, stay_sigma, 1.0) / users


def _pick(
    factors: DayFactors,
    at: NDArray[np.int64],
    dwells: NDArray[np.float32],
    where: NDArray[np.int64],
) -> Wide:
    """Return (n, C) the probability that a candidate is picked, over all groups; sum 1."""
    score = factors.cells[at].sum(axis=2) + dwells @ factors.dwells.astype(np.float32)
    score += factors.places.ravel()[where].sum(axis=2)
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True) / len(weight)


def _histogram(cell: NDArray[np.int64], weight: Wide, size: int) -> Wide:
    spread = np.broadcast_to(weight[..., None], cell.shape)
    return np.bincount(cell.ravel(), spread.ravel(), minlength=size)


def _nudge(factor: Wide, wanted: Wide, seen: Wide, step: float) -> None:
    """Move log factors so that what is seen comes nearer to what is wanted."""
    ratio = np.clip((wanted + 1e-6) / (seen + 1e-6), 0.1, 10.0)
    factor += step * np.log(ratio)
    np.clip(factor, -LIMIT, LIMIT, out=factor)
