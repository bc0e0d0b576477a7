"""Exact expectations of trivial generators against sums over all cases, and against draws."""

import numpy as np
import pytest
from scipy.stats import binom

import doppeltrace as dt
from doppeltrace.utility.expected import expected_tp, mean_deviation
from doppeltrace.utility.population import distributions, tp_tv, tp_tv_top


@pytest.mark.parametrize("m", [1, 2, 7, 40])
@pytest.mark.parametrize("q", [0.02, 0.5, 1.0])
def test_mean_deviation_is_the_sum_over_all_counts(m, q):
    for a in (0.0, 0.3, 1.0, m / 2, m - 0.2, float(m)):
        k = np.arange(m + 1)
        expected = np.sum(np.abs(k - a) * binom.pmf(k, m, q))
        assert mean_deviation(m, q, a) == pytest.approx(expected, abs=1e-12)


def test_mean_deviation_of_many_draws_is_finite():
    values = mean_deviation(5_000_000, np.array([1e-7, 0.3, 0.999]), np.array([0.0, 2e6, 5e6]))
    assert np.all(np.isfinite(values))
    assert values[1] == pytest.approx(5e5, rel=1e-6)  # X is nowhere near a


def test_by_hand():
    # one draw from (½, ½, 0): TV from (1, 0, 0) is 0 or 1, ½ on average; top 50 is everything
    test = np.array([[2, 0, 0]])
    assert expected_tp(test, np.array([[0.5, 0.5, 0.0]]), np.array([1])) == (0.5, 0.5)
    # no draw: uniform, ½ (⅔ + ⅓ + ⅓)
    assert expected_tp(test, np.array([[0.5, 0.5, 0.0]]), np.array([0]))[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", [dt.Frozen, dt.Independent])
def test_expectation_is_the_mean_over_draws(kind):
    city = dt.simulate_city(users=60, places=70, seed=3, style="checkins")
    train, test = city.split()
    slots, real = (
        np.bincount(t.slot * 70 + t.location, minlength=12 * 70).reshape(12, 70)
        for t in (train, test)
    )
    n, sets = 20, 200
    model = kind(seed=0).fit(train)
    scores = []
    for number in range(sets):
        made = model.sample(1, users=np.arange(n), seed=number).as_traces()
        counts = np.bincount(made.slot * 70 + made.location, minlength=12 * 70).reshape(12, 70)
        scores.append((tp_tv(real, counts), tp_tv_top(real, counts)))
    everyone = np.broadcast_to(slots.sum(axis=0), slots.shape)
    frozen = kind is dt.Frozen
    drawn_from = distributions(
        everyone if frozen else np.where(slots.sum(1, keepdims=True), slots, everyone)
    )
    exact = expected_tp(real, drawn_from, np.full(12, n if frozen else 2 * n))
    error = np.std(scores, axis=0) / np.sqrt(sets)
    assert np.all(np.abs(np.mean(scores, axis=0) - exact) < 5 * error)
