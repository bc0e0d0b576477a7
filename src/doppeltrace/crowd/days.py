"""Days: what the chain cannot hold is kept by choosing among its traces.

Every released trace is picked among a few candidates of the chain with probability in proportion
to exp(log weight), the weight being a product of factors: one per cell of each histogram of days
(places a day, moves, radius, …) and one per stay by its length. The factors are fitted to that
very way of picking, on a pool of candidates. Picking shifts the population a little; the chain is
then fitted to a population shifted the other way. It is post-processing of noisy tables only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd._day_kernels import OFFSETS
from doppeltrace.crowd.population import add_columns
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.sampler import DayFactors, Presence, Sampler
from doppeltrace.crowd.shrink import shrink
from doppeltrace.crowd.statistics import Noisy, radius_scale

Wide = NDArray[np.float64]

POOL = (1_000, 8_000)
"""Groups of candidates in the pool, at least and at most; between them one per user."""
ROUNDS = 30
LIMIT = 4.0
"""Largest log factor."""
_FEW = 2.0  # picks of the pool, too few to tell a share from


def fit_days(
    tables: Mapping[str, Noisy],
    sampler: Sampler,
    presence: Presence,
    public: PublicInputs,
    factors: DayFactors,
    *,
    n_groups: int,
    candidates: int,
    key: NDArray[np.uint64],
) -> tuple[DayFactors, Wide]:
    """Return the factors, and what picking does to the population.

    factors : where to start.
    n_groups : groups of candidates in the pool.

    Returns
    -------
    factors, and (T, X) the population after picking relative to that before.
    """
    traces, cells, dwells = sampler.pool(
        n_groups, presence, public.points, radius_scale(public), candidates=candidates, key=key
    )
    at = cells.astype(np.int64) + np.array(OFFSETS[:-1])
    wanted, stays = _targets(tables, at, dwells)
    found = DayFactors(factors.cells.copy(), factors.dwells.copy())
    for _ in range(ROUNDS):
        _nudge(found.cells, wanted, _histogram(at, _pick(found, at, dwells), OFFSETS[-1]), 0.5)
        pick = _pick(found, at, dwells)
        _nudge(found.dwells, stays, (dwells * pick[..., None]).sum(axis=(0, 1)), 0.3)
    return found, _distortion(traces, _pick(found, at, dwells), public)


def _distortion(traces: NDArray[np.int32], pick: Wide, public: PublicInputs) -> Wide:
    """Return (T, X) the population of picked traces relative to that of all.

    By part of the cycle for places, by instant for groups of places: finer is chance.
    """
    n, n_places = public.n_instants, public.n_places
    part, group = public.part[public.slots], public.levels[-1]
    rows, picked = traces.reshape(-1, n), pick.ravel() * len(pick)
    even = np.full(len(picked), len(pick) / len(picked))
    after, before = (
        np.stack([_histogram(rows[:, t, None], weight, n_places) for t in range(n)]) + _FEW
        for weight in (picked, even)
    )
    ratio = np.empty((n, n_places))
    for p in np.unique(part):
        ratio[part == p] = after[part == p].sum(axis=0) / before[part == p].sum(axis=0)
    return ratio * (add_columns(after, group) / add_columns(before * ratio, group))[:, group]


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


def _pick(factors: DayFactors, at: NDArray[np.int64], dwells: NDArray[np.float32]) -> Wide:
    """Return (n, C) the probability that a candidate is picked, over all groups; sum 1."""
    score = factors.cells[at].sum(axis=2) + dwells @ factors.dwells.astype(np.float32)
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = weight / weight.sum(axis=1, keepdims=True) / len(weight)
    return result


def _histogram(cell: NDArray[Any], weight: Wide, size: int) -> Wide:
    spread = np.broadcast_to(weight[..., None], cell.shape)
    return np.bincount(cell.ravel(), spread.ravel(), minlength=size).astype(np.float64)


def _nudge(factor: Wide, wanted: Wide, seen: Wide, step: float) -> None:
    """Move log factors so that what is seen comes nearer to what is wanted."""
    ratio = np.clip((wanted + 1e-6) / (seen + 1e-6), 0.1, 10.0)
    factor += step * np.log(ratio)
    np.clip(factor, -LIMIT, LIMIT, out=factor)
