"""The two ends of the scale: the input itself, and nothing of it."""

import datetime
import math

import numpy as np

import doppeltrace as dt
from doppeltrace.synthesizers.windows import fullest_windows


def _check_ins(**events):
    clock = dt.Clock.regular(instant_minutes=360, daily=True)
    places = dt.Places(np.arange(9), np.linspace(1, 2, 9), np.linspace(1, 2, 9))
    return dt.Traces.from_events(**events, places=places, clock=clock)


def test_training_gives_complete_traces_back(people_flow):
    train = people_flow.train
    made = dt.Training().fit(train).sample(2)
    np.testing.assert_array_equal(
        made.locations, np.repeat(train.location.reshape(500, 30), 2, axis=0)
    )


def test_training_keeps_gaps(tiny):
    made = dt.Training().fit(tiny).sample(1, users=[1])
    np.testing.assert_array_equal(made.locations, [[0, 0, 1, 1, -1, -1, -1, 4, -1]])


def test_days_in_the_order_of_their_events():
    """Day 0 has one event, day 2 three, day 5 one again; then from the start."""
    traces = _check_ins(user=[0] * 5, location=[1, 2, 3, 4, 5], instant=[1, 8, 9, 11, 20])
    made = dt.Training().fit(traces).sample(4).locations
    full, early, late = [2, 3, -1, 4], [-1, 1, -1, -1], [5, -1, -1, -1]
    np.testing.assert_array_equal(made, [full, early, late, full])


def test_several_days_at_once_and_several_events_in_an_instant():
    traces = _check_ins(user=[0] * 4, location=[1, 2, 3, 4], instant=[3, 3, 4, 6])
    windows = fullest_windows(traces, np.array([0]), traces.clock.timeline(7), 2)
    # both days together hold three events, the later one alone two
    np.testing.assert_array_equal(
        windows[0], [[-1, -1, -1, 1, 3, -1, 4], [3, -1, 4, -1, -1, -1, -1]]
    )


def test_uniform_is_uniform(tiny):
    made = dt.Uniform().fit(tiny).sample(2000, seed=1).locations
    share = np.stack([np.bincount(column, minlength=5) for column in made.T]) / 6000
    assert np.all(np.abs(share - 0.2) < 5 * math.sqrt(0.2 * 0.8 / 6000))


def test_uniform_traces_all_pass(tiny):
    model = dt.Uniform().fit(tiny)
    made = model.sample(3, seed=1)
    np.testing.assert_allclose(
        model.log_likelihood(made.locations, [0, 1]), np.full((9, 2), -9 * math.log(5))
    )
    assert dt.deniability_test(model, made, k=3).passed.all()


def test_an_hour_before_the_clock_starts():
    """A clock that covers part of the day numbers its days as the calendar does."""
    clock = dt.Clock.regular(instant_minutes=60, first_hour=9, last_hour=12, daily=True)
    places = dt.Places(np.arange(3), np.zeros(3) + 1, np.arange(3) + 1.0)
    traces = dt.Traces.from_events([0, 0, 0], [0, 1, 2], [2, 24, 25], places=places, clock=clock)
    assert clock.start.time() == datetime.time(9)
    made = dt.Training().fit(traces).sample(2).locations
    np.testing.assert_array_equal(made, [[1, 2, -1], [-1, -1, 0]])
