"""The randomized test of the plausible-deniability paper, and the privacy one trace then has.

Bindschaedler, Shokri and Gunter (PVLDB 10(5), 2017): the input user is drawn uniformly at
random, and the threshold k gets fresh Laplace noise. For one released trace, and a model whose
shared parameters do not depend on the input data, this gives (ε, δ)-differential privacy. The
second condition does not hold for a model trained on the same users, and the guarantee fades
with every further trace; it is no statement about a whole release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.deniability.deterministic import deniability_test
from doppeltrace.errors import require
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
    """

    synthetic: SyntheticTraces
    plausible: NDArray[np.int64]
    passed: NDArray[np.bool_]
    privacy: OneTracePrivacy


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


def randomized_release(
    model: Any,
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
    epsilon0 : ε₀ > 0; the noise on k is Laplace with scale 1 / ε₀.
    delta : the δ at which `privacy` states ε.
    """
    require(n_traces >= 1, "the number of traces must be at least 1")
    privacy = one_trace_privacy(k, eta, epsilon0, delta)
    seed = streams.fresh_seed() if seed is None else seed
    rng = streams.generator(seed, "randomized test")
    drawn = np.bincount(
        rng.integers(model.train.n_users, size=n_traces), minlength=model.train.n_users
    )
    users = np.flatnonzero(drawn)
    synthetic = model.sample(
        int(drawn.max()), length=length, users=users, seed=seed, callback=callback
    )
    synthetic = synthetic.select(synthetic.replicate < drawn[synthetic.owner])
    tested = deniability_test(model, synthetic, k=k, eta=eta, callback=callback)
    noisy_k = k + rng.laplace(scale=1 / epsilon0, size=n_traces)
    return RandomizedRelease(synthetic, tested.plausible, tested.plausible >= noisy_k, privacy)
