"""Bounded users: nobody gives more than the caps, and what stays is a fair choice."""

import json

import numpy as np
import pytest

from doppeltrace._stream_kernels import seed_stream, uniform
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import SettingsError
from doppeltrace.safeguards.user_caps import _draws, cap_users, typical_cap
from doppeltrace.streams import key
from doppeltrace.traces import Clock, Places, Traces

CLOCK = Clock.regular(instant_minutes=60)
PLACES = Places(np.arange(50), np.linspace(0, 1, 50), np.zeros(50))


def traces(rows):
    """Return traces of (user, instant, location) rows."""
    user, instant, location = np.array(rows).T
    return Traces.from_events(user, location, instant, places=PLACES, clock=CLOCK)


def week(user, days=7, per_instant=1):
    return [
        (user, 24 * day + hour, (day + copy) % 50)
        for day in range(days)
        for hour in range(24)
        for copy in range(per_instant)
    ]


def test_ordinary_users_are_untouched():
    ordinary = traces([row for user in range(5) for row in week(user)])
    done = cap_users(ordinary, seed=0)
    assert done.traces is ordinary
    assert (done.record.users_capped, done.record.events_left_out) == (0, 0)


def test_a_heavy_user_is_left_with_as_many_as_the_cap():
    many = traces([*week(0, days=100), *(row for user in range(1, 6) for row in week(user))])
    done = cap_users(many, max_events=200, seed=0)
    counts = np.diff(done.traces.offsets)
    np.testing.assert_array_equal(counts, [200] + 5 * [168])
    assert done.record.users_capped == 1
    assert done.record.events_left_out == 2400 - 200
    assert json.loads(json.dumps(done.record.to_dict()))["max_events"] == 200


def test_whole_days_are_kept_so_that_steps_survive():
    many = traces([*week(0, days=100), *week(1)])
    kept = cap_users(many, max_events=200, seed=0).traces.select([0])
    hours = np.bincount(kept.instant // 24)
    assert sorted(hours[hours > 0]) == [8] + 8 * [24]
    np.testing.assert_array_equal(kept.location, kept.instant // 24 % 50)


def test_at_most_so_many_events_per_instant():
    dense = traces([*week(0, per_instant=50), *week(1)])
    for most in (1, 2):
        done = cap_users(dense, max_events_per_instant=most, max_events=10_000, seed=0).traces
        for user in range(2):
            rows = done.select([user])
            counts = np.unique(rows.instant, return_counts=True)[1]
            np.testing.assert_array_equal(counts, 168 * [most if user == 0 else 1])


def test_which_event_of_an_instant_stays_is_uniform():
    n = 4000
    dense = traces([(0, t, c) for t in range(n) for c in range(4)] + week(1))
    done = cap_users(dense, max_events=10 * n, seed=3).traces.select([0])
    counts = np.bincount(done.location, minlength=4)
    assert np.all(np.abs(counts - n / 4) < 4 * np.sqrt(n * 3 / 16))


def test_which_days_stay_is_uniform():
    n = 2000
    rows = [(user, 24 * day, day) for user in range(n) for day in range(4)]
    done = cap_users(traces(rows), max_events=1, seed=5).traces
    counts = np.bincount(done.location, minlength=4)
    assert counts.sum() == n
    assert np.all(np.abs(counts - n / 4) < 4 * np.sqrt(n * 3 / 16))


def test_a_users_choice_does_not_depend_on_others_or_on_threads():
    def both(third):
        return traces([*week(0, 50, 3), *week(1, 60, 2), *third])

    options = {"max_events": 100, "seed": 7}
    one = cap_users(both([]), **options).traces
    with use_threads(1):
        two = cap_users(both(week(2, 80)), **options).traces.select([0, 1])
    np.testing.assert_array_equal(one.instant, two.instant)
    np.testing.assert_array_equal(one.location, two.location)
    other = cap_users(both([]), max_events=100, seed=8).traces
    assert not np.array_equal(one.instant, other.instant)


def test_the_kernel_draws_from_each_users_own_stream():
    some = traces([*week(0), *week(1)])
    expected, state = [], np.empty(4, np.uint64)
    for user in range(2):
        seed_stream(key(9, "cap users"), user, state)
        expected += [uniform(state) for _ in range(168)]
    np.testing.assert_array_equal(_draws(some, 9), expected)


def test_the_typical_cap_is_round_and_one_user_cannot_move_it():
    assert typical_cap(np.full(100, 30)) == 500
    assert typical_cap(np.append(np.full(100, 30), 10**6)) == 500
    assert typical_cap(np.full(3, 20)) == 200
    assert typical_cap(np.full(3, 1000)) == 10_000
    assert typical_cap(np.zeros(3, dtype=np.int64)) == 1


def test_words():
    record = cap_users(traces([*week(0, 100), *week(1)]), max_events=200, seed=0).record
    assert "2,200 events" in record.words
    assert record.public_words == (
        "Of one user the model saw at most 1 event per instant and 200 in all."
    )
    derived = cap_users(traces([*week(0, 100), *week(1)]), seed=0).record
    assert str(derived.max_events) not in derived.public_words
    assert "10 times as many in all as the typical user" in derived.public_words


@pytest.mark.parametrize("option", ["max_events", "max_events_per_instant"])
def test_caps_are_checked(option):
    with pytest.raises(SettingsError, match=f"{option} 0 must be at least 1"):
        cap_users(traces(week(0)), seed=0, **{option: 0})
