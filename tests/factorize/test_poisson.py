"""The Poisson sampler: splits and conditionals against closed forms, likelihood, convergence."""

import numpy as np
import pytest
from scipy import stats

import doppeltrace as dt
from doppeltrace import streams, tensors
from doppeltrace.engine.local import use_threads
from doppeltrace.factorize import _poisson_kernels as kernels
from doppeltrace.factorize import poisson
from doppeltrace.factorize.state import Factors, Observations, State
from explicit_counts import expected, sparse


def _planted(rng, users=60, places=20, slots=6, z=3):
    """Return factors with clear clusters, and counts drawn from them."""
    theta = Factors(
        *(rng.gamma(0.5, scale, (n, z)) for n, scale in
          ((users, 4.0), (places, 0.8), (places, 0.8), (slots, 2.0)))
    )  # fmt: skip
    return theta, [rng.poisson(r) for r in expected(theta)]


def _log_likelihood(theta, counts):
    """Return Σ (r ln r̂ − r̂) per visit, from dense tensors."""
    total = 0.0
    for r, rate in zip(counts, expected(theta), strict=True):
        total += np.sum(r[r > 0] * np.log(rate[r > 0])) - rate.sum()
    return total / counts[1].sum()


# ---- the split of a count over the factors --------------------------------------------------


def test_counts_split_as_a_multinomial():
    """Each element has a column of its own, so that C's and D's units show its split."""
    rng = np.random.default_rng(0)
    a, b, c, d = (rng.gamma(1.0, 1.0, (n, 3)) for n in (1, 2, 2, 1))
    transitions, visits = np.zeros((1, 2, 2), int), np.zeros((1, 2, 1), int)
    transitions[0, 0, 0], transitions[0, 1, 1], visits[0, 1, 0] = 7, 2, 5
    t, v = sparse(transitions), sparse(visits)
    draws = 8_000
    split = np.zeros((draws, 3, 3))
    of_places = np.zeros((draws, 2, 3), np.int64)
    for s in range(draws):
        of_next, of_slots = np.zeros((2, 3), np.int64), np.zeros((1, 3), np.int64)
        kernels.draw_users(
            0, 1, t.offsets, t.row, t.column, t.count, v.offsets, v.row, v.column, v.count,
            a, b, c, d, 0.1, np.ones(3), streams.key(s, "split"), np.empty((1, 3)), np.empty(1),
            of_places[s], of_next, of_slots,
        )  # fmt: skip
        split[s] = np.concatenate([of_next, of_slots])
    np.testing.assert_array_equal(of_places[:, 0], split[:, 0])
    np.testing.assert_array_equal(of_places[:, 1], split[:, 1] + split[:, 2])
    for element, (n, weights) in enumerate(
        [(7, a[0] * b[0] * c[0]), (2, a[0] * b[1] * c[1]), (5, a[0] * b[1] * d[0])]
    ):
        mine, p = split[:, element], weights / weights.sum()
        assert np.all(mine.sum(axis=1) == n)
        error = np.sqrt(n * p * (1 - p) / draws)
        assert np.all(np.abs(mine.mean(axis=0) - n * p) < 4.5 * error)
        centred = mine - n * p
        products = centred[:, :, None] * centred[:, None, :]
        covariance = n * (np.diag(p) - np.outer(p, p))
        error = products.std(axis=0) / np.sqrt(draws)
        assert np.all(np.abs(products.mean(axis=0) - covariance) < 4.5 * error)


def test_a_factor_of_weight_zero_gets_nothing():
    t = sparse(np.full((1, 2, 2), 50))
    v = sparse(np.full((1, 2, 1), 50))
    a = np.array([[0.0, 1.0, 2.0, 0.0]])
    ones = np.ones((2, 4))
    places, following, slots = (np.zeros((n, 4), np.int64) for n in (2, 2, 1))
    kernels.draw_users(
        0, 1, t.offsets, t.row, t.column, t.count, v.offsets, v.row, v.column, v.count,
        a, ones, ones, ones[:1], 0.1, np.ones(4), streams.key(0, "zero"), np.empty((1, 4)),
        np.empty(1), places, following, slots,
    )  # fmt: skip
    assert not places[:, [0, 3]].any()
    assert places.sum() == 50 * (4 + 2)


# ---- the Gamma conditionals -----------------------------------------------------------------


@pytest.mark.parametrize(("shape", "rate"), [(0.1, 1.0), (1.7, 0.3)])
def test_entries_are_drawn_from_their_gamma_conditionals(shape, rate):
    """Each user has one factor, so splits are certain; the distribution function makes uniforms.

    B is drawn given the new A, C and D given the new A and B, so the closed forms use these.
    """
    rng = np.random.default_rng(1)
    users, places, slots = 4, 3, 2
    old = Factors(*(rng.gamma(2.0, 0.7, (n, 2)) for n in (users, places, places, slots)))
    factor = np.array([0, 1, 1, 0])
    old.A[np.arange(users), 1 - factor] = 0.0
    member = np.eye(2)[factor]
    r1 = rng.poisson(0.8, (users, places, places))
    r2 = rng.poisson(0.8, (users, places, slots))
    observed = Observations(sparse(r1), sparse(r2))
    units = {
        "A": member * (r1.sum(axis=(1, 2)) + r2.sum(axis=(1, 2)))[:, None],
        "B": r1.sum(axis=2).T @ member + r2.sum(axis=2).T @ member,
        "C": r1.sum(axis=1).T @ member,
        "D": r2.sum(axis=1).T @ member,
    }
    uniforms = {name: [] for name in "ABCD"}
    prior = poisson.GammaPrior(shape, rate)
    for seed in range(400):
        new = poisson.step(State(old, 0), observed, prior, seed)[0].factors
        a, b = new.A.sum(axis=0), new.B.sum(axis=0)
        last = old.C.sum(axis=0) + old.D.sum(axis=0)
        exposure = {"A": old.B.sum(axis=0) * last, "B": a * last, "C": a * b, "D": a * b}
        for name, values in uniforms.items():
            law = stats.gamma(shape + units[name], scale=1 / (rate + exposure[name]))
            values.append(law.cdf(getattr(new, name)))
    for name, values in uniforms.items():
        u = np.array(values)
        assert stats.kstest(u.ravel(), "uniform").pvalue > 1e-3, name
        # entries of one draw are independent of each other
        flat = u.reshape(len(u), -1)
        correlation = np.corrcoef(flat.T)[np.triu_indices(flat.shape[1], 1)]
        assert np.abs(correlation).max() < 4.5 / np.sqrt(len(u)), name


def test_without_any_count_the_prior_and_the_zeros_speak():
    """All counts zero: a_nk ~ Gamma(shape, rate + Σ_i b_ik (Σ_j c_jk + Σ_l d_lk))."""
    old = Factors(*(np.full((n, 1), 2.0) for n in (3_000, 2, 2, 3)))
    nothing = Observations(
        sparse(np.zeros((3_000, 2, 2), int)), sparse(np.zeros((3_000, 2, 3), int))
    )
    state, info = poisson.step(State(old, 0), nothing, poisson.GammaPrior(0.5, 4.0), seed=1)
    law = stats.gamma(0.5, scale=1 / (4.0 + 4.0 * (4.0 + 6.0)))
    assert stats.kstest(state.factors.A.ravel(), law.cdf).pvalue > 1e-3
    assert info.log_likelihood == pytest.approx(-3_000 * 2.0 * 4.0 * 10.0)


# ---- what a step tells ----------------------------------------------------------------------


def test_log_likelihood_is_that_of_the_dense_tensors():
    theta, counts = _planted(np.random.default_rng(2), users=9, places=7, slots=4)
    observed = Observations(*(sparse(r) for r in counts))
    _, info = poisson.step(State(theta, 0), observed, poisson.GammaPrior(), seed=0)
    assert info.log_likelihood == pytest.approx(_log_likelihood(theta, counts), rel=1e-10)


def test_start_has_the_scale_of_the_data():
    _, counts = _planted(np.random.default_rng(3))
    observed = Observations(*(sparse(r) for r in counts))
    theta = poisson.init(observed, 5, seed=1).factors
    assert [m.shape for m in (theta.A, theta.B, theta.C, theta.D)] == [
        (60, 5), (20, 5), (20, 5), (6, 5)
    ]  # fmt: skip
    assert expected(theta)[1].sum() == pytest.approx(counts[1].sum(), rel=0.1)
    assert theta.A.std() > 0  # equal factors would never part


def test_the_fit_rises_and_reaches_that_of_the_truth():
    rng = np.random.default_rng(4)
    truth, counts = _planted(rng)
    observed = Observations(*(sparse(r) for r in counts))
    state = poisson.init(observed, 3, seed=1)
    fits = []
    for _ in range(120):
        state, info = poisson.step(state, observed, poisson.GammaPrior(0.5, 0.5), seed=1)
        fits.append(info.log_likelihood)
    assert np.mean(fits[10:20]) > fits[0] + 0.2
    assert np.mean(fits[20:60]) > fits[1]
    late, last = np.array(fits[60:90]), np.array(fits[90:])
    assert abs(late.mean() - last.mean()) < 4 * np.hypot(late.std(), last.std())
    # a draw from the posterior fits within about its degrees of freedom of the truth
    entries = sum(m.size for m in (truth.A, truth.B, truth.C, truth.D))
    assert last.mean() > _log_likelihood(truth, counts) - entries / counts[1].sum()


@pytest.mark.parametrize("users", [1, 7, 90])
def test_threads_change_no_bit(users):
    traces = dt.simulate_city(users=users, places=25, seed=1).traces
    observed = Observations(tensors.transition_tensor(traces), tensors.visit_tensor(traces))
    results = []
    for n in (1, 2):
        with use_threads(n):
            state = poisson.init(observed, 4, seed=3)
            infos = []
            for _ in range(5):
                state, info = poisson.step(state, observed, poisson.GammaPrior(), seed=3)
                infos.append(info)
        results.append((state, infos))
    (one, told), (two, told_too) = results
    assert told == told_too
    for name in "ABCD":
        np.testing.assert_array_equal(getattr(one.factors, name), getattr(two.factors, name))


@pytest.mark.parametrize(
    "wrong",
    [{"shape": 0.0}, {"shape": -1.0}, {"rate": 0.0}, {"shape": np.nan}, {"rate": np.inf},
     {"shape": np.inf}],
)  # fmt: skip
def test_prior_out_of_range(wrong):
    with pytest.raises(dt.SettingsError):
        poisson.GammaPrior(**wrong)
