"""The data model: clocks, traces, transitions, synthetic traces."""

import datetime

import numpy as np
import pytest

import doppeltrace as dt

NEW_YEAR = datetime.datetime(2020, 1, 1)
PLACES = dt.Places(np.arange(4), [35.0, 35.1, 35.2, 35.3], [139.0, 139.1, 139.2, 139.3])


def _hourly(days=1, daily=True):
    return dt.Clock.regular(
        instant_minutes=60, instants_per_slot=2, start_day=NEW_YEAR.date(), daily=daily, days=days
    )


# ---- Clock ----------------------------------------------------------------------------------


def test_regular_clock_of_people_flow():
    clock = dt.Clock.regular(instant_minutes=20, first_hour=9, last_hour=19)
    assert (clock.n_instants, clock.n_slots, clock.cycle) == (30, 30, 72)
    assert clock.instant_seconds == 1200
    assert clock.start.time() == datetime.time(9)
    # the last instant begins at 18:40; the next covered one is 9:00 of the next day
    assert list(clock.covers([0, 29, 30, 71, 72])) == [True, True, False, False, True]
    assert str(clock.local_time(29)).endswith("T18:40:00")
    assert str(clock.local_time(72)) == "2000-01-02T09:00:00"


def test_slots_of_several_instants_come_round_every_day():
    clock = _hourly()
    assert clock.n_slots == 12
    np.testing.assert_array_equal(clock.slot([0, 1, 2, 23, 24, 25, 26]), [0, 0, 1, 11, 0, 0, 1])


def test_last_slot_may_be_shorter():
    clock = dt.Clock.regular(instant_minutes=60, instants_per_slot=5)
    np.testing.assert_array_equal(np.bincount(clock.slot_of), [5, 5, 5, 5, 4])


def test_clock_without_cycle_has_slots_of_its_own_every_day():
    clock = _hourly(days=2, daily=False)
    assert (clock.n_instants, clock.n_slots, clock.cycle) == (48, 24, None)
    assert clock.slot(24) == 12
    assert list(clock.covers([-1, 0, 47, 48])) == [False, True, True, False]


def test_slots_may_be_any_sets_of_instants():
    # "working hours" and "the rest" of a day of six instants, cyclic
    clock = dt.Clock.from_slots(
        [[0, 1, 5], [2, 3, 4]], instant_seconds=14400, start=NEW_YEAR, cycle=6
    )
    np.testing.assert_array_equal(clock.slot_of, [0, 0, 1, 1, 1, 0])
    np.testing.assert_array_equal(clock.slot([5, 6, 8]), [0, 0, 1])


@pytest.mark.parametrize("slots", [[], [[]], [[0, 1], [1, 2]], [[0], [2]], [[0, 1], []]])
def test_slots_must_be_a_partition(slots):
    with pytest.raises(dt.SettingsError, match="slots must"):
        dt.Clock.from_slots(slots, instant_seconds=60, start=NEW_YEAR)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"instant_minutes": 7}, "divide a day"),
        ({"instant_minutes": 0}, "divide a day"),
        ({"first_hour": 9, "last_hour": 9}, "hours"),
        ({"first_hour": -1}, "hours"),
        ({"last_hour": 25}, "hours"),
        ({"instants_per_slot": 0}, "at least 1"),
        ({"days": 0}, "at least 1"),
        ({"daily": False, "days": 2, "first_hour": 9}, "all 24 hours"),
    ],
)
def test_regular_clock_refuses(wrong, message):
    with pytest.raises(dt.SettingsError, match=message):
        dt.Clock.regular(**({"instant_minutes": 60} | wrong))


@pytest.mark.parametrize(
    ("slot_of", "seconds", "cycle", "message"),
    [
        ([], 60, None, "at least one instant"),
        ([0, 2], 60, None, "without a gap"),
        ([1, 2], 60, None, "without a gap"),
        ([0, 1], 0, None, "positive"),
        ([0, 1, 2], 60, 2, "shorter"),
    ],
)
def test_clock_refuses(slot_of, seconds, cycle, message):
    with pytest.raises(dt.SettingsError, match=message):
        dt.Clock(slot_of, seconds, NEW_YEAR, cycle)


def test_timeline_steps_over_the_hours_that_the_cycle_leaves_out():
    clock = dt.Clock.regular(instant_minutes=60, first_hour=9, last_hour=12)
    np.testing.assert_array_equal(clock.timeline(), [0, 1, 2])
    np.testing.assert_array_equal(clock.timeline(2), [0, 1])
    np.testing.assert_array_equal(clock.timeline(7), [0, 1, 2, 24, 25, 26, 48])
    assert clock.covers(clock.timeline(7)).all()
    with pytest.raises(dt.SettingsError, match="at least 1"):
        clock.timeline(0)


def test_timeline_of_a_clock_without_cycle_ends():
    clock = _hourly(days=2, daily=False)
    assert len(clock.timeline(48)) == 48
    with pytest.raises(dt.SettingsError, match="does not repeat"):
        clock.timeline(49)


def test_clocks_are_the_same_on_any_day():
    clock = _hourly()
    other_day = dt.Clock(clock.slot_of, 3600, datetime.datetime(2021, 5, 5), 24)
    other_hour = dt.Clock(clock.slot_of, 3600, datetime.datetime(2020, 1, 1, 1), 24)
    assert clock.same_as(other_day)
    assert not clock.same_as(other_hour)
    assert not clock.same_as(_hourly(daily=False))


# ---- Places ---------------------------------------------------------------------------------


def test_places_refuse_what_does_not_fit():
    with pytest.raises(dt.InputError, match="same, positive length"):
        dt.Places([0, 1], [35.0], [139.0])
    with pytest.raises(dt.InputError, match="same, positive length"):
        dt.Places([], [], [])
    for lat in (91.0, np.nan):
        with pytest.raises(dt.InputError, match="coordinates"):
            dt.Places([0], [lat], [139.0])


def test_grid_cells_count_from_the_south_west():
    places = dt.Places(
        np.arange(5),
        lat=[0.05, 0.95, 0.5, -3.0, 1.0],
        lng=[0.05, 0.05, 0.99, 5.0, 1.0],
        bounds=dt.Bounds(0.0, 0.0, 1.0, 1.0),
    )
    column, row = places.grid_cells(10)
    np.testing.assert_array_equal(column, [0, 0, 9, 9, 9])
    np.testing.assert_array_equal(row, [0, 9, 5, 0, 9])


# ---- Traces ---------------------------------------------------------------------------------


def _traces(user, location, instant, clock=None, **more):
    clock = _hourly() if clock is None else clock
    return dt.Traces.from_events(user, location, instant, places=PLACES, clock=clock, **more)


def test_events_are_ordered_by_user_then_time_and_ties_keep_their_order():
    traces = _traces(["b", "a", "b", "a", "b"], [0, 1, 2, 3, 1], [5, 2, 3, 1, 5])
    assert list(traces.users) == ["a", "b"]
    np.testing.assert_array_equal(traces.offsets, [0, 2, 5])
    np.testing.assert_array_equal(traces.location, [3, 1, 2, 0, 1])
    np.testing.assert_array_equal(traces.instant, [1, 2, 3, 5, 5])
    np.testing.assert_array_equal(traces.user, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(traces.slot, [0, 1, 1, 2, 2])
    assert (traces.n_users, traces.n_events) == (2, 5)


def test_given_users_may_have_no_event():
    traces = _traces([2, 0], [1, 1], [0, 0], users=np.array(["x", "y", "z", "w"]))
    np.testing.assert_array_equal(traces.offsets, [0, 1, 1, 2, 2])


@pytest.mark.parametrize(
    ("offsets", "location", "instant", "message"),
    [
        ([0, 1], [0, 1], [0, 1], "fit together"),
        ([0, 3], [0, 1], [0, 1], "fit together"),
        ([0, 2, 1, 2], [0, 1], [0, 1], "fit together"),
        ([1, 2], [0, 1], [0, 1], "fit together"),
        ([0, 2], [0, 1], [0], "fit together"),
        ([0, 2], [0, 4], [0, 1], "not among the places"),
        ([0, 2], [-1, 0], [0, 1], "not among the places"),
        ([0, 2], [0, 1], [0, 48], "outside the clock"),
        ([0, 2], [0, 1], [-1, 0], "outside the clock"),
        ([0, 2], [0, 1], [3, 2], "ordered by time"),
        ([0, 1, 3], [0, 1, 1], [9, 3, 2], "ordered by time"),
    ],
)
def test_traces_refuse_what_breaks_their_rules(offsets, location, instant, message):
    clock = _hourly(days=2, daily=False)
    with pytest.raises(dt.InputError, match=message):
        dt.Traces(np.arange(len(offsets) - 1), offsets, location, instant, PLACES, clock)


def test_time_may_start_again_with_the_next_user():
    # users 1 and 3 have no events, so borders between users coincide
    traces = dt.Traces(np.arange(4), [0, 1, 1, 2, 2], [0, 1], [9, 3], PLACES, _hourly())
    np.testing.assert_array_equal(traces.user, [0, 2])


def test_transitions_are_between_consecutive_instants_only():
    # user 0: 0→1 at instants 3, 4; a gap; user 1 begins one instant after user 0 ends
    traces = _traces([0, 0, 0, 1, 1], [0, 1, 2, 3, 3], [3, 4, 6, 7, 8])
    user, origin, destination, slot = traces.transitions()
    np.testing.assert_array_equal(user, [0, 1])
    np.testing.assert_array_equal(origin, [0, 3])
    np.testing.assert_array_equal(destination, [1, 3])
    np.testing.assert_array_equal(slot, [2, 4])


def test_midnight_is_crossed_but_not_the_same_hour_of_another_day():
    # 23:00 → 0:00 of the next day counts; 23:00 → 0:00 two days later does not
    traces = _traces([0, 0, 1, 1], [0, 1, 2, 3], [23, 24, 23, 48])
    user, origin, destination, slot = traces.transitions()
    assert (list(user), list(origin), list(destination), list(slot)) == ([0], [0], [1], [0])


def test_pairs_inside_one_instant_are_no_transitions():
    # x0 at 5, x1 and x2 both at 6, x3 at 7: rows (x0, x1) and (x2, x3) are continuous
    traces = _traces([0] * 4, [0, 1, 2, 3], [5, 6, 6, 7])
    _, origin, destination, _ = traces.transitions()
    assert list(zip(origin, destination, strict=True)) == [(0, 1), (2, 3)]


def test_covered_hours_of_two_days_are_not_continuous():
    clock = dt.Clock.regular(instant_minutes=60, first_hour=9, last_hour=12)
    traces = _traces([0, 0], [0, 1], [2, 24], clock)
    assert len(traces.transitions()[0]) == 0


def test_select_takes_users_in_the_given_order(tiny):
    some = tiny.select([2, 0, 2])
    np.testing.assert_array_equal(some.users, [2, 0, 2])
    np.testing.assert_array_equal(np.diff(some.offsets), [9, 7, 9])
    np.testing.assert_array_equal(some.location[:9], [4, 3, 2, 1, 0, 0, 0, 1, 2])
    np.testing.assert_array_equal(some.location[9:16], [1, 2, 3, 2, 3, 4, 4])
    assert tiny.select([]).n_users == 0


# ---- SyntheticTraces ------------------------------------------------------------------------


def _synthetic(locations, **more):
    n = len(locations)
    columns = {"owner": np.zeros(n), "replicate": np.arange(n)} | more
    return dt.SyntheticTraces(locations, places=PLACES, clock=_hourly(), **columns)


def test_synthetic_traces_become_traces_without_their_missing_events():
    traces = _synthetic([[0, -1, 2], [-1, -1, -1], [3, 3, -1]]).as_traces()
    np.testing.assert_array_equal(traces.offsets, [0, 2, 2, 4])
    np.testing.assert_array_equal(traces.location, [0, 2, 3, 3])
    np.testing.assert_array_equal(traces.instant, [0, 2, 0, 1])
    assert len(traces.transitions()[0]) == 1  # the gap makes no transition


def test_synthetic_traces_outlast_the_cycle():
    synthetic = _synthetic(np.zeros((1, 30), int))
    np.testing.assert_array_equal(synthetic.instants, np.arange(30))
    np.testing.assert_array_equal(synthetic.as_traces().slot[-6:], [0, 0, 1, 1, 2, 2])


def test_by_replicate_gives_one_trace_per_user_each():
    synthetic = _synthetic([[0], [1], [2], [3]], owner=[0, 0, 1, 1], replicate=[0, 1, 0, 1])
    parts = list(synthetic.by_replicate())
    assert [list(p.locations[:, 0]) for p in parts] == [[0, 2], [1, 3]]
    assert [list(p.owner) for p in parts] == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("locations", "columns", "message"),
    [
        ([0, 1], {}, "shape"),
        ([[0], [4]], {}, "not among the places"),
        ([[0], [-2]], {}, "not among the places"),
        ([[0], [1]], {"owner": [0]}, "one entry per trace"),
        ([[0], [1]], {"replicate": [0, 1, 2]}, "one entry per trace"),
    ],
)
def test_synthetic_traces_refuse(locations, columns, message):
    with pytest.raises(dt.InputError, match=message):
        _synthetic(locations, **columns)


def test_they_show_sizes_not_arrays(tiny):
    assert repr(tiny) == "Traces(3 users, 21 events at 5 places)"
    assert repr(tiny.places) == "Places(5 locations)"
    assert repr(tiny.clock) == "Clock(9 instants of 20 minutes in 3 slots from 09:00)"
    daily = dt.Clock.regular(instant_minutes=60)
    assert repr(daily) == "Clock(24 instants of 60 minutes in 24 slots from 00:00, repeating)"
    made = dt.Uniform(seed=1).fit(tiny).sample(2, seed=1)
    assert repr(made) == "SyntheticTraces(6 traces of 9 instants at 5 places)"
    for shown in (tiny, made):
        assert "<th>places</th><td>5</td>" in shown._repr_html_()
        assert "20 minutes" in shown._repr_html_()
