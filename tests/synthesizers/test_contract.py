"""The contract that every synthesizer keeps. A new one joins by a line in `MODELS`."""

import datetime
import inspect

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.errors import NotFittedError
from doppeltrace.synthesizers import MODELS

SMALL = {"factors": 1, "iterations": 3, "zeros": 4, "clusters": 2, "copied": 1}
"""Settings that make a model quick; each takes those it knows."""

DETERMINISTIC = {"training"}


@pytest.fixture(params=sorted(MODELS))
def make(request):
    """Return a function that builds the model, small and seeded."""
    model = MODELS[request.param]
    known = inspect.signature(model).parameters
    settings = {name: value for name, value in SMALL.items() if name in known}
    return lambda **more: model(**{**settings, "seed": 7, **more})


def _places(n):
    return dt.Places(np.arange(n), np.linspace(35.0, 35.1, n), np.linspace(139.0, 139.1, n))


def _check_ins():
    """Four users over three days of a daily clock, with gaps; the third has no event."""
    clock = dt.Clock.regular(instant_minutes=240, daily=True)
    user = [0, 0, 0, 0, 1, 1, 3, 3, 3, 3]
    instant = [0, 1, 7, 8, 13, 14, 2, 6, 7, 8]
    location = [0, 1, 2, 2, 3, 0, 1, 1, 2, 3]
    return dt.Traces.from_events(
        user, location, instant, places=_places(4), clock=clock, users=np.array(list("abcd"))
    )


def _one(users, places):
    """`users` users who are at place 0 for four instants."""
    clock = dt.Clock(np.arange(4), 1200, datetime.datetime(2020, 1, 1, 9))
    user, instant = np.repeat(np.arange(users), 4), np.tile(np.arange(4), users)
    return dt.Traces.from_events(
        user, np.zeros_like(user), instant, places=_places(places), clock=clock
    )


def test_fit_returns_the_model_itself(make, tiny):
    model = make()
    assert model.fit(tiny) is model
    assert model.train is tiny


def test_before_fit(make):
    with pytest.raises(NotFittedError, match="call fit first"):
        make().sample()


def test_nothing_to_learn_from(make, tiny):
    with pytest.raises(dt.InputError, match="no events"):
        make().fit(tiny.select([]))


def test_shapes_owners_and_replicates(make, tiny):
    synthetic = make().fit(tiny).sample(4, seed=1)
    assert synthetic.locations.shape == (12, 9)
    assert synthetic.locations.dtype == np.int32
    np.testing.assert_array_equal(synthetic.owner, np.repeat([0, 1, 2], 4))
    np.testing.assert_array_equal(synthetic.replicate, np.tile(np.arange(4), 3))
    assert synthetic.places is tiny.places
    assert synthetic.clock is tiny.clock
    complete = synthetic.locations >= 0
    assert complete.all() or type(make()).name == "training"


def test_seeds(make, tiny):
    model = make().fit(tiny)
    one = model.sample(20, seed=3).locations
    np.testing.assert_array_equal(one, model.sample(20, seed=3).locations)
    np.testing.assert_array_equal(one, make().fit(tiny).sample(20, seed=3).locations)
    assert np.array_equal(one, model.sample(20, seed=4).locations) == (model.name in DETERMINISTIC)


def test_replicates_differ(make, tiny):
    model = make().fit(tiny)
    parts = [part.locations for part in model.sample(20, seed=3).by_replicate()]
    alike = all(np.array_equal(parts[0], part) for part in parts)
    assert alike == (model.name in DETERMINISTIC)


def test_threads_change_nothing(make):
    traces = dt.simulate_city(users=60, places=30, seed=1).traces
    drawn = [make(threads=n).fit(traces).sample(2, seed=5).locations for n in (1, 2, 3)]
    np.testing.assert_array_equal(drawn[1], drawn[0])
    np.testing.assert_array_equal(drawn[2], drawn[0])


def test_a_user_does_not_depend_on_the_others_asked_for(make, tiny):
    model = make().fit(tiny)
    everyone = model.sample(3, seed=2)
    some = model.sample(3, seed=2, users=[2, 0])
    np.testing.assert_array_equal(some.owner, [2, 2, 2, 0, 0, 0])
    for user in (0, 2):
        np.testing.assert_array_equal(
            some.locations[some.owner == user], everyone.locations[everyone.owner == user]
        )


def test_nobody_asked_for(make, tiny):
    synthetic = make().fit(tiny).sample(2, users=[], seed=1)
    assert synthetic.locations.shape == (0, 9)


@pytest.mark.parametrize("length", [1, 4])
def test_shorter_traces(make, tiny, length):
    assert make().fit(tiny).sample(2, length=length, seed=1).locations.shape == (6, length)


def test_longer_traces_where_the_clock_goes_round(make, tiny):
    assert make().fit(_check_ins()).sample(length=15, seed=1).locations.shape == (4, 15)
    with pytest.raises(dt.SettingsError, match="does not repeat"):
        make().fit(tiny).sample(length=15)


@pytest.mark.parametrize(
    "wrong", [{"traces_per_user": 0}, {"users": [3]}, {"users": [-1]}, {"seed": -1}]
)
def test_sampling_out_of_range(make, tiny, wrong):
    with pytest.raises(dt.SettingsError):
        make().fit(tiny).sample(**wrong)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"threads": 0}])
def test_settings_out_of_range(make, wrong):
    with pytest.raises(dt.SettingsError):
        make(**wrong)


def test_one_user(make):
    synthetic = make().fit(_one(users=1, places=3)).sample(2, seed=1)
    assert synthetic.locations.shape == (2, 4)


def test_one_place(make):
    synthetic = make().fit(_one(users=3, places=1)).sample(2, seed=1)
    np.testing.assert_array_equal(synthetic.locations, np.zeros((6, 4)))


def test_missing_events_and_a_user_without_any(make):
    traces = _check_ins()
    synthetic = make().fit(traces).sample(3, seed=1)
    assert synthetic.locations.shape == (12, 6)
    assert synthetic.locations.max() < 4


def test_progress_comes_to_its_end(make, tiny):
    steps = []
    model = make().fit(tiny, callback=steps.append)
    assert steps[-1].phase == "training"
    assert steps[-1].done == steps[-1].total
    steps.clear()
    model.sample(2, seed=1, callback=steps.append)
    assert (steps[-1].phase, steps[-1].done) == ("synthesis", steps[-1].total)


def test_likelihoods_add_up_to_one_or_are_refused(make):
    """Sum over all traces of three events at three places is 1 for every user."""
    clock = dt.Clock([0, 1, 1], 1200, datetime.datetime(2020, 1, 1, 9))
    traces = dt.Traces.from_events(
        [0, 0, 0, 1, 1, 1, 2],
        [0, 1, 1, 2, 2, 0, 1],
        [0, 1, 2, 0, 1, 2, 1],
        places=_places(3),
        clock=clock,
    )
    model = make().fit(traces)
    every = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3)
    if model.name in {"sglt", "training"}:
        with pytest.raises(dt.SettingsError, match="no likelihoods"):
            model.log_likelihood(every, np.arange(3))
        return
    values = model.log_likelihood(every, np.arange(3))
    assert values.shape == (27, 3)
    np.testing.assert_allclose(np.exp(values).sum(axis=0), 1, atol=1e-9)
    drawn = model.sample(5, seed=1)
    own = model.likelihood().own(drawn)
    assert np.all(np.isfinite(own))
    full = model.log_likelihood(drawn.locations, np.arange(3))
    np.testing.assert_allclose(own, full[np.arange(15), drawn.owner], atol=1e-9)
    with pytest.raises(dt.SettingsError, match="locations must"):
        model.log_likelihood(np.full((1, 3), 3), np.arange(3))
    with pytest.raises(dt.SettingsError, match="users must"):
        model.log_likelihood(every, np.array([3]))
