"""The chain: its stationary distribution, and its draws against explicit matrices."""

import numpy as np
import pytest
from scipy import stats

import doppeltrace as dt
from explicit_chain import ExplicitChain, chi_square, random_model

MODELS = [
    {"seed": 0},
    {"seed": 1, "floor": 0.05},  # many clamped entries that matter
    {"seed": 2, "factors": 5, "places": 7, "floor": 0.3},
]


def _transition(model, user, position):
    """Return Q_{n,l}, l the slot of this position, out of the model's own likelihoods."""
    places = len(model.train.places)
    before = np.zeros((places * places, position - 1), int)
    a, b = np.divmod(np.arange(places * places), places)
    there = model.log_likelihood(np.column_stack([before, a, b]), [user])
    here = model.log_likelihood(np.column_stack([before, a]), [user])
    return np.exp(there - here).reshape(places, places)


def _first(model, user):
    places = np.arange(len(model.train.places))
    return np.exp(model.log_likelihood(places[:, None], [user])[:, 0])


@pytest.mark.parametrize("settings", MODELS)
def test_target_is_stationary(settings):
    """π Q = π in every slot, for the probabilities that the package itself computes."""
    model = random_model(**settings)
    for user in range(model.train.n_users):
        explicit = ExplicitChain(model.factors_, user, model.floor)
        np.testing.assert_allclose(_first(model, user), explicit.target[0], rtol=1e-10)
        for position, slot in ((1, 0), (2, 1), (3, 2)):
            q, pi = _transition(model, user, position), explicit.target[slot]
            np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-12)
            np.testing.assert_allclose(pi @ q, pi, atol=1e-12)
            # detailed balance, and the matrix itself
            np.testing.assert_allclose(pi[:, None] * q, (pi[:, None] * q).T, atol=1e-12)
            np.testing.assert_allclose(q, explicit.transition[slot], atol=1e-12)


@pytest.mark.parametrize("settings", MODELS)
def test_draws_follow_the_explicit_matrices(settings):
    model = random_model(**settings)
    places, draws = len(model.train.places), 20_000
    traces = model.sample(draws, seed=5).locations.reshape(-1, draws, 5)
    for user in range(model.train.n_users):
        explicit = ExplicitChain(model.factors_, user, model.floor)
        mine = traces[user]
        parts = [chi_square(np.bincount(mine[:, 0], minlength=places), explicit.target[0])]
        for t, slot in enumerate([0, 0, 1, 2, 2][1:], start=1):
            for origin in range(places):
                row = np.bincount(mine[mine[:, t - 1] == origin, t], minlength=places)
                if row.sum() >= 50:
                    parts.append(chi_square(row, explicit.transition[slot, origin]))
        statistic, degrees = np.sum(parts, axis=0)
        assert degrees >= 4 * (places - 2)
        assert 1e-4 < stats.chi2(degrees).sf(statistic) < 1 - 1e-4


def test_the_frequencies_would_betray_a_wrong_matrix():
    """The test above has power: the proposal in place of Q is far off."""
    model = random_model(seed=1, floor=0.05)
    explicit = ExplicitChain(model.factors_, 0, model.floor)
    mine = model.sample(20_000, seed=5, users=[0]).locations
    origin = np.argmax(np.bincount(mine[:, 0]))
    row = np.bincount(mine[mine[:, 0] == origin, 1], minlength=len(model.train.places))
    statistic, degrees = chi_square(row, explicit.proposal[origin])
    assert stats.chi2(degrees).sf(statistic) < 1e-12


def test_long_trace_goes_round_the_clock_and_visits_its_targets():
    """With all slots' targets alike, a long trace has that target as its frequencies."""
    model = random_model(seed=3, floor=0.2)
    theta = model.factors_
    same = np.repeat(theta.D[:1], 3, axis=0)
    model = dt.PPMTF.from_factors(
        theta.A, theta.B, theta.C, same, like=model.train, floor=model.floor
    )
    trace = model.sample(1, length=40_000, seed=1, users=[2]).locations[0]
    target = ExplicitChain(model.factors_, 2, model.floor).target[0]
    shares = np.array([np.split(trace == x, 40) for x in range(len(target))]).mean(axis=2)
    error = shares.std(axis=1, ddof=1) / np.sqrt(40)
    assert np.all(np.abs(shares.mean(axis=1) - target) < 4.5 * error)


def test_shape_owner_and_replicate():
    model = random_model(seed=0)
    synthetic = model.sample(3, length=8, users=[2, 0], seed=1)
    assert synthetic.locations.shape == (6, 8)
    np.testing.assert_array_equal(synthetic.owner, [2, 2, 2, 0, 0, 0])
    np.testing.assert_array_equal(synthetic.replicate, [0, 1, 2, 0, 1, 2])
    assert model.sample(seed=1).locations.shape == (4, 5)


def test_a_users_traces_do_not_depend_on_the_others_nor_on_how_many_are_asked_for():
    model = random_model(seed=0)
    everyone = model.sample(4, seed=9)
    some = model.sample(4, users=[3, 1], seed=9)
    np.testing.assert_array_equal(some.locations[:4], everyone.locations[12:])
    np.testing.assert_array_equal(some.locations[4:], everyone.locations[4:8])
    fewer = model.sample(2, users=[3], seed=9)
    np.testing.assert_array_equal(fewer.locations, some.locations[:2])


def test_seeds_decide_the_draws():
    model = random_model(seed=0)
    one, same, other = (model.sample(50, seed=s).locations for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    # without a seed every call draws its own from the operating system
    assert not np.array_equal(model.sample(50).locations, model.sample(50).locations)


def test_threads_do_not_change_the_draws():
    drawn = [random_model(seed=0, users=40, threads=n).sample(20, seed=1) for n in (1, 2, 3)]
    np.testing.assert_array_equal(drawn[1].locations, drawn[0].locations)
    np.testing.assert_array_equal(drawn[2].locations, drawn[0].locations)


@pytest.mark.parametrize(
    "wrong",
    [{"traces_per_user": 0}, {"users": [4]}, {"users": [-1]}, {"length": 0}, {"seed": -1}],
)
def test_arguments_out_of_range(wrong):
    with pytest.raises(dt.SettingsError):
        random_model(seed=0).sample(**wrong)
