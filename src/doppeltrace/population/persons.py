"""Users as mixtures over the crowd's kinds of people; users who are alike share one mixture.

p(y | n) = Σ_k w_nk p(y | k): the population is the crowd's, w_n says how user n differs from it.
Every trace costs one pass per kind, whoever is asked about; the rest is a product of matrices.

A released trace is the pick of a few candidates, all drawn from p(· | n), by weights that depend
on the candidate alone (`days`). It therefore has the law p(y | n) g_n(y), where g_n depends on n
through w_n only: what users of one group give rise to has one law, exactly, picked or not. The
likelihoods told here are p(y | n), before picking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.crowd import _person_kernels as kernels
from doppeltrace.crowd import files
from doppeltrace.crowd.ledger import Ledger
from doppeltrace.crowd.measure import NoisyStatistics, measure
from doppeltrace.crowd.noise import NoNoise
from doppeltrace.crowd.people import Crowd, make_crowd
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.sampler import Draws, Sampler
from doppeltrace.crowd.statistics import NO_CYCLE, Style, classes, radius_scale
from doppeltrace.engine.local import run_blocks
from doppeltrace.population.groups import alike, group_means
from doppeltrace.progress import silent
from doppeltrace.traces import SyntheticTraces, Traces

Wide = NDArray[np.float64]
Labels = NDArray[np.int64]
Count = Callable[[Labels, Labels, Labels], Labels]
"""As the deniability tests take it: (verifiers, times, chosen traces) → how many in the bins."""

EVERYBODY = 0.02
"""Weight of the whole population in every mixture: no kind is impossible for anybody."""
ROUNDS = 40


@dataclass(frozen=True, eq=False)
class Persons:
    """A crowd, and who its people are.

    Attributes
    ----------
    mixture : (groups, K) w of each group of users, rows sum to 1.
    group : (n_users,) group of each user.
    """

    noisy: NoisyStatistics
    crowd: Crowd
    public: PublicInputs
    mixture: Wide
    group: Labels

    @classmethod
    def of(
        cls,
        noisy: NoisyStatistics,
        crowd: Crowd,
        public: PublicInputs,
        traces: Traces,
        size: int,
    ) -> Persons:
        """Find everybody's mixture, and groups of at least `size` users."""
        weights = posterior(noisy, crowd, public, traces)
        group = alike(np.sqrt(weights), size)
        rows = group_means(weights, group)
        mixture = (1 - EVERYBODY) * rows + EVERYBODY * crowd.chain.weight
        return cls(noisy, crowd, public, mixture / mixture.sum(axis=1, keepdims=True), group)

    @cached_property
    def sampler(self) -> Sampler:
        """The chain with its messages."""
        return Sampler(self.crowd.chain)

    def draw(
        self,
        users: Labels,
        per_user: int,
        length: int,
        *,
        candidates: int,
        seed: int,
    ) -> NDArray[np.int32]:
        """Return (len(users), per_user, length) places; a user's r-th trace is always the same."""
        who = np.repeat(users, per_user)
        number = who + np.tile(np.arange(per_user), len(users)) * len(self.group)
        traces = self.sampler.draw(
            len(who),
            -(-length // self.public.n_instants),
            self.crowd.presence,
            self.crowd.factors,
            self.public.points,
            radius_scale(self.public),
            candidates=candidates,
            gaps=False,
            key=streams.key(seed, "traces"),
            persons=Draws(np.cumsum(self.mixture, axis=1), self.group[who], number),
        )
        return np.ascontiguousarray(traces[:, :length]).reshape(len(users), per_user, length)

    def log_of_kinds(self, locations: NDArray[np.int32]) -> Wide:
        """Return (n_traces, K) ln p(y | k)."""
        chain, sampler = self.crowd.chain, self.sampler
        graph, tables = chain.graph, sampler.tables
        by_place = (graph.place, graph.sector.astype(np.int64), chain.near)  # not by likelihood
        tables = (*tables[:5], *by_place, *tables[8:])
        sites = (
            chain.site,
            chain.type_site,
            chain.part,
            chain.type_group,
            chain.begin.astype(np.float64),
            np.log(sampler.tables[0][:, -1]),
            sampler.log_scale,
        )
        wide = np.ascontiguousarray(locations, dtype=np.int64)
        out = np.empty((len(wide), chain.n_kinds))
        run_blocks(lambda a, b: kernels.log_of_kinds(tables, sites, wide, out, a, b), len(wide))
        return out

    def log_likelihood(self, locations: NDArray[np.int32], users: Labels) -> Wide:
        """Return (n_traces, len(users)) ln p(y | n)."""
        groups, which = np.unique(self.group[users], return_inverse=True)
        return self.mixed(self.log_of_kinds(locations), groups)[:, which]

    def mixed(self, of_kinds: Wide, groups: Labels) -> Wide:
        """Return (n_traces, len(groups)) ln p(y | group) from ln p(y | k)."""
        out = np.empty((len(of_kinds), len(groups)))
        run_blocks(
            lambda a, b: kernels.log_mixtures(of_kinds, self.mixture, groups, out, a, b),
            len(of_kinds),
        )
        return out

    def to_file(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the arrays and numbers of a model file."""
        arrays, state = files.to_arrays(self.noisy, self.crowd)
        return {**arrays, "mixture": self.mixture, "group": self.group}, state

    @classmethod
    def of_file(
        cls, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], public: PublicInputs
    ) -> Persons:
        """Return what `to_file` gave."""
        noisy, crowd = files.from_arrays(arrays, state, public)
        return cls(noisy, crowd, public, arrays["mixture"], arrays["group"])


def fit_persons(
    traces: Traces,
    *,
    min_users: int,
    types: int,
    candidates: int,
    group: int,
    seed: int,
    prior: Callable[[Style], Wide | None],
) -> Persons:
    """Fit the crowd's chain without noise, and everybody's mixture.

    min_users : cells of fewer users tell nothing; types, candidates : see `people.make_crowd`.
    prior : style of the data → (L, X) where people are when, as far as counts know no better.
    """
    public = PublicInputs.of(traces.places, traces.clock)
    counts = measure(traces, public, Ledger(math.inf, NoNoise()), min_users=min_users)
    crowd = make_crowd(
        counts,
        public,
        types=types,
        candidates=candidates,
        seed=seed,
        callback=silent,
        prior=prior(counts.first.style),
    )
    return Persons.of(counts, crowd, public, traces, group)


def posterior(noisy: NoisyStatistics, crowd: Crowd, public: PublicInputs, traces: Traces) -> Wide:
    """Return (n_users, K) how likely each kind is for each user; columns keep their weights.

    w_nk ∝ v_k Π p(x_t | k) over the user's events, for the kinds of the user's mobility class;
    v makes the mean of all users the crowd's own weights.
    """
    chain = crowd.chain
    evidence = np.empty((traces.n_users, chain.n_kinds))
    columns = (
        traces.offsets,
        traces.location,
        traces.instant.astype(np.int64),
        public.clock.cycle or NO_CYCLE,
        chain.part,
        chain.present(),
    )
    run_blocks(lambda a, b: kernels.evidence(*columns, evidence, a, b), traces.n_users)
    mine = _classes(traces, classes(noisy.first.style))
    possible = chain.mobility == mine[:, None]
    possible[~possible.any(axis=1)] = True
    evidence = np.where(possible, evidence, -np.inf)
    likely = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    scale = chain.weight.astype(np.float64)
    weights: Wide = likely
    for _ in range(ROUNDS):
        weights = likely * scale
        weights /= weights.sum(axis=1, keepdims=True)
        scale *= (chain.weight / np.maximum(weights.mean(axis=0), 1e-9)) ** 0.5
    return weights


def _classes(traces: Traces, edges: Wide) -> Labels:
    """Return (n_users,) the mobility class of each user; −1 where no step is known."""
    user, origin, destination, _ = traces.transitions()
    steps = np.bincount(user, minlength=traces.n_users)
    moved = np.bincount(user, origin != destination, minlength=traces.n_users)
    found = np.searchsorted(edges, moved / np.maximum(steps, 1), side="left")
    return np.where(steps > 0, found, -1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class PersonsLikelihood:
    """What the deniability tests ask for: one pass per kind and trace, then sums over kinds."""

    persons: Persons

    def own(self, traces: SyntheticTraces) -> Wide:
        """Return (n_traces,) ln p(y | owner)."""
        of_kinds = self.persons.log_of_kinds(traces.locations)
        top = of_kinds.max(axis=1)
        weights = self.persons.mixture[self.persons.group[traces.owner]]
        found: Wide = top + np.log((weights * np.exp(of_kinds - top[:, None])).sum(axis=1))
        return found

    def counting(self, traces: SyntheticTraces, lower: Wide, upper: Wide) -> Count:
        """Return how to count the verifiers but the owner with lower < ln p ≤ upper."""
        of_kinds = self.persons.log_of_kinds(traces.locations)

        def count(verifiers: Labels, times: Labels, chosen: Labels) -> Labels:
            values = self.persons.mixed(of_kinds[chosen], self.persons.group[verifiers])
            inside = (values > lower[chosen, None]) & (values <= upper[chosen, None])
            inside &= verifiers[None, :] != traces.owner[chosen, None]
            total: Labels = (inside * times).sum(axis=1)
            return total

        return count
