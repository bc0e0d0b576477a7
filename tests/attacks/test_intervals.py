import numpy as np
import pytest
from scipy.stats import binomtest

from doppeltrace.attacks.intervals import clustered_rate_interval


def test_single_trials_give_clopper_pearson():
    # clusters of one: the variance over clusters is n/(n−1) times the binomial one
    hit = np.arange(400) < 100
    low, high = clustered_rate_interval(hit, np.arange(400))
    exact = binomtest(100, 400).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=2e-4)


def test_identical_replicates_are_worth_one_trial_each():
    hit = np.repeat(np.arange(100) < 30, 10)
    low, high = clustered_rate_interval(hit, np.repeat(np.arange(100), 10))
    exact = binomtest(30, 100).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=2e-3)


@pytest.mark.parametrize("rate, edge", [(0, 0.0), (1, 1.0)])
def test_rates_of_zero_and_one_keep_an_interval(rate, edge):
    low, high = clustered_rate_interval(np.full(50, rate == 1), np.arange(50) // 5)
    exact = binomtest(10 * rate, 10).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))
    assert edge in (low, high)


def test_interval_covers_the_truth_as_often_as_it_says():
    draws = np.random.default_rng(0)
    cluster = np.repeat(np.arange(60), 5)
    covered = 0
    for _ in range(300):
        chance = draws.beta(2, 18, size=60)  # mean 0.1, differing between clusters
        low, high = clustered_rate_interval(draws.random(300) < chance[cluster], cluster)
        covered += low <= 0.1 <= high
    assert covered >= 0.95 * 300 - 3 * np.sqrt(300 * 0.95 * 0.05)
