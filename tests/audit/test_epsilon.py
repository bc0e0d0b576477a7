"""Clopper–Pearson against SciPy, and ε against its definition."""

import numpy as np
import pytest
from scipy.stats import binomtest

from doppeltrace.audit.epsilon import (
    clopper_pearson,
    epsilon_bound,
    epsilon_ceiling,
    judged_epsilon,
)


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (1, 200), (96, 96)])
def test_clopper_pearson_is_that_of_scipy(hits, trials):
    exact = binomtest(hits, trials).proportion_ci(method="exact")
    assert clopper_pearson(hits, trials) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_epsilon_is_the_larger_of_both_sides():
    low, _ = clopper_pearson(90, 96)
    _, high = clopper_pearson(4, 96)
    assert epsilon_bound(90, 96, 4, 96) == pytest.approx(
        max(np.log(low / high), np.log((1 - high) / (1 - low)))
    )
    # a test that is rarely right but never wrongly: the first side; its mirror: the second
    assert epsilon_bound(20, 96, 0, 96) == pytest.approx(epsilon_bound(96, 96, 76, 96))


def test_nothing_is_proved_by_equal_rates_or_by_no_trials():
    assert epsilon_bound(48, 96, 48, 96) == 0.0
    assert epsilon_bound(0, 0, 0, 96) == 0.0


def test_what_64_runs_of_3_canaries_can_prove():
    assert epsilon_ceiling(64, 3) == pytest.approx(3.24, abs=0.01)
    assert epsilon_ceiling(16, 3) < 2.0 < epsilon_ceiling(32, 3)


def test_a_threshold_finds_what_presence_does_not(rng):
    is_in = rng.random((64, 3)) < 0.5
    counts = np.where(is_in, rng.poisson(30, is_in.shape), rng.poisson(5, is_in.shape))
    epsilon, tpr, fpr = judged_epsilon(counts, is_in)
    assert (counts > 0).all(axis=None) or epsilon > 0
    assert epsilon > 2.0
    assert tpr > 0.95 and fpr < 0.05


def test_without_a_leak_at_most_five_per_cent_of_canaries_prove_anything(rng):
    proved = 0
    for _ in range(400):
        is_in = rng.random((64, 3)) < 0.5
        proved += judged_epsilon(rng.poisson(2.0, is_in.shape), is_in)[0] > 0
    # a bound of 95 %: more than 5 % + 3 standard errors would be a false promise
    assert proved / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
