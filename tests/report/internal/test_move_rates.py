"""When people move, by hand."""

import pytest

from doppeltrace import SyntheticTraces
from doppeltrace.report.internal.move_rates import compare_move_rates
from doppeltrace.utility.summary import Summary


def test_when_people_move_by_hand(tiny):
    made = SyntheticTraces([[1] * 9], [0], [0], tiny.places, tiny.clock)
    found = compare_move_rates(Summary.of(tiny), Summary.of(made))
    slots = {0: [], 1: [], 2: []}
    for user in range(tiny.n_users):
        rows = slice(tiny.offsets[user], tiny.offsets[user + 1])
        place, time = tiny.location[rows].tolist(), tiny.instant[rows].tolist()
        for i in range(1, len(place)):
            if time[i] == time[i - 1] + 1:
                slots[int(tiny.clock.slot_of[time[i]])].append(place[i] != place[i - 1])
    assert found.real == pytest.approx([sum(s) / len(s) for s in slots.values()], abs=1e-5)
    assert found.synthetic == [0, 0, 0]
    # 15 pairs in all, of which 11 change place; the synthetic trace never moves
    assert found.real_mean == pytest.approx(11 / 15) and found.synthetic_mean == 0


def test_slots_that_nobody_shows(tiny):
    made = SyntheticTraces([[1, 2, 1]], [0], [0], tiny.places, tiny.clock)
    found = compare_move_rates(Summary.of(tiny), Summary.of(made))
    assert found.synthetic == [1, None, None] and found.synthetic_mean == 1
