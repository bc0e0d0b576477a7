"""When people move, by hand."""

import pytest

from doppeltrace import SyntheticTraces
from doppeltrace.report.internal import losses, move_rates


def test_when_people_move_by_hand(tiny):
    moved, seen = move_rates.moves_per_slot(tiny)
    users = [
        (t, o != d) for u in range(tiny.n_users) for o, d, a, t in _steps(tiny, u) if t == a + 1
    ]
    slot_of = tiny.clock.slot_of
    for slot in range(tiny.clock.n_slots):
        here = [elsewhere for t, elsewhere in users if slot_of[t] == slot]
        assert seen[slot] == len(here) and moved[slot] == sum(here)
    made = SyntheticTraces([[1] * 9], [0], [0], tiny.places, tiny.clock)
    found = move_rates.move_rates(tiny, made, tiny)
    # 15 pairs in all, of which 11 change place; the synthetic trace never moves
    assert found.real_mean == pytest.approx(11 / 15) and found.synthetic_mean == 0
    assert found.difference == pytest.approx(11 / 15) and found.training == 0
    assert losses.move_rates_verdict(found) == "lost"


def _steps(traces, user):
    rows = slice(traces.offsets[user], traces.offsets[user + 1])
    place, time = traces.location[rows].tolist(), traces.instant[rows].tolist()
    return zip(place, place[1:], time, time[1:], strict=False)
