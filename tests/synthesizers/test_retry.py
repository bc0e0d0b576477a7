"""Retry if fail: Θ within κ, and what that costs."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.accounting import Trimming, trace_epsilon

SETTINGS = {"factors": 2, "iterations": 3, "trim": 5, "zeros": 20, "max_count": 3, "seed": 4}


@pytest.fixture(scope="module")
def kappas():
    """κ after 3, 4, … iterations: the draws that a retry goes through."""
    train = dt.simulate_city(30, 9, seed=1).traces
    return train, [
        dt.PPMTF(**{**SETTINGS, "iterations": n}).fit(train).kappa_ for n in range(3, 9)
    ]


@pytest.mark.parametrize("kind", [dt.PPMTF, dt.ITF])
def test_a_kappa_that_holds_already_changes_nothing(kappas, kind):
    train, _ = kappas
    plain, bound = kind(**SETTINGS).fit(train), kind(**SETTINGS, kappa=1e6).fit(train)
    assert np.array_equal(plain.factors_.A, bound.factors_.A)
    assert len(plain.history) == len(bound.history)


def test_the_first_draw_that_keeps_to_kappa_is_taken(kappas):
    train, seen = kappas
    best = int(np.argmin(seen))
    assert best > 0  # else there is nothing to retry
    kappa = seen[best]
    model = dt.PPMTF(**SETTINGS, kappa=kappa, retries=10).fit(train)
    same = dt.PPMTF(**{**SETTINGS, "iterations": 3 + best}).fit(train)
    assert model.kappa_ <= kappa
    assert np.array_equal(model.factors_.A, same.factors_.A)
    drawn, wanted = (m.sample(2, seed=1).locations for m in (model, same))
    assert np.array_equal(drawn, wanted)


def test_what_cannot_be_reached_is_told(kappas):
    train, _ = kappas
    with pytest.raises(
        dt.SettingsError, match=r"kappa=0 was not reached in 2 retries, but [\d.]+"
    ):
        dt.PPMTF(**SETTINGS, kappa=0, retries=2).fit(train)
    with pytest.raises(dt.SettingsError, match="kappa must not be negative"):
        dt.PPMTF(kappa=-1)


def test_the_cost_is_that_of_the_proposition():
    model = dt.PPMTF(alpha=2.0, trim=(5, 6), zeros=(20, 3), max_count=(3, 4), kappa=1.5)
    # 2 (min{15, 25} (3 + 1.5)² + min{18, 9} (4 + 1.5)²)
    assert model.epsilon_ == pytest.approx(2 * (15 * 4.5**2 + 9 * 5.5**2))
    same = trace_epsilon(2.0, transitions=Trimming(5, 20, 3), visits=Trimming(6, 3, 4), kappa=1.5)
    assert model.epsilon_ == same
    with pytest.raises(dt.SettingsError, match="epsilon_ needs kappa"):
        dt.PPMTF().epsilon_  # noqa: B018
