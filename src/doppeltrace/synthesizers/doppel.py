"""Doppel: our own model. What everybody does, and how users who are alike differ from it.

With few users, Poisson factors say where users like to be, and a chain moves along the
population's moves towards that. With many, the population is known well enough to be kept as it
is: users are mixtures over the kinds of people of the crowd's chain (`population.persons`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import streams, tensors
from doppeltrace.chain.base_chain import BaseChain, base_chain
from doppeltrace.crowd.people import MAX_KINDS
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.statistics import HEADINGS
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import require
from doppeltrace.factorize import poisson
from doppeltrace.factorize.poisson import Exposure
from doppeltrace.factorize.state import Observations, State
from doppeltrace.population.base import Base, check_settings, population_base
from doppeltrace.population.groups import alike, everybody, share_rows, shares
from doppeltrace.population.persons import Persons, PersonsLikelihood, fit_persons
from doppeltrace.population.stays import follow_stays, records_stays
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers.checks import likelihood_arguments
from doppeltrace.synthesizers.cost import Cost, Work, chain_memory
from doppeltrace.synthesizers.factorized import FactorizedSynthesizer
from doppeltrace.traces import Traces

ENOUGH_USERS = 2_000
"""Users from whom on the population is kept as it is, and factors are not needed."""
BLOCK_USERS = 2_048
"""Users whose traces are drawn between two steps of progress."""

EXPOSURE_FLOOR = 0.01
"""Exposure of a step that is not in the base, where 1 is chance: it must stay possible."""

WARM_SHARE = 0.8
"""Share of the sweeps that learn from a sample of the users, where there are more than that."""

# Thread-seconds and bytes; see `cost.Cost`.
ELEMENT_SECONDS = 7e-9  # per positive element, iteration and factor
ROW_SECONDS = 1e-7  # per row of A, B and C, iteration and factor
DRAW_SECONDS = 4e-7  # per event drawn
OWN_SECONDS = 3.7e-6  # per event drawn: its likelihood under its own user
TABLE_SECONDS = 3e-8  # per verifier, place and slot
PAIR_SECONDS = 7.5e-9  # per trace, verifier and event
PASSING = 40  # verifiers looked at until one more is found plausible, at η = 1
MESSAGE_SECONDS = 4e-6  # per entry of the crowd's messages, all passes together
CANDIDATE_SECONDS = 6e-7  # per event of a candidate
KIND_SECONDS = 1e-7  # per event and kind of people
MESSAGE_BYTES = 20  # per entry of the crowd's messages
ELEMENT_BYTES = 40  # per positive element, while they are counted


class Doppel(FactorizedSynthesizer):
    """Poisson multiple tensor factorization with a population base.

    The factors say when a user likes to be where (π); the base says how the population moves;
    the chain (`chain._base_kernels`) moves along the base towards π. Fewer factors make users
    more alike: more privacy, less detail.

    Parameters
    ----------
    factors : z, number of factors.
    population : True takes the crowd's chain, whose population corrects the factors' as far as
        counts can tell, with users as mixtures over its kinds of people; False the factors'
        chain; None the crowd's from `ENOUGH_USERS` users on.
    types : types of users at most, with the crowd's chain; the data decide how many of them.
    candidates : with the crowd's chain, traces of it of which each released one is chosen, so
        that days look like the users' days; 1 takes the chain's own.
    group : users who are alike share one row of A, in groups of at least this many: every trace
        is then equally likely for all of them, which makes it (k, 0)-plausibly deniable for k up
        to `group`. 1 gives every user a row of their own.
    iterations : Gibbs iterations; the last one's Θ is the model.
    warm_users : where there are more users, the first four fifths of the iterations go over this
        many of them, drawn at random: what all users share is then known, and the last fifth,
        which goes over all, starts from there.
    shape, rate : of the Gamma priors of all factor entries.
    min_users : different users that must have made a move for it to enter the base.
    smoothing : weight of the gravity kernel in the base, in transitions per place.
    stay : how many times more a place holds its visitors than an equally popular one next door
        would draw them, in the gravity kernel: check-ins do not record staying.
    range_km : range of the gravity kernel, or None to fit it to the data.
    most_neighbours : places that gravity reaches from a place, at most.
    exposure : True lets the base enter the factorization too, as E: the transition factors then
        say how a user differs from the population.
    jump : τ, probability per event of a fresh draw from π instead of a step along the base.
    rhythm : True makes users stay as often, slot by slot, as the training users do; False leaves
        that to the base; None decides by the data: True if at least half of the events follow
        another one instant before (check-ins do not record staying).
    seed, threads : see `Synthesizer`.

    `history` holds {"log_likelihood": …} per iteration; `base_` is the base after `fit`.
    """

    name = "doppel"
    description = "Doppel: Poisson tensor factorization, and a chain along the population's moves"
    public_settings = {
        "factors": "factors",
        "group": "users who share one profile, at least",
        "iterations": "training iterations",
        "shape": "shape of the prior",
        "rate": "rate of the prior",
        "min_users": "fewest users behind a move of the population",
        "smoothing": "smoothing",
        "stay": "weight of staying",
        "most_neighbours": "most neighbours of a place",
        "jump": "probability of a jump",
    }
    _may_go_on = False  # how many iterations there are decides which of them take the sample

    def __init__(
        self,
        *,
        factors: int = 8,
        group: int = 10,
        population: bool | None = None,
        types: int = 16,
        candidates: int = 16,
        iterations: int = 300,
        warm_users: int = 20_000,
        shape: float = 0.03,
        rate: float = 1.0,
        min_users: int = 5,
        smoothing: float = 0.3,
        stay: float = 6.0,
        range_km: float | None = None,
        most_neighbours: int = 128,
        exposure: bool = False,
        jump: float = 0.01,
        rhythm: bool | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(factors=factors, iterations=iterations, seed=seed, threads=threads)
        require(0 <= jump <= 1, "jump must be from 0 to 1")
        require(exposure in (True, False), "exposure must be True or False")
        require(rhythm in (None, True, False), "rhythm must be True, False or None")
        require(group >= 1, "group must be at least 1")
        require(population in (None, True, False), "population must be True, False or None")
        require(types >= 1, "types must be at least 1")
        require(candidates >= 1, "candidates must be at least 1")
        require(warm_users >= 1, "warm_users must be at least 1")
        self.group = group
        self.population = population
        self.types = types
        self.candidates = candidates
        self.warm_users = warm_users
        self._prior = poisson.GammaPrior(shape, rate)
        self.shape, self.rate = shape, rate
        self.min_users = min_users
        self.smoothing = smoothing
        self.stay = stay
        self.range_km = range_km
        self.most_neighbours = most_neighbours
        check_settings(**self._base_settings)
        self.exposure = exposure
        self.jump = jump
        self.rhythm = rhythm
        self._base: Base | None = None
        self._alike: NDArray[np.int64] | None = None
        self._persons: Persons | None = None

    @property
    def persons_(self) -> Persons | None:
        """Users as mixtures over kinds of people; None without the crowd's chain."""
        self._known()
        return self._persons

    @property
    def alike(self) -> NDArray[np.int64] | None:
        """(n_users,) the first user of each user's group; None if group is 1."""
        self._known()
        return self._alike

    @property
    def same_for_all_users(self) -> bool:
        """Whether there are so few users that they are one group."""
        return self.alike is not None and not self.alike.any()

    @property
    def base_(self) -> Base:
        """The population base; raises `NotFittedError` before `fit`."""
        self._known()
        assert self._base is not None
        return self._base

    @property
    def _base_settings(self) -> dict[str, Any]:
        return {
            "min_users": self.min_users,
            "smoothing": self.smoothing,
            "stay": self.stay,
            "range_km": self.range_km,
            "most_neighbours": self.most_neighbours,
        }

    def likelihood(self) -> Any:
        """Return what the deniability tests ask for likelihoods."""
        return super().likelihood() if self._persons is None else PersonsLikelihood(self._persons)

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln p(y = M(m)); see `ChainSynthesizer`.

        With the crowd's chain: of the traces among which the released ones are chosen.
        """
        if self._persons is None:
            return super().log_likelihood(locations, users)
        traces, chosen = likelihood_arguments(self, locations, users)
        with use_threads(self.threads):
            return self._persons.log_likelihood(traces, chosen)

    def prepare_for_test(self, k: int | None) -> None:
        """Let as many users share a profile as must be plausible; group=1 stays as it is."""
        if k is not None and 1 < self.group < k:
            self.group = k

    def _takes_crowd(self, n_users: int) -> bool:
        return n_users >= ENOUGH_USERS if self.population is None else self.population

    def _learn_persons(self, traces: Traces) -> Persons:
        """Return the crowd's chain and its users.

        Where people are seen most of the time, its population starts from the factors' and is
        corrected by counts as far as these exceed their own chance. Factors of check-ins follow
        single users too closely for that: there it starts from nothing.
        """
        theta = self._states[0].factors
        return fit_persons(
            traces,
            min_users=self.min_users,
            types=self.types,
            candidates=self.candidates,
            group=self.group,
            seed=self.seed,
            prior=lambda style: everybody(theta) if style == "dense" else None,
        )

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        if self._persons is None:
            return super()._sample(users, traces_per_user, instants, seed, callback)
        out = np.empty((len(users), traces_per_user, len(instants)), np.int32)
        for first in range(0, len(users), BLOCK_USERS):
            block = slice(first, min(first + BLOCK_USERS, len(users)))
            out[block] = self._persons.draw(
                users[block], traces_per_user, len(instants), candidates=self.candidates, seed=seed
            )
            callback(Step("synthesis", block.stop, len(users)))
        return out

    def _state_in_words(self) -> str:
        words = super()._state_in_words()
        if self._fitted is None or self._persons is None:
            return words
        return f"{words}, on the crowd's chain with {self._persons.crowd.chain.n_kinds} kinds"

    def _begin(self, traces: Traces) -> list[_Work]:
        self._persons = self._base = exposure = None
        if self.exposure or not self._takes_crowd(traces.n_users):
            self._base = population_base(traces, **self._base_settings)
            exposure = Exposure(self._base.lift, EXPOSURE_FLOOR) if self.exposure else None
        if traces.n_users <= self.warm_users:
            return [_Work(_count(traces), exposure)]
        rng = streams.generator(self.seed, "warm users")
        sample = np.sort(rng.choice(traces.n_users, self.warm_users, replace=False))
        return [_Work(_count(traces), exposure, sample, _count(traces.select(sample)))]

    def _start(self, part: int, work: _Work) -> State:
        counts = work.counts if work.sample_counts is None else work.sample_counts
        return poisson.init(counts, self.factors, self.seed)

    def _step(self, part: int, work: _Work) -> tuple[State, dict[str, float]]:
        state, counts = self._states[part], work.counts
        if work.sample is not None and work.sample_counts is not None:
            if state.iteration < self._warm_sweeps:  # A has the rows of the sample
                counts = work.sample_counts
            elif state.iteration == self._warm_sweeps:
                users = counts.visits.shape[0]
                state = _for_everyone(state, users, work.sample)
        state, info = poisson.step(state, counts, self._prior, self.seed, work.exposure)
        return state, {"log_likelihood": info.log_likelihood}

    @property
    def _warm_sweeps(self) -> int:
        """Iterations that go over the sample; at least one more goes over all."""
        return int(WARM_SHARE * self.iterations)

    def _learn_chain(self, traces: Traces) -> BaseChain | None:
        if self._takes_crowd(traces.n_users):
            self._persons = self._learn_persons(traces)
            self._form_groups(self._persons.group)
            return None
        self._form_groups(None)
        chain = self._base_chain()
        follow = records_stays(traces) if self.rhythm is None else self.rhythm
        return follow_stays(chain, traces, self.min_users, self.seed) if follow else chain

    def _form_groups(self, label: NDArray[np.int64] | None) -> None:
        """Give users who are alike one row of A: the mean of their shares of the factors.

        label : the groups, or None to form them by those shares.
        """
        self._alike = None
        if self.group == 1:
            return
        state = self._states[0]
        label = alike(np.sqrt(shares(state.factors)), self.group) if label is None else label
        theta = share_rows(state.factors, label)
        self._states[0] = State(theta, state.iteration)
        self._alike = np.unique(label, return_index=True)[1][label]

    def _chain_of_file(
        self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]
    ) -> BaseChain | None:
        self._alike = arrays.get("alike")
        self._persons = None
        if "persons" in state:
            public = PublicInputs.of(self.places, self.clock)
            self._persons = Persons.of_file(arrays, state["persons"], public)
            return None
        self._base = Base.of_file(arrays, state["base"])
        return self._base_chain()._replace(stay_multiplier=arrays["stay_multipliers"])

    def _base_chain(self) -> BaseChain:
        assert self._base is not None
        return base_chain(self._states[0].factors, self._base.lift, self.jump)

    def _cost(self, traces: Traces, work: Work) -> Cost:
        users, places = traces.n_users, len(traces.places)
        elements = traces.n_events + len(traces.transitions()[0])
        share = min(1.0, self.warm_users / users)  # of the users, in the warm sweeps
        share = WARM_SHARE * share + (1 - WARM_SHARE)
        sweep = share * (ELEMENT_SECONDS * elements + ROW_SECONDS * users)
        sweep += ROW_SECONDS * 2 * places
        training = sweep * self.factors * self.iterations
        memory = ELEMENT_BYTES * elements + chain_memory(traces, self.factors)
        if self._takes_crowd(users):
            kinds = max(MAX_KINDS.values())
            messages = traces.clock.n_instants * (HEADINGS + 1) * places * kinds
            return Cost(
                training=training + MESSAGE_SECONDS * messages,
                synthesis=CANDIDATE_SECONDS * self.candidates * work.events,
                test=0.0 if work.k is None else KIND_SECONDS * kinds * work.events,
                memory=memory + MESSAGE_BYTES * messages,
            )
        test = 0.0
        if work.k is not None:
            looked_at = float(work.verifiers)
            if not work.count_all:
                looked_at = min(looked_at, PASSING * work.k / work.eta)
            tables = work.verifiers * TABLE_SECONDS * places * traces.clock.n_slots
            test = tables + (OWN_SECONDS + PAIR_SECONDS * looked_at) * work.events
        return Cost(
            training=training,
            synthesis=DRAW_SECONDS * work.events,
            test=test,
            memory=memory,
        )

    def _saved(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        arrays, state = super()._saved()
        if self._alike is not None:
            arrays["alike"] = self._alike
        if self._persons is not None:
            more, about = self._persons.to_file()
            return {**arrays, **more}, {**state, "persons": about}
        base, about = self.base_.to_file()
        return {**arrays, **base, "stay_multipliers": self.chain.stay_multiplier}, {
            **state,
            "base": about,
        }


class _Work(NamedTuple):
    """What the sampler works on; `sample` and its counts only where there are many users."""

    counts: Observations
    exposure: Exposure | None
    sample: NDArray[np.int64] | None = None
    sample_counts: Observations | None = None


def _for_everyone(state: State, users: int, sample: NDArray[np.int64]) -> State:
    """Return the state with a row of A for every user: those outside the sample get the mean."""
    known = state.factors.A
    a = np.tile(known.mean(axis=0), (users, 1))
    a[sample] = known
    return State(replace(state.factors, A=a), state.iteration)


def _count(traces: Traces) -> Observations:
    return Observations(tensors.transition_tensor(traces), tensors.visit_tensor(traces))
