"""Privacy Test 1: bins, counting, pruning; likelihoods against explicit matrices."""

from types import SimpleNamespace

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.deniability import deterministic
from doppeltrace.deniability.likelihood import FormulaLikelihood
from explicit_chain import ExplicitChain, random_model

SLOTS = [0, 0, 1, 2, 2, 0, 0]  # of seven instants on the clock of `random_model`


def _brute_force(values, owner, verifiers, eta):
    """Return k′ from all likelihoods: values (traces, users)."""
    counts = []
    for row, n in zip(values, owner, strict=True):
        bin_number = np.floor(-row[n] / eta)
        bins = np.floor(-row / eta)
        counts.append(1 + sum(bins[m] == bin_number for m in verifiers if m != n))
    return np.array(counts)


@pytest.mark.parametrize(("seed", "floor"), [(0, 1e-8), (1, 0.05), (2, 0.5)])
def test_log_likelihood_is_that_of_the_explicit_matrices(seed, floor):
    model = random_model(seed, users=5, floor=floor)
    rng = np.random.default_rng(seed)
    random = rng.integers(0, 6, size=(30, 7))
    traces = np.concatenate([random, model.sample(4, length=7, seed=1).locations])
    users = np.array([3, 0, 4])
    values = model.log_likelihood(traces, users)
    for u, user in enumerate(users):
        explicit = ExplicitChain(model.factors_, user, floor)
        expected = [explicit.log_likelihood(trace, SLOTS) for trace in traces]
        np.testing.assert_allclose(values[:, u], expected, rtol=1e-9)


def test_probabilities_of_all_traces_add_up_to_one():
    model = random_model(0, places=4)
    every = np.stack(np.meshgrid(*[np.arange(4)] * 5), axis=-1).reshape(-1, 5)
    total = np.exp(model.log_likelihood(every, np.arange(4))).sum(axis=0)
    np.testing.assert_allclose(total, 1.0, rtol=1e-10)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("eta", [0.3, 1.0, 7.0])
def test_pruned_count_equals_brute_force(seed, eta):
    model = random_model(seed, users=70, floor=[1e-8, 0.02, 0.3, 1e-40][seed % 4])
    synthetic = model.sample(3, length=7, seed=seed)
    values = model.log_likelihood(synthetic.locations, np.arange(70))
    found = dt.deniability_test(model, synthetic, k=3, eta=eta)
    expected = _brute_force(values, synthetic.owner, range(70), eta)
    np.testing.assert_array_equal(found.plausible, expected)
    np.testing.assert_array_equal(found.passed, expected >= 3)
    assert found.pass_rate == np.mean(expected >= 3)
    assert 1 < found.plausible.mean() < 70  # the case is not trivial
    some = np.arange(5, 60, 2)
    found = dt.deniability_test(model, synthetic, k=3, eta=eta, verifiers=some)
    expected = _brute_force(values, synthetic.owner, some, eta)
    np.testing.assert_array_equal(found.plausible, expected)
    assert found.n_verifiers == len(some)


def test_kernel_includes_the_upper_end_of_the_bin_and_not_the_lower():
    model = random_model(4, users=3)
    synthetic = model.sample(1, length=7, seed=1).select([0])
    (value,) = model.log_likelihood(synthetic.locations, [1])[0]

    def count(lower, upper):
        ends = (np.array([lower]), np.array([upper]))
        return model.likelihood().counting(synthetic, *ends)(
            np.array([1]), np.array([1]), np.array([0])
        )

    assert count(value - 1, value) == 1
    assert count(value, value + 1) == 0
    below = np.nextafter(value, -np.inf)
    assert count(below, value) == 1
    assert count(below - 1, below) == 0


@pytest.mark.parametrize("count_all", [True, False])
def test_a_test_goes_on_from_where_it_was_stopped(monkeypatch, count_all):
    monkeypatch.setattr(deterministic, "BLOCK_VERIFIERS", 8)
    model = random_model(2, users=40)
    synthetic = model.sample(2, length=7, seed=1)
    kept = []

    def keep(counting):
        kept.append(counting._replace(plausible=counting.plausible.copy()))

    settings = {"k": 12, "eta": 2.0, "count_all": count_all}
    whole = dt.deniability_test(model, synthetic, **settings, keep=keep)
    assert [counting.done for counting in kept] == [8, 16, 24, 32, 40]
    for counting in kept:
        again = dt.deniability_test(model, synthetic, **settings, counted=counting)
        np.testing.assert_array_equal(again.plausible, whole.plausible)


def test_long_traces_whose_products_would_underflow():
    model = random_model(1, users=20)
    synthetic = model.sample(1, length=3000, seed=2)
    values = model.log_likelihood(synthetic.locations, np.arange(20))
    deep = values[np.arange(20), synthetic.owner] < np.log(np.finfo(float).tiny)
    assert 0 < deep.sum() < 20
    found = dt.deniability_test(model, synthetic, k=2, eta=500.0)
    expected = _brute_force(values, synthetic.owner, range(20), 500.0)
    np.testing.assert_array_equal(found.plausible, expected)
    assert found.plausible[deep].max() > 1


# ---- with given likelihoods -----------------------------------------------------------------


def _stub(values):
    """Return a model whose single trace has these log-likelihoods under users 0, 1, …"""
    values = np.asarray(values, dtype=float)
    model = random_model(0, users=len(values))
    formula = FormulaLikelihood(lambda locations, users: values[None, users])
    return SimpleNamespace(
        **{name: getattr(model, name) for name in ("n_users", "places", "clock")},
        testable=True,
        same_for_all_users=False,
        alike=None,
        threads=None,
        likelihood=lambda: formula,
    )


def _trace(model, owner=0):
    return dt.SyntheticTraces([[0] * 5], [owner], [0], model.places, model.clock)


@pytest.mark.parametrize(
    ("values", "eta", "plausible"),
    [
        ([-1.5, -1.0, -1.999, -2.0, -0.999], 1.0, 3),  # bin 1 is (−2, −1]
        ([-1.0, -1.5, -2.0, -0.5], 1.0, 2),  # p on the upper end
        ([0.0, -0.999, -1.0], 1.0, 2),  # certain: bin 0 is (−1, 0]
        ([-3.0, -2.5, -3.4, -3.6, -4.0], 0.5, 2),  # bin 6 is (−3.5, −3]
        ([-700.0, -650.0, -749.0, -750.1], 50.0, 2),  # bin 14 is (−750, −700]
    ],
)
def test_bins(values, eta, plausible):
    model = _stub(values)
    assert dt.deniability_test(model, _trace(model), k=1, eta=eta).plausible == [plausible]


def test_the_input_user_counts_once_whether_or_not_in_the_subset():
    model = _stub([-1.5, -1.5, -1.5, -9.0])
    trace = _trace(model)
    for verifiers, plausible in (([0, 1, 2], 3), ([1, 2], 3), ([0], 1), ([3], 1), ([1, 1], 2)):
        found = dt.deniability_test(model, trace, k=2, verifiers=verifiers)
        assert (found.plausible[0], found.passed[0]) == (plausible, plausible >= 2)


def test_passing_takes_at_least_k():
    model = _stub([-1.5, -1.5, -1.5, -9.0])
    for k, passed in ((3, True), (4, False)):
        assert dt.deniability_test(model, _trace(model), k=k).passed == [passed]


# ---- counting up to k, subsets, threads -----------------------------------------------------


@pytest.fixture(scope="module")
def many():
    """A model of more users than one block of verifiers, and traces from it."""
    model = random_model(7, users=200, floor=0.05)
    return model, model.sample(2, seed=3)


def test_stopping_at_k_gives_the_same_verdict(many):
    model, synthetic = many
    full = dt.deniability_test(model, synthetic, k=10)
    stopped = dt.deniability_test(model, synthetic, k=10, count_all=False)
    assert 0 < full.pass_rate < 1
    np.testing.assert_array_equal(stopped.passed, full.passed)
    np.testing.assert_array_equal(stopped.plausible, np.minimum(full.plausible, 10))
    expected = [np.mean(full.plausible >= k) for k in (1, 10, 50)]
    np.testing.assert_allclose(full.pass_rate_at([1, 10, 50]), expected)
    np.testing.assert_allclose(stopped.pass_rate_at([1, 10]), expected[:2])
    with pytest.raises(dt.SettingsError, match="count_all"):
        stopped.pass_rate_at([11])


def test_random_verifiers_are_seeded_and_of_the_wanted_number(many):
    model, synthetic = many
    counts = [
        dt.deniability_test(model, synthetic, k=5, verifiers=60, seed=s).plausible
        for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(counts[0], counts[1])
    assert not np.array_equal(counts[0], counts[2])
    full = dt.deniability_test(model, synthetic, k=5)
    assert np.all(counts[0] <= full.plausible)
    # each other user is among the 60 of 200 with probability 0.3
    others = (full.plausible - 1).sum()
    assert abs((counts[0] - 1).sum() / others - 0.3) < 0.06
    everyone = dt.deniability_test(model, synthetic, k=5, verifiers=10_000, seed=1)
    np.testing.assert_array_equal(everyone.plausible, full.plausible)
    assert everyone.n_verifiers == 200


def test_threads_do_not_change_the_counts():
    counts = []
    for threads in (1, 2, 3):
        model = random_model(7, users=100, floor=0.05, threads=threads)
        counts.append(dt.deniability_test(model, model.sample(seed=3), k=2).plausible)
    np.testing.assert_array_equal(counts[1], counts[0])
    np.testing.assert_array_equal(counts[2], counts[0])


def test_order_of_the_traces_does_not_matter(many):
    model, synthetic = many
    order = np.random.default_rng(0).permutation(len(synthetic))
    full = dt.deniability_test(model, synthetic, k=10)
    mixed = dt.deniability_test(model, synthetic.select(order), k=10)
    np.testing.assert_array_equal(mixed.plausible, full.plausible[order])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 5}, "exceeds the 4 training users"),
        ({"k": 2, "eta": 0.0}, "eta must be positive"),
        ({"k": 2, "eta": -1.0}, "eta must be positive"),
        ({"k": 2, "eta": float("nan")}, "eta must be a number"),
        ({"k": 2, "verifiers": 0}, "verifiers"),
        ({"k": 2, "verifiers": [4]}, "verifiers"),
        ({"k": 2, "verifiers": [-1]}, "verifiers"),
        ({"k": 2, "verifiers": []}, "verifiers"),
        ({"k": 4, "verifiers": 2}, "needs at least 3 verifiers, but there are 2"),
        ({"k": 4, "verifiers": [0, 0, 1]}, "needs at least 3 verifiers, but there are 2"),
    ],
)
def test_arguments_out_of_range(wrong, message):
    model = random_model(0)
    with pytest.raises(dt.SettingsError, match=message):
        dt.deniability_test(model, model.sample(seed=1), **wrong)


def test_traces_that_cannot_be_tested():
    model = random_model(0)
    train = model.train
    good = {"locations": [[0] * 5], "owner": [0], "replicate": [0]}
    other_places = random_model(0, places=9).train.places
    other_clock = dt.Clock.regular(instant_minutes=60)
    for wrong in (
        {"owner": [-1]},
        {"owner": [4]},
        {"locations": [[0, -1, 0, 0, 0]]},
        {"places": other_places},
        {"clock": other_clock},
    ):
        columns = good | {"places": train.places, "clock": train.clock} | wrong
        with pytest.raises(dt.InputError):
            dt.deniability_test(model, dt.SyntheticTraces(**columns), k=2)
    for locations, users in (([[6]], [0]), ([[-1]], [0]), ([[0]], [4]), ([[0]], [-1]), ([0], [0])):
        with pytest.raises(dt.SettingsError):
            model.log_likelihood(locations, users)


def test_what_a_trace_that_passed_is_promised(many):
    model, synthetic = many
    promise = dt.deniability_test(model, synthetic, k=5).guarantee
    assert promise.parameters == {"k": 5, "eta": 1.0} and promise
    some = dt.deniability_test(model, synthetic, k=5, verifiers=60, seed=1).guarantee
    assert some.parameters["verifiers"] == 60
    vacuous = dt.SGD(seed=1).fit(model.train)
    found = dt.deniability_test(vacuous, vacuous.sample(seed=1), k=5)
    assert found.passed.all() and found.guarantee.vacuous and not found.guarantee
    assert repr(found) == "Deniability(200 of 200 traces pass with k=5, eta=1)"
