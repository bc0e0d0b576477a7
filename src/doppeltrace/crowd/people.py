"""From noisy statistics to new people: post-processing only, no traces in here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.crowd.chain import Chain
from doppeltrace.crowd.days import POOL, fit_days
from doppeltrace.crowd.graph import MoveGraph
from doppeltrace.crowd.measure import NoisyStatistics
from doppeltrace.crowd.moves import population_moves
from doppeltrace.crowd.population import population
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.rhythm import rhythm, stay_share
from doppeltrace.crowd.sampler import DayFactors, Presence, Sampler
from doppeltrace.crowd.scaling import ROUNDS, Targets, fit_chain, refine
from doppeltrace.crowd.statistics import classes, n_headings, radius_scale
from doppeltrace.crowd.types import Types, fit_types
from doppeltrace.progress import Callback, Step

Wide = NDArray[np.float64]

MAX_KINDS = {"dense": 32, "checkins": 64}
"""Kinds of people (type and mobility class) in the chain at most."""
TILTS = 2
"""Times that the chain is fitted again to make up for what choosing among its traces does."""
TILT_ROUNDS = 3
MIN_KIND = 0.002
"""Share of the people below which a kind is left out."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """A fitted chain with what chooses among its traces."""

    chain: Chain
    presence: Presence
    factors: DayFactors


def make_crowd(
    noisy: NoisyStatistics,
    public: PublicInputs,
    *,
    types: int,
    candidates: int,
    seed: int,
    callback: Callback,
    prior: Wide | None = None,
) -> Crowd:
    """Return the crowd that agrees with the statistics.

    prior : (L, X) where people are when, as far as the statistics do not know better.
    """
    style, tables = noisy.first.style, noisy.tables
    n_classes = len(classes(style)) + 1
    visits = population(tables, public, repeats(noisy), stay_share(tables["stays"]), prior)
    graph = MoveGraph.of(public, n_headings(style))
    moves = population_moves(tables, visits, graph, public)
    steps, class_weight = rhythm(tables, public.slots)
    found = fit_types(
        tables["types"], public, n_classes, types, streams.generator(seed, "crowd types")
    )
    weight, mobility, share = _kinds(found, class_weight, MAX_KINDS[style])
    per_instant = (visits / visits.sum(axis=1, keepdims=True))[public.slots]
    targets = Targets(per_instant, moves, steps, weight, mobility, share, _turns(noisy))
    chain = fit_chain(targets, public, callback)
    presence = _presence(visits, noisy, public)
    factors = DayFactors.none()
    if "days" in tables and candidates > 1:
        factors = _fit_days(chain, targets, noisy, presence, public, candidates, seed)
    callback(Step("training", ROUNDS + 1, ROUNDS + 1))
    return Crowd(chain, presence, factors)


def _fit_days(
    chain: Chain,
    targets: Targets,
    noisy: NoisyStatistics,
    presence: Presence,
    public: PublicInputs,
    candidates: int,
    seed: int,
) -> DayFactors:
    """Fit the factors of days, and the chain to a population that picking brings to its target."""
    factors = DayFactors.none()
    log_shift = np.zeros_like(targets.population)
    for turn in range(TILTS + 1):
        factors, shift = fit_days(
            noisy.tables,
            Sampler(chain),
            presence,
            public,
            factors,
            n_groups=int(np.clip(noisy.first.users, *POOL)),
            candidates=candidates,
            key=streams.key(seed, "crowd candidates", turn),
        )
        if turn < TILTS:
            log_shift += (np.log(shift) - log_shift) / (turn + 1)  # chance averages out
            tilted = targets.population * np.exp(-log_shift)
            tilted /= tilted.sum(axis=1, keepdims=True)
            refine(chain, replace(targets, population=tilted), TILT_ROUNDS)
    return factors


def repeats(noisy: NoisyStatistics) -> float:
    """Return the variance over the mean of visits of four groups, if users are independent.

    It is Σ c² / Σ c over users and cells: how often one user counts in one cell, about.
    """
    table = next(t for name, t in noisy.tables.items() if name.startswith("visits"))
    kept = noisy.first.clips.kept_visits
    total = max(float(table.value.sum()) * kept, 1.0)
    return max(1.0, noisy.first.visits_square / total / kept)


def _kinds(types: Types, class_weight: Wide, largest: int) -> tuple[Wide, NDArray[np.int64], Wide]:
    """Return (K,) weights and classes, and (P, G, K) shares, of type × class; rare ones go."""
    mobility = types.mobility
    if len(mobility) != len(class_weight):  # classes that types were not told apart by
        mobility = np.ones((len(class_weight), len(types.weight)))
    pair = types.weight * mobility  # (Q, types)
    pair = pair * (class_weight / np.maximum(pair.sum(axis=1), 1e-9))[:, None]
    pair /= pair.sum()
    smallest = np.sort(pair.ravel())[::-1][min(largest, pair.size) - 1]
    keep = (pair >= max(MIN_KIND, smallest)) | (pair == pair.max())
    of_class, kind = np.nonzero(keep)
    weight = pair[keep] / pair[keep].sum()
    return weight, of_class.astype(np.int64), types.share[:, :, kind]


def _turns(noisy: NoisyStatistics) -> Wide:
    """Return (H,) shares of turns; equal where noise hides them."""
    style = noisy.first.style
    n = n_headings(style)
    even = np.full(n, 1 / n)
    if "turns" not in noisy.tables:
        return even
    value, sigma = noisy.tables["turns"]
    positive = np.maximum(value, 0.0)
    if positive.sum() <= max(10 * sigma, 1.0):
        return even
    result: NDArray[np.float64] = 0.98 * positive / positive.sum() + 0.02 * even
    return result


def _presence(visits: Wide, noisy: NoisyStatistics, public: PublicInputs) -> Presence:
    """Return when a day has events: how many, and at which instants rather than others."""
    of_slot = visits.sum(axis=1) / np.maximum(np.bincount(public.slots), 1)
    often = of_slot[public.slots]
    return Presence(noisy.first.events_per_day, often / often.max())


def draw(
    crowd: Crowd,
    sampler: Sampler,
    public: PublicInputs,
    n_traces: int,
    length: int,
    *,
    candidates: int,
    gaps: bool,
    seed: int,
    offset: int = 0,
) -> NDArray[np.int32]:
    """Return (n_traces, length) places of new people, −1 where there is no event.

    Trace i has the random stream of offset + i. A trace longer than the clock's cycle has days
    of one kind of people, each drawn afresh.
    """
    days = -(-length // public.n_instants)
    traces = sampler.draw(
        n_traces,
        days,
        crowd.presence,
        crowd.factors,
        public.points,
        radius_scale(public),
        candidates=candidates,
        gaps=gaps,
        key=streams.key(seed, "crowd synthesis"),
        offset=offset,
    )
    return np.ascontiguousarray(traces[:, :length])
