"""The safeguards together: users bounded, then rare places merged, everything on one map."""

import json

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.safeguards.protect import protect
from doppeltrace.safeguards.rare_places import users_per_place
from doppeltrace.traces import Clock, Places, Traces

CLOCK = Clock.regular(instant_minutes=60)
PLACES = Places(np.arange(4), np.zeros(4), [0.0, 0.1, 1.0, 1.1])


def crowd(heavy_place=3, heavy_days=100):
    """Return six users at places 0 and 2 every day, one of them with a place of its own, too."""
    rows = [(u, 24 * d + h, 2 * (h % 2)) for u in range(6) for d in range(3) for h in range(24)]
    rows += [(0, 24 * d + 25, heavy_place) for d in range(3, heavy_days)]
    user, instant, location = np.array(rows).T
    return Traces.from_events(user, location, instant, places=PLACES, clock=CLOCK)


def test_the_model_sees_bounded_users_and_everybody_moves_to_the_same_places():
    train = crowd()
    done = protect(train, crowd(1), max_events=80, seed=0)
    assert np.diff(done.fitted.offsets).max() == 80
    assert done.train.n_events == train.n_events
    np.testing.assert_array_equal(done.train.location, done.place_of[train.location])
    assert done.fitted.places is done.train.places
    assert done.test.places is done.train.places
    assert done.train.places.labels.tolist() == [0, 2]
    assert users_per_place(done.fitted).min() >= 5
    told = json.loads(json.dumps(done.to_dict()))
    assert told["user_caps"]["users_capped"] == 1
    assert told["rare_places"]["places_kept"] == 2
    assert len(done.words) == len(done.public_words) == 2


def test_a_place_needs_enough_users_among_the_events_that_are_left():
    rows = [(u, 24 * d + h, 2 * (h % 2)) for u in range(6) for d in range(9) for h in range(24)]
    rows += [(u, 24 * 9, 3) for u in range(5)]  # once each: with two days left, hardly by all
    user, instant, location = np.array(rows).T
    train = Traces.from_events(user, location, instant, places=PLACES, clock=CLOCK)
    done = protect(train, max_events=24, seed=1)
    assert users_per_place(train)[3] == 5
    assert done.merged[3]


@pytest.mark.parametrize("model", [dt.Doppel, dt.PPMTF])
def test_no_venue_of_few_people_is_in_a_release_of_new_york(model, nyc):
    users = users_per_place(nyc.train)
    assert np.count_nonzero(users == 1) == 318
    done = protect(nyc.train, nyc.test, seed=0)
    fitted = model(iterations=5, seed=0).fit(done.fitted)
    shown = fitted.sample(1, seed=1)
    labels = np.unique(shown.places.labels[np.unique(shown.locations)])
    rare = nyc.train.places.labels[users < 5]
    assert len(labels) > 100
    assert not np.isin(labels, rare).any()
