"""The two trivial generators, held against the distributions they are defined by."""

import numpy as np
import pytest

import doppeltrace as dt


def _share(column, n_places):
    return np.bincount(column, minlength=n_places) / len(column)


def _within(observed, expected, draws):
    """Five standard errors of a share."""
    return np.all(np.abs(observed - expected) <= 5 * np.sqrt(expected * (1 - expected) / draws))


def test_frozen_stays_at_a_training_visit(tiny):
    made = dt.Frozen(seed=0).fit(tiny).sample(3000, seed=1).locations
    assert np.all(made == made[:, :1])
    visits = np.bincount(tiny.location, minlength=5) / tiny.n_events
    assert _within(_share(made[:, 0], 5), visits, len(made))


def test_independent_draws_each_event_from_its_slot(tiny):
    made = dt.Independent(seed=0).fit(tiny).sample(3000, seed=1).locations
    for t, slot in enumerate(tiny.clock.slot_of):
        expected = np.bincount(tiny.location[tiny.slot == slot], minlength=5)
        assert _within(_share(made[:, t], 5), expected / expected.sum(), len(made))
    # neighbours in one slot: the joint distribution is the product
    first = np.bincount(tiny.location[tiny.slot == 0], minlength=5) / np.sum(tiny.slot == 0)
    pair = _share(made[:, 0] * 5 + made[:, 1], 25).reshape(5, 5)
    assert _within(pair, np.outer(first, first), len(made))


def test_a_slot_without_events_draws_from_all(tiny):
    early = tiny.instant < 6
    traces = dt.Traces.from_events(
        tiny.user[early],
        tiny.location[early],
        tiny.instant[early],
        places=tiny.places,
        clock=tiny.clock,
    )
    model = dt.Independent(seed=0).fit(traces)
    made = model.sample(3000, seed=2).locations
    everywhere = np.bincount(traces.location, minlength=5) / traces.n_events
    assert _within(_share(made[:, 8], 5), everywhere, len(made))
    at = np.full((1, 9), 4)
    at[0, :6] = 1
    slot_share = [np.mean(traces.location[traces.slot == s] == 1) for s in (0, 1)]
    expected = 3 * np.log(slot_share).sum() + 3 * np.log(everywhere[4])
    assert model.log_likelihood(at, [0]) == pytest.approx(expected)


def test_a_frozen_trace_that_moves_is_impossible(tiny):
    model = dt.Frozen(seed=0).fit(tiny)
    still, moving = np.full((1, 9), 4), np.full((1, 9), 4)
    moving[0, 3] = 0
    share = np.mean(tiny.location == 4)
    assert model.log_likelihood(still, [0, 1]) == pytest.approx(np.log([[share, share]]))
    assert np.all(np.isneginf(model.log_likelihood(moving, [0])))


@pytest.mark.parametrize("model", [dt.Frozen, dt.Independent])
def test_yardsticks_say_that_they_promise_nothing(model, tiny):
    fitted = model(seed=0).fit(tiny)
    assert fitted.same_for_all_users and not model.releasable
    assert dt.deniability_test(fitted, fitted.sample(2, seed=1), k=3).passed.all()
