"""Days, flows and moves of three people, counted by hand."""

import datetime

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.utility import METRICS, Summary
from doppeltrace.utility import days as module
from doppeltrace.utility.days import count_days

MIDDAY = 2


def as_list(histogram):
    return np.repeat(np.arange(len(histogram)), histogram).tolist()


def score(name, test, other):
    return METRICS[name](Summary.of(test), Summary.of(other), Summary.of(other))


def test_days_by_hand(test_traces):
    # 0 0 1 1 | 0 1 1 2 | 3 3 – 0
    day = count_days(test_traces)
    assert day.days == 3
    assert as_list(day.places) == [2, 2, 3]
    assert as_list(day.moves) == [1, 1, 2]
    assert as_list(day.events) == [3, 4, 4]
    assert as_list(day.gaps) == [1] * 7 + [2]
    assert np.array(as_list(day.top)) / module.SHARE_CELLS == pytest.approx([0.5, 0.5, 2 / 3])
    bits = np.array(as_list(day.entropy)) / module.ENTROPY_CELLS
    assert bits == pytest.approx([0.918, 1.0, 1.5], abs=0.5 / module.ENTROPY_CELLS)
    assert day.back.tolist() == [0, 1]  # only the second person moves on after a move
    assert day.closed.tolist() == [0, 3]


def test_flows_by_hand(test_traces, other_traces):
    flows = np.zeros((5, 4, 4), dtype=int)
    flows[MIDDAY, 0, 1], flows[MIDDAY, 1, 2], flows[MIDDAY, 3, 0] = 2, 1, 1
    np.testing.assert_array_equal(count_days(test_traces).flows, flows)
    # other: 0 → 1 and 1 → 2 once each
    assert score("od_tv", test_traces, other_traces) == pytest.approx(0.25)
    # per person and day 2/3, 1/3, 1/3 against 1/3, 1/3: CPC = 2 · 2/3 / (4/3 + 2/3)
    assert score("od_cpc_gap", test_traces, other_traces) == pytest.approx(1 / 3)


def test_parts_of_the_day_are_weighted_by_the_testing_flows():
    real, made = np.zeros((5, 2, 2), int), np.zeros((5, 2, 2), int)
    real[1, 0, 1], real[3, 1, 0] = 3, 1
    made[1, 0, 1], made[1, 1, 0] = 1, 1  # and nobody moves in part 3
    assert module.flow_tv(real, made) == pytest.approx((3 * 0.5 + 1 * 1.0) / 4)
    assert np.isnan(module.flow_tv(0 * real, made))
    assert np.isnan(module.commuters_apart(0 * real, 1, made, 1))
    assert module.commuters_apart(real, 1, 0 * made, 1) == 1.0


@pytest.mark.parametrize(
    ("name", "distance"),
    [
        ("moves_per_day_emd", 2 / 3),  # 1, 2, 1 against 0, 1, 1
        ("places_per_day_emd", 2 / 3),  # 2, 3, 2 against 1, 2, 2
        ("events_per_day_emd", 1 / 3),  # 4, 4, 3 against 4, 4, 4
        ("gap_emd", 1 / 8),  # one gap of eight is two hours
        ("top_place_emd", (1 + 0.5 + 0.75 - 0.5 - 0.5 - 2 / 3) / 3),
        ("entropy_emd", (0.9 + 1.0 + 1.5 - 0.0 - 0.8 - 1.0) / 3),  # to a twentieth of a bit
        ("closed_day", 1 / 3),
        ("move_rate", 4 / 21),  # slots of 3 and 4 events: 1/3 against 1/3, 1/2 against 1/6
    ],
)
def test_distances_by_hand(test_traces, other_traces, name, distance):
    # other: 0 0 0 0 | 1 1 2 2 | 0 1 1 1
    assert score(name, test_traces, other_traces) == pytest.approx(distance, abs=1e-9)


def test_straight_back_by_hand(made):
    # 0 → 1, straight back to 0, on to 2: one of two; then never of one
    real, other = made([0, 1, 0, 2]), made([0, 1, 2, 2])
    assert count_days(real).back.tolist() == [1, 2]
    assert score("straight_back", real, other) == pytest.approx(0.5)
    # staying in between does not hide the way back, and neither does a gap
    assert count_days(made([0, 1, 1, 0], [0, 1, -1, 0])).back.tolist() == [2, 2]
    assert np.isnan(score("straight_back", real, made([0, 0, 0, 0])))


def test_days_end_at_local_midnight(places):
    clock = dt.Clock(np.zeros(48, dtype=int), 3600, datetime.datetime(2024, 1, 1, 20))
    # hours 0 … 3 are the evening of day one; hour 4 is midnight
    traces = dt.Traces.from_events(
        [0] * 5 + [1], [0, 1, 0, 2, 3, 0], [0, 1, 3, 4, 5, 0], places=places, clock=clock
    )
    day = count_days(traces)
    assert as_list(day.events) == [1, 2, 3]
    assert as_list(day.moves) == [0, 1, 2]  # 0 → 2 over midnight is no move of a day
    assert day.closed.tolist() == [1, 2]
    assert day.flows[4].sum() == 2 and day.flows[0].sum() == 1  # evening, and after midnight
    assert as_list(day.entropy) == [round(20 * 1.9219)]  # one person, four places of five events


def test_several_events_in_one_instant(places, clock):
    traces = dt.Traces.from_events([0] * 3, [0, 1, 1], [0, 0, 1], places=places, clock=clock)
    day = count_days(traces)
    assert as_list(day.gaps) == [0, 1]
    assert as_list(day.moves) == [1]


def test_nobody(made):
    day = count_days(made([0, 0, 0, 0]).select([]))
    assert day.days == 0 and day.events.sum() == 0
