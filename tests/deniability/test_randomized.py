"""The randomized test: its ε and δ, whose noise it is, and what it promises."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.deniability.randomized import one_trace_privacy
from explicit_chain import random_model

CASES = ((20, 1.0, 1.0, 1e-3), (50, 0.5, 0.4, 1e-4), (2, 1.0, 3.0, 0.1))
"""k, eta, epsilon0, delta."""


def test_the_smallest_epsilon_by_hand():
    """Over every split t of the k users whose δ is small enough."""
    for k, eta, epsilon0, delta in (
        (20, 1.0, 1.0, 1e-3),
        (50, 0.5, 0.4, 1e-4),
        (2, 1.0, 3.0, 0.1),
    ):
        found = one_trace_privacy(k, eta, epsilon0, delta)
        splits = [t for t in range(1, k) if np.exp(-epsilon0 * (k - t)) <= delta]
        best = min(epsilon0 + np.log(1 + np.exp(eta) / t) for t in splits)
        assert found.epsilon == pytest.approx(best)
        assert found.delta <= delta
    with pytest.raises(dt.SettingsError, match="raise k"):
        one_trace_privacy(3, 1.0, 1.0, 1e-6)


@pytest.fixture(scope="module")
def model():
    return random_model(7, users=60, floor=0.05)


SETTINGS = {"k": 12, "eta": 1.0, "epsilon0": 1.0, "delta": 1e-3}


def test_traces_come_from_the_seed_and_noise_does_not(model):
    one, other = (dt.randomized_release(model, 400, **SETTINGS, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.synthetic.locations, other.synthetic.locations)
    np.testing.assert_array_equal(one.plausible, other.plausible)
    assert not np.array_equal(one.passed, other.passed)
    made = model.sample(n_traces=400, seed=3)
    np.testing.assert_array_equal(one.synthetic.owner, made.owner)
    tested = dt.deniability_test(model, made, k=12)
    np.testing.assert_array_equal(one.plausible, tested.plausible)


def test_the_noise_is_laplace_of_scale_one_over_epsilon0(model):
    """How often a trace with k′ = k passes is one half; with k′ = k + 2 it is 1 − e^−2ε₀ / 2."""
    found = dt.randomized_release(model, 20_000, **SETTINGS, seed=3)
    for more in (-2, 0, 2):
        there = found.passed[found.plausible == 12 + more]
        share = 0.5 * np.exp(-abs(more))
        expected = share if more <= 0 else 1 - share
        assert len(there) > 100
        deviation = np.sqrt(expected * (1 - expected) / len(there))
        assert abs(there.mean() - expected) < 4.5 * deviation


def test_what_one_trace_is_promised(model):
    found = dt.randomized_release(model, 5, **SETTINGS, seed=1)
    promise = found.guarantee
    assert promise.parameters["epsilon"] == found.privacy.epsilon
    assert promise.parameters["k"] == 12 and promise.unit == "one trace alone"
    assert promise and not promise.by_construction
    assert f"{found.passed.sum()} of 5 traces pass with k=12" in repr(found)
    uniform = dt.Uniform(seed=1).fit(model.train)
    assert not dt.randomized_release(uniform, 5, **SETTINGS, seed=1).guarantee
