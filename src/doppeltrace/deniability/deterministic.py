"""Privacy Test 1 of the paper: which traces are releasable with (k, η)-plausible deniability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import streams
from doppeltrace.arguments import checked
from doppeltrace.deniability.likelihood import Likelihood, TestableModel
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import InputError, require
from doppeltrace.guarantee import Guarantee
from doppeltrace.progress import Callback, Step, silent
from doppeltrace.traces import SyntheticTraces

BLOCK_VERIFIERS = 128
"""Verifiers between two looks at which traces have already passed."""

BLOCK_TRACES = 16_384
"""Traces whose own likelihoods are computed between two words of progress."""


class Counting(NamedTuple):
    """How far a test has come: enough to go on from there. As secret as the likelihoods.

    own : (n_traces,) ln p(y = M(n)) of each trace's input user.
    plausible : (n_traces,) users counted so far.
    done : verifiers looked at; those who are the same to the model are one.
    """

    own: NDArray[np.float64]
    plausible: NDArray[np.int64]
    done: int


def forget(counting: Counting) -> None:
    """Keep nothing."""


@dataclass(frozen=True, eq=False)
class Deniability:
    """What the test found.

    Attributes
    ----------
    plausible : (n_traces,) int64, k′: users (the input user among them) whose likelihood lies
        in the input user's bin; counted up to k only, if `count_all` was False.
    passed : (n_traces,) bool, k′ ≥ k.
    k, eta : the test's parameters.
    n_verifiers : size of U*.
    counted_all : whether `plausible` is complete.
    all_users : whether U* is all users of the input.
    vacuous : whether all users give every trace the same likelihood, so that all traces pass.
    by_construction : whether at least k users give every trace the very same likelihood, as the
        model makes no difference between them.
    """

    plausible: NDArray[np.int64]
    passed: NDArray[np.bool_]
    k: int
    eta: float
    n_verifiers: int
    counted_all: bool
    all_users: bool = True
    vacuous: bool = False
    by_construction: bool = False

    def __repr__(self) -> str:
        """Show how many passed, not the arrays."""
        passed, made = int(self.passed.sum()), len(self.passed)
        return f"Deniability({passed:,} of {made:,} traces pass with k={self.k}, eta={self.eta:g})"

    @property
    def guarantee(self) -> Guarantee:
        """What each trace that passed is promised."""
        verifiers = None if self.all_users else self.n_verifiers
        return Guarantee.deniability(
            self.k,
            self.eta,
            verifiers,
            vacuous=self.vacuous,
            by_construction=self.by_construction,
        )

    @property
    def pass_rate(self) -> float:
        """Share of traces that passed."""
        return float(self.passed.mean()) if len(self.passed) else float("nan")

    def pass_rate_at(self, k: ArrayLike) -> NDArray[np.float64]:
        """Return the share of traces with k′ ≥ k for each k (the paper's pass-rate plot)."""
        ks = np.asarray(k)
        require(
            self.counted_all or bool(np.all(ks <= self.k)),
            "the test stopped counting at k: run it with count_all=True for larger k",
        )
        rates: NDArray[np.float64] = np.mean(
            self.plausible[:, None] >= np.atleast_1d(ks)[None, :], axis=0
        )
        return rates


@checked
def deniability_test(
    model: TestableModel,
    synthetic: SyntheticTraces,
    *,
    k: int = 10,
    eta: float = 1.0,
    verifiers: int | ArrayLike | None = None,
    seed: int | None = None,
    count_all: bool = True,
    callback: Callback = silent,
    counted: Counting | None = None,
    keep: Callable[[Counting], None] = forget,
) -> Deniability:
    """Run Privacy Test 1 on every trace.

    Let i be the bin of the input user, e^{−(i+1)η} < p(y = M(n)) ≤ e^{−iη}. A trace passes if
    at least k users of U* ∪ {u_n} are in that bin.

    Parameters
    ----------
    model : a fitted synthesizer that has likelihoods.
    verifiers : U*: None for all training users, an int for that many at random, or indexes.
    seed : seed of a random U*, or None to draw one from the operating system.
    count_all : False stops counting a trace at k, which is all that pass or fail needs.
    counted : how far the same test had come, to go on from there.
    keep : hears how far it has come, after every block of verifiers.
    """
    require(k >= 1, "k must be at least 1")
    require(eta > 0, "eta must be positive")
    require(
        model.testable,
        f"{type(model).__name__} has no likelihoods, so its traces cannot be tested for plausible "
        "deniability",
    )
    n_users = model.n_users
    require(k <= n_users, f"k = {k} exceeds the {n_users} training users: lower k")
    chosen = _verifiers(verifiers, n_users, seed)
    require(
        len(chosen) >= k - 1,
        f"k = {k} needs at least {k - 1} verifiers, but there are {len(chosen)}: no trace could "
        "pass; lower k, or take more verifiers",
    )
    if np.any(synthetic.owner < 0) or np.any(synthetic.locations < 0):
        raise InputError("the deniability test needs complete traces and their input users")
    if np.any(synthetic.owner >= n_users):
        raise InputError(f"a synthetic trace has an owner beyond the {n_users} training users")
    if not (synthetic.places.same_as(model.places) and synthetic.clock.same_as(model.clock)):
        raise InputError("the synthetic traces have other places or another clock than the model")
    likelihood = model.likelihood()
    together = _together(model, synthetic, chosen)
    synthetic = together.synthetic
    with use_threads(model.threads):
        if counted is None:
            counted = Counting(_own(likelihood, synthetic, callback), together.certain, 0)
        own, plausible = counted.own, counted.plausible.copy()
        bin_number = np.floor(-own / eta)
        lower, upper = -(bin_number + 1) * eta, -bin_number * eta
        count = likelihood.counting(synthetic, lower, upper)
        undecided = np.arange(len(synthetic))
        units = len(together.verifiers)
        for first in range(counted.done, units, BLOCK_VERIFIERS):
            if not count_all:
                undecided = undecided[plausible[undecided] < k]
                if len(undecided) == 0:
                    break
            callback(Step("deniability test", first, units))
            block = slice(first, min(first + BLOCK_VERIFIERS, units))
            plausible[undecided] += count(
                together.verifiers[block], together.times[block], undecided
            )
            keep(Counting(own, plausible, block.stop))
    callback(Step("deniability test", units, units))
    if not count_all:
        plausible = np.minimum(plausible, k)
    return Deniability(
        plausible,
        plausible >= k,
        k,
        eta,
        len(chosen),
        count_all,
        all_users=len(chosen) == n_users,
        vacuous=model.same_for_all_users,
        by_construction=smallest_group(model) >= k,
    )


class _Together(NamedTuple):
    """A test in which users who are the same to the model stand for each other.

    synthetic : the traces, owned by the user who stands for their owner.
    verifiers, times : who stands for some of U*, and for how many.
    certain : (n_traces,) the owner, and those of U* who are the same: they need no likelihood.
    """

    synthetic: SyntheticTraces
    verifiers: NDArray[np.int64]
    times: NDArray[np.int64]
    certain: NDArray[np.int64]


def _together(
    model: TestableModel, synthetic: SyntheticTraces, chosen: NDArray[np.int64]
) -> _Together:
    if model.alike is None:
        times = np.ones(len(chosen), np.int64)
        return _Together(synthetic, chosen, times, np.ones(len(synthetic), np.int64))
    stands_for = np.bincount(model.alike[chosen], minlength=model.n_users)
    asked = np.zeros(model.n_users, dtype=bool)
    asked[chosen] = True
    verifiers = np.flatnonzero(stands_for)
    owner = model.alike[synthetic.owner]
    certain = 1 + stands_for[owner] - asked[synthetic.owner]
    return _Together(replace(synthetic, owner=owner), verifiers, stands_for[verifiers], certain)


def smallest_group(model: TestableModel) -> int:
    """Return how many users, at least, are the same to the model as any user."""
    if model.alike is None:
        return 1
    sizes = np.bincount(model.alike)
    return int(sizes[sizes > 0].min())


def _own(
    likelihood: Likelihood, synthetic: SyntheticTraces, callback: Callback
) -> NDArray[np.float64]:
    """Return (n_traces,) ln p(y = M(n)), in blocks, so that progress can be told."""
    own = np.empty(len(synthetic))
    for first in range(0, len(own), BLOCK_TRACES):
        block = slice(first, first + BLOCK_TRACES)
        own[block] = likelihood.own(synthetic.select(block))
        callback(Step("own likelihoods", min(block.stop, len(own)), len(own)))
    return own


def _verifiers(given: int | ArrayLike | None, n_users: int, seed: int | None) -> NDArray[np.int64]:
    """Return the indexes of U*, in random order if they are drawn."""
    if given is None:
        return np.arange(n_users)
    if isinstance(given, (int, np.integer)):
        require(int(given) >= 1, "the number of verifiers must be at least 1")
        rng = streams.generator(streams.fresh_seed() if seed is None else seed, "verifiers")
        return rng.permutation(n_users)[: min(int(given), n_users)]
    chosen = np.unique(np.asarray(given, dtype=np.int64))
    inside = len(chosen) > 0 and chosen[0] >= 0 and chosen[-1] < n_users
    require(bool(inside), f"verifiers must be indexes from 0 to {n_users - 1}")
    return chosen
