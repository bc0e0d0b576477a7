"""The chain along the base: stationarity, draws and likelihoods against explicit matrices."""

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

import doppeltrace as dt
from doppeltrace.chain import metropolis
from doppeltrace.chain.base_chain import _alias_tables, base_chain
from doppeltrace.deniability.likelihood import ChainLikelihood
from doppeltrace.factorize.state import Factors
from explicit_chain import ExplicitBaseChain, chi_square, random_model

CASES = [
    {"seed": 0, "jump": 0.0},
    {"seed": 1, "jump": 0.3},
    {"seed": 2, "jump": 1.0},
    {"seed": 3, "jump": 0.003, "places": 9, "factors": 5},
    {"seed": 4, "jump": 0.3, "factors": 1},
]


def _symmetric(rng, places, share=0.5):
    """Return a random base: symmetric, sparse, its diagonal positive."""
    upper = np.triu(rng.gamma(0.7, 1.0, (places, places)))
    upper[rng.random(upper.shape) > share] = 0.0
    lift = upper + np.triu(upper, 1).T
    np.fill_diagonal(lift, rng.gamma(2.0, 1.0, places) + 0.1)
    return lift


def _case(seed, jump, users=4, places=6, factors=3, slots=3):
    """Return (theta, lift, chain), random; shape 0.3 makes some entries of the factors tiny."""
    rng = np.random.default_rng(seed)
    theta = Factors(
        *(rng.gamma(0.3, 1.0, (n, factors)) + 1e-3 for n in (users, places, places, slots))
    )
    lift = _symmetric(rng, places)
    return (
        theta,
        lift,
        base_chain(theta, csr_array(lift), jump)._replace(stay_multiplier=_hold(slots)),
    )


def _hold(slots):
    """Return how much more, or less, each slot holds people than the base does."""
    return np.array([0.3, 1.0, 4.0])[:slots]


def _probabilities(chain, user):
    """Return (π (L, X), Q (L, X, X)) out of the package's own likelihoods."""
    places, slots = len(chain.B), len(chain.D)
    likelihood = ChainLikelihood(chain)
    a, b = np.divmod(np.arange(places * places, dtype=np.int32), places)
    who = np.array([user])
    firsts, moves = [], []
    for slot in range(slots):
        both = np.full(2, slot, np.int32)
        first = likelihood.log_likelihood(a[::places, None], both[:1], who)[:, 0]
        pair = likelihood.log_likelihood(np.column_stack([a, b]), both, who)[:, 0]
        firsts.append(np.exp(first))
        moves.append(np.exp(pair - np.repeat(first, places)).reshape(places, places))
    return np.array(firsts), np.array(moves)


@pytest.mark.parametrize("case", CASES)
def test_target_is_stationary_and_balanced_in_detail(case):
    theta, lift, chain = _case(**case)
    for user in range(len(theta.A)):
        explicit = ExplicitBaseChain(theta, user, lift, case["jump"], chain.stay_multiplier)
        target, transition = _probabilities(chain, user)
        np.testing.assert_allclose(target, explicit.target, rtol=1e-9)
        np.testing.assert_allclose(transition, explicit.transition, rtol=1e-9, atol=1e-12)
        for pi, q in zip(target, transition, strict=True):
            np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-12)
            np.testing.assert_allclose(pi @ q, pi, atol=1e-12)
            np.testing.assert_allclose(pi[:, None] * q, (pi[:, None] * q).T, atol=1e-12)


def test_jumps_alone_forget_the_place():
    _, _, chain = _case(2, 1.0)
    target, transition = _probabilities(chain, 0)
    np.testing.assert_allclose(transition, np.repeat(target[:, None], 6, axis=1), rtol=1e-12)


def test_without_jumps_places_without_a_tie_are_out_of_reach():
    _, lift, chain = _case(0, 0.0)
    _, transition = _probabilities(chain, 0)
    np.testing.assert_array_equal(transition > 0, np.repeat(lift[None] > 0, 3, axis=0))
    assert (lift == 0).any()
    impossible = np.argwhere(lift == 0)[:1].astype(np.int32)
    value = ChainLikelihood(chain).log_likelihood(impossible, np.zeros(2, np.int32), np.array([0]))
    assert value[0, 0] == -np.inf


@pytest.mark.parametrize("case", CASES)
def test_draws_follow_the_explicit_matrices(case):
    theta, lift, chain = _case(**case)
    places, draws = len(theta.B), 20_000
    slots = np.array([0, 0, 1, 2, 2], np.int32)
    traces = metropolis.sample(chain, np.arange(len(theta.A)), draws, slots, seed=5)
    for user, mine in enumerate(traces):
        explicit = ExplicitBaseChain(theta, user, lift, case["jump"], chain.stay_multiplier)
        parts = [chi_square(np.bincount(mine[:, 0], minlength=places), explicit.target[0])]
        for t in range(1, len(slots)):
            for origin in range(places):
                row = np.bincount(mine[mine[:, t - 1] == origin, t], minlength=places)
                q = explicit.transition[slots[t], origin]
                assert not row[q == 0].any()
                if row.sum() >= 50:
                    parts.append(chi_square(row[q > 0], q[q > 0]))
        statistic, degrees = np.sum(parts, axis=0)
        assert degrees >= 3 * places
        assert 1e-4 < stats.chi2(degrees).sf(statistic) < 1 - 1e-4


@pytest.mark.parametrize("wrong", ["proposals", "jump", "hold"])
def test_the_frequencies_would_betray_a_wrong_matrix(wrong):
    """The test above has power: without rejections, or with other settings, it is far off."""
    theta, lift, chain = _case(1, 0.3)
    mine = metropolis.sample(chain, np.array([0]), 50_000, np.zeros(2, np.int32), seed=5)[0]
    jump = 0.25 if wrong == "jump" else 0.3
    hold = chain.stay_multiplier * (3.0 if wrong == "hold" else 1.0)
    explicit = ExplicitBaseChain(theta, 0, lift, jump, hold)
    if wrong == "proposals":
        matrix = 0.7 * explicit.proposals[0] + 0.3 * explicit.target[0]
    else:
        matrix = explicit.transition[0]
    right = ExplicitBaseChain(theta, 0, lift, 0.3, chain.stay_multiplier).transition[0]
    origin = np.argmax(explicit.target[0] * np.abs(matrix - right).sum(axis=1))
    row = np.bincount(mine[mine[:, 0] == origin, 1], minlength=6)
    statistic, degrees = chi_square(row, matrix[origin])
    assert stats.chi2(degrees).sf(statistic) < 1e-12


@pytest.mark.parametrize("places", [1, 2, 7, 100])
def test_alias_tables_are_exact(places):
    weights = np.random.default_rng(places).gamma(0.1, 1.0, (places, 4)) + 1e-12
    cut, other = _alias_tables(weights)
    assert np.all((cut >= 0) & (cut <= 1))
    for k in range(4):
        p = cut[k] / places
        np.add.at(p, other[k], (1 - cut[k]) / places)
        np.testing.assert_allclose(p, weights[:, k] / weights[:, k].sum(), atol=1e-14)


# ---- extreme factors ------------------------------------------------------------------------


def _zero_rows(theta):
    theta.A[1] = 0.0
    theta.B[2] = 0.0
    theta.D[1] = 0.0


def _one_factor_died_out(theta):
    theta.B[:, 0] = 0.0


def _every_factor_died_out(theta):
    theta.A[:, 0] = theta.B[:, 1] = theta.D[:, 2] = 0.0


def _subnormal(theta):
    for m in (theta.A, theta.B, theta.D):
        m *= 1e-310


def _very_unequal(theta):
    theta.A[:, 0] *= 1e-200
    theta.B[:, 0] *= 1e-200
    theta.B[:, 1] *= 1e250
    theta.D[0] *= 1e-300


@pytest.mark.parametrize(
    "spoil",
    [_zero_rows, _one_factor_died_out, _every_factor_died_out, _subnormal, _very_unequal],
)
@pytest.mark.parametrize("jump", [0.0, 0.3])
def test_extreme_factors_still_make_a_chain(spoil, jump):
    theta, lift, _ = _case(6, jump)
    spoil(theta)
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        chain = base_chain(theta, csr_array(lift), jump)
    for user in range(4):
        target, transition = _probabilities(chain, user)
        assert np.all(target > 0)
        np.testing.assert_allclose(target.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(transition.sum(axis=2), 1.0, rtol=1e-9)
    slots = np.array([0, 1, 2, 0], np.int32)
    drawn = metropolis.sample(chain, np.arange(4), 200, slots, seed=1)
    assert drawn.min() >= 0
    assert drawn.max() < 6
    values = ChainLikelihood(chain).log_likelihood(drawn[1], slots, np.array([1]))
    assert np.all(np.isfinite(values))


def test_the_scale_of_a_factor_does_not_matter():
    theta, lift, chain = _case(7, 0.3)
    scale = np.array([1e-3, 7.0, 1e90])
    same = Factors(theta.A * scale, theta.B / scale**2, theta.C, theta.D * scale)
    for one, other in zip(
        _probabilities(chain, 0),
        _probabilities(
            base_chain(same, csr_array(lift), 0.3)._replace(stay_multiplier=chain.stay_multiplier),
            0,
        ),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_one_place():
    rng = np.random.default_rng(0)
    theta = Factors(*(rng.gamma(1.0, 1.0, (n, 7)) for n in (50, 1, 1, 3)))
    chain = base_chain(theta, csr_array([[0.37]]), 0.1)
    slots = np.array([0, 1, 2, 2], np.int32)
    assert not metropolis.sample(chain, np.arange(50), 2, slots, seed=1).any()
    values = ChainLikelihood(chain).log_likelihood(
        np.zeros((1, 4), np.int32), slots, np.arange(50)
    )
    assert np.all(values <= 0)  # a certain event is never more than certain
    np.testing.assert_allclose(values, 0.0, atol=1e-14)


# ---- likelihoods and the deniability test ---------------------------------------------------


def _model(chain):
    """Return what the deniability test asks of a model, for this chain."""
    model = random_model(0, users=len(chain.A), places=len(chain.B))
    model.likelihood = lambda: ChainLikelihood(chain)
    return model


@pytest.mark.parametrize("case", CASES)
def test_log_likelihood_is_that_of_the_explicit_matrices(case):
    theta, lift, chain = _case(**case)
    slots = np.array([0, 0, 1, 2, 2, 0, 0], np.int32)
    rng = np.random.default_rng(9)
    traces = rng.integers(0, len(theta.B), (40, 7)).astype(np.int32)
    drawn = metropolis.sample(chain, np.arange(4), 5, slots, seed=2).reshape(-1, 7)
    traces = np.concatenate([traces, drawn])
    users = np.array([3, 0, 2])
    values = ChainLikelihood(chain).log_likelihood(traces, slots, users)
    for u, user in enumerate(users):
        explicit = ExplicitBaseChain(theta, user, lift, case["jump"], chain.stay_multiplier)
        with np.errstate(divide="ignore"):  # an impossible move has ln p = −∞
            wanted = [explicit.log_likelihood(trace, slots) for trace in traces]
        np.testing.assert_allclose(values[:, u], wanted, rtol=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("eta", [0.3, 1.0])
def test_pruned_count_equals_brute_force(case, eta):
    _, _, chain = _case(**case, users=80)
    model = _model(chain)
    clock = model.train.clock
    slots = clock.slot(clock.timeline(7))
    drawn = metropolis.sample(chain, np.arange(80), 2, slots, seed=3).reshape(-1, 7)
    synthetic = dt.SyntheticTraces(
        drawn, np.repeat(np.arange(80), 2), np.tile([0, 1], 80), model.train.places, clock
    )
    values = model.likelihood().log_likelihood(drawn, slots, np.arange(80))
    own = values[np.arange(160), synthetic.owner]
    np.testing.assert_array_equal(model.likelihood().own(synthetic), own)
    with np.errstate(invalid="ignore"):
        bins = np.floor(-values / eta)
    wanted = np.sum(bins == np.floor(-own / eta)[:, None], axis=1)
    found = dt.deniability_test(model, synthetic, k=3, eta=eta)
    np.testing.assert_array_equal(found.plausible, wanted)
    assert 1 < wanted.mean()
    assert wanted.mean() < 80 or case.get("factors") == 1  # which makes all users alike
    stopped = dt.deniability_test(model, synthetic, k=3, eta=eta, count_all=False)
    np.testing.assert_array_equal(stopped.passed, wanted >= 3)
