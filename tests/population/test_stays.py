"""How long a slot holds people: shares by hand, and a fit that gives them back."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import doppeltrace as dt
from doppeltrace.chain.base_chain import base_chain
from doppeltrace.engine.local import use_threads
from doppeltrace.factorize.state import Factors
from doppeltrace.population.stays import (
    DRAWS,
    LARGEST,
    SMALLEST,
    fit_holding,
    records_stays,
    stay_shares,
)
from explicit_chain import ExplicitBaseChain


def test_shares_by_hand(tiny):
    """Of 6, 5 and 4 transitions into the three slots 1, 2 and 1 stay."""
    np.testing.assert_allclose(stay_shares(tiny, min_users=1), [1 / 6, 2 / 5, 1 / 4])
    # the last slot sees two of the three users only, and gets the share of all transitions
    np.testing.assert_allclose(stay_shares(tiny, min_users=3), [1 / 6, 2 / 5, 4 / 15])


def test_check_ins_do_not_record_stays(tiny, people_flow, nyc):
    assert records_stays(tiny) and records_stays(people_flow.train)
    assert not records_stays(nyc.train)


def _chain(seed=0, users=30, places=12, slots=4):
    rng = np.random.default_rng(seed)
    theta = Factors(*(rng.gamma(0.7, 1.0, (n, 3)) + 0.01 for n in (users, places, places, slots)))
    lift = rng.gamma(1.0, 1.0, (places, places))
    lift = lift + lift.T + np.diag(rng.gamma(3.0, 1.0, places))
    return theta, lift, base_chain(theta, csr_array(lift), 0.1)


def _stays(theta, lift, chain):
    """Return (users, slots) the share of steps that stay, at the stationary distribution."""
    every = []
    for user in range(len(theta.A)):
        explicit = ExplicitBaseChain(theta, user, lift, chain.jump, chain.stay_multiplier)
        stay = np.diagonal(explicit.transition, axis1=1, axis2=2)
        every.append((explicit.target * stay).sum(axis=1))
    return np.array(every)


def test_the_fit_gives_the_shares_back():
    theta, lift, chain = _chain()
    wanted = np.array([0.3, 0.5, 0.8, 0.95])
    fitted = fit_holding(chain, wanted, seed=1)
    assert np.all(np.diff(fitted.stay_multiplier) > 0)
    found = _stays(theta, lift, fitted).mean(axis=0)
    # a draw's probability to stay has a deviation of at most 1/2
    np.testing.assert_allclose(found, wanted, atol=4 * 0.5 / np.sqrt(DRAWS))
    assert np.abs(_stays(theta, lift, chain).mean(axis=0) - wanted).max() > 0.2  # it had to work
    for name in ("A", "B", "D", "lift", "own"):
        assert getattr(fitted, name) is getattr(chain, name)


def test_shares_out_of_reach_go_as_near_as_allowed():
    _, _, chain = _chain()
    fitted = fit_holding(chain, np.array([0.0, 1.0, 0.0, 1.0]), seed=1)
    np.testing.assert_allclose(fitted.stay_multiplier, [SMALLEST, LARGEST] * 2, rtol=2e-3)


def test_threads_do_not_matter_and_seeds_do():
    _, _, chain = _chain()
    wanted = np.full(4, 0.6)
    holds = []
    for threads in (1, 2):
        with use_threads(threads):
            holds.append(fit_holding(chain, wanted, seed=1).stay_multiplier)
    np.testing.assert_array_equal(*holds)
    other = fit_holding(chain, wanted, seed=2).stay_multiplier
    assert not np.array_equal(holds[0], other)


@pytest.mark.parametrize("rhythm", [None, False])
def test_people_move_when_the_training_users_do(rhythm):
    """In the simulated city half of all move at eight in the morning, an eighth at noon."""
    train, _ = dt.simulate_city(600, 60, seed=3).split()
    model = dt.Doppel(iterations=60, seed=1, rhythm=rhythm).fit(train)
    made = model.sample(4, seed=2).as_traces()
    real, drawn = (1 - stay_shares(traces, 1) for traces in (train, made))
    apart = np.abs(real - drawn)[1:].mean()
    assert apart < 0.04 if rhythm is None else apart > 0.08
