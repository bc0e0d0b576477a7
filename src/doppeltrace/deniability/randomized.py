"""The randomized test of the plausible-deniability paper, and the privacy one trace then has.

Bindschaedler, Shokri and Gunter (PVLDB 10(5), 2017): the input user is drawn uniformly at
random, and the threshold k gets fresh Laplace noise. For one released trace, and a model whose
shared parameters do not depend on the input data, this gives (ε, δ)-differential privacy. The
second condition does not hold for a model trained on the same users, and the guarantee fades
with every further trace; it says nothing about a whole release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.arguments import checked
from doppeltrace.deniability.deterministic import deniability_test
from doppeltrace.deniability.likelihood import TestableModel
from doppeltrace.errors import require
from doppeltrace.guarantee import Guarantee
from doppeltrace.progress import Callback, silent
from doppeltrace.traces import SyntheticTraces


@dataclass(frozen=True)
class OneTracePrivacy:
    """(ε, δ) of one trace, and the split t of the k users that gives it."""

    epsilon: float
    delta: float
    t: int


@dataclass(frozen=True, eq=False)
class RandomizedRelease:
    """Traces of randomly drawn input users and how the randomized test judged them.

    Attributes
    ----------
    synthetic : all traces made, passed or not, with their owners.
    plausible : (n_traces,) k′.
    passed : (n_traces,) bool, k′ ≥ k + Laplace(1/ε₀), the noise fresh for every trace.
    privacy : what one of these traces has.
    k, eta, epsilon0 : the test's parameters.
    vacuous : whether all users give every trace the same likelihood, so that the noise decides.
    """

    synthetic: SyntheticTraces
    plausible: NDArray[np.int64]
    passed: NDArray[np.bool_]
    privacy: OneTracePrivacy
    k: int
    eta: float
    epsilon0: float
    vacuous: bool = False

    def __repr__(self) -> str:
        """Show how many passed, not the arrays."""
        passed, made = int(self.passed.sum()), len(self.passed)
        words = f"k={self.k}, eta={self.eta:g}, epsilon0={self.epsilon0:g}"
        return f"RandomizedRelease({passed:,} of {made:,} traces pass with {words})"

    @property
    def guarantee(self) -> Guarantee:
        """What one trace that passed is promised."""
        return Guarantee.one_trace(
            self.k,
            self.eta,
            epsilon0=self.epsilon0,
            epsilon=self.privacy.epsilon,
            delta=self.privacy.delta,
            vacuous=self.vacuous,
        )


def one_trace_privacy(k: int, eta: float, epsilon0: float, delta: float) -> OneTracePrivacy:
    """Return the smallest ε that one trace has at this δ.

    For every integer 1 ≤ t < k: ε = ε₀ + ln(1 + e^η / t) and δ = e^{−ε₀ (k − t)}. The largest t
    whose δ is small enough gives the smallest ε.
    """
    require(k >= 2, "the randomized test needs k of at least 2")
    require(eta > 0 and epsilon0 > 0, "eta and epsilon0 must be positive")
    require(0 < delta < 1, "delta must be between 0 and 1")
    t = int(np.floor(k + np.log(delta) / epsilon0))
    require(
        t >= 1,
        f"delta = {delta:g} cannot be had with k = {k} and epsilon0 = {epsilon0:g}: it is at "
        f"least {np.exp(-epsilon0 * (k - 1)):.3g}; raise k, epsilon0 or delta",
    )
    t = min(t, k - 1)
    return OneTracePrivacy(
        float(epsilon0 + np.log1p(np.exp(eta) / t)), float(np.exp(-epsilon0 * (k - t))), t
    )


@checked
def randomized_release(
    model: TestableModel,
    n_traces: int,
    *,
    k: int = 10,
    eta: float = 1.0,
    epsilon0: float = 1.0,
    delta: float = 1e-3,
    length: int | None = None,
    seed: int | None = None,
    callback: Callback = silent,
) -> RandomizedRelease:
    """Draw input users at random with replacement, make a trace of each, and test it.

    Parameters
    ----------
    model : a fitted synthesizer that has likelihoods.
    n_traces : traces to make; those that pass are fewer.
    epsilon0 : ε₀ > 0; the noise on k is Laplace with scale 1 / ε₀. It comes from the operating
        system, never from a seed: who knows the noise, from a seed that got out, has no noise.
    delta : the δ at which `privacy` states ε.
    seed : of the users and their traces, or None to draw one from the operating system.
    """
    require(n_traces >= 1, "n_traces must be at least 1")
    privacy = one_trace_privacy(k, eta, epsilon0, delta)
    synthetic = model.sample(n_traces=n_traces, length=length, seed=seed, callback=callback)
    tested = deniability_test(model, synthetic, k=k, eta=eta, callback=callback)
    noise = streams.generator(streams.fresh_seed(), "randomized test")
    noisy_k = k + noise.laplace(scale=1 / epsilon0, size=n_traces)
    passed = tested.plausible >= noisy_k
    return RandomizedRelease(
        synthetic,
        tested.plausible,
        passed,
        privacy,
        k,
        eta,
        epsilon0,
        vacuous=model.same_for_all_users,
    )
