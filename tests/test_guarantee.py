"""Guarantees: what each says, its limits, and the way through a manifest."""

import json

import pytest

import doppeltrace as dt
from doppeltrace.guarantee import Guarantee

EVERY = [
    Guarantee.none("It was not tested."),
    Guarantee.deniability(10, 1.0),
    Guarantee.deniability(10, 1.0, 200),
    Guarantee.deniability(10, 1.0, vacuous=True),
    Guarantee.one_trace(20, 1.0, epsilon0=1.0, epsilon=1.24, delta=1e-3),
    Guarantee.differential_privacy(1.0, 1e-6, limits=("Places were public.",)),
]


@pytest.mark.parametrize("one", EVERY, ids=lambda g: g.title)
def test_it_comes_back_from_a_manifest(one):
    assert Guarantee.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert all(text.endswith((".", "nothing")) for text in one.limits)
    assert "--" not in one.text  # Python knows no options of the command line


def test_which_of_them_protect_somebody():
    assert [bool(one) for one in EVERY] == [False, True, True, False, True, True]


def test_deniability_says_its_numbers_and_that_it_is_of_one_trace():
    one = Guarantee.deniability(10, 1.0, 200)
    assert one.title == "(10, 1)-plausible deniability"
    assert one.parameters == {"k": 10, "eta": 1.0, "verifiers": 200}
    assert "at least 10 users" in one.text and "2.72" in one.text
    assert one.unit == "each trace alone"
    assert any("not differential privacy" in limit for limit in one.limits)
    vacuous = Guarantee.deniability(10, 1.0, vacuous=True)
    assert "protects nobody" in vacuous.limits[0]


def test_only_the_model_promises_differential_privacy_of_the_release():
    whole = Guarantee.differential_privacy(2.0, 1e-6)
    assert whole.kind == "differential privacy" and whole.by_construction
    assert "one user with all of their data" in whole.unit
    one = Guarantee.one_trace(20, 1.0, epsilon0=1.0, epsilon=1.24, delta=1e-3)
    assert one.kind == "plausible deniability" and not one.by_construction
    assert "not differential privacy of the release" in one.limits[0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Guarantee.deniability(0, 1.0),
        lambda: Guarantee.deniability(2, float("nan")),
        lambda: Guarantee.deniability(2, 1.0, 0),
        lambda: Guarantee.one_trace(2, 1.0, epsilon0=0.0, epsilon=1.0, delta=0.1),
        lambda: Guarantee.one_trace(2, 1.0, epsilon0=1.0, epsilon=1.0, delta=1.0),
        lambda: Guarantee.differential_privacy(float("nan"), 0.0),
        lambda: Guarantee.differential_privacy(float("inf"), 0.0),
        lambda: Guarantee.differential_privacy(1.0, -0.1),
    ],
)
def test_numbers_that_are_no_guarantee(wrong):
    with pytest.raises(dt.SettingsError):
        wrong()
