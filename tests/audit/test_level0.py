"""Level 0 against loops over every user, place and trace."""

import datetime as dt
import json

import numpy as np
import pytest

from doppeltrace.audit import level0
from doppeltrace.errors import InputError, SettingsError
from doppeltrace.traces import Clock, Places, SyntheticTraces, Traces


def _places(n):
    return Places(np.arange(n), np.linspace(35, 36, n), np.linspace(139, 140, n))


def _clock(length):
    return Clock(np.arange(length), 3600, dt.datetime(2024, 1, 1))


def _traces(rows, n_places):
    length = max(len(row) for row in rows)
    events = [(u, x, t) for u, row in enumerate(rows) for t, x in enumerate(row) if x >= 0]
    user, location, instant = np.array(events).T
    return Traces.from_events(
        user,
        location,
        instant,
        places=_places(n_places),
        clock=_clock(length),
        users=np.arange(len(rows)),
    )


def _by_hand(rows, released, n_places, min_users):
    visitors = {p: {u for u, row in enumerate(rows) if p in row} for p in range(n_places)}

    def steps(row):
        return {(a, b) for a, b in zip(row[:-1], row[1:], strict=True) if a != b and a >= 0 <= b}

    makers = {}
    for u, row in enumerate(rows):
        for move in steps(row):
            makers.setdefault(move, set()).add(u)
    shown = {x for row in released for x in row if x >= 0}
    moves = set().union(*(steps(row) for row in released))
    rare = {p for p in range(n_places) if len(visitors[p]) < min_users}
    few = {m for m, who in makers.items() if len(who) < min_users}
    share = 0.0
    for p in shown:
        counts = [sum(x == p for x in row) for row in rows]
        share = max(share, max(counts) / sum(counts) if sum(counts) else 0.0)
    return {
        "places": len(shown),
        "moves": len(moves),
        "rare_places": len(shown & rare),
        "places_of_one": sum(len(visitors[p]) == 1 for p in shown),
        "places_of_nobody": sum(len(visitors[p]) == 0 for p in shown),
        "rare_moves": len(moves & few),
        "moves_of_one": sum(len(makers.get(m, ())) == 1 for m in moves),
        "traces_with_rare_share": np.mean([bool(rare & set(row)) for row in released]),
        "traces_with_rare_move_share": np.mean([bool(few & steps(row)) for row in released]),
        "largest_user_share": share,
    }


@pytest.mark.parametrize("min_users", [1, 2, 5])
def test_by_hand(min_users):
    rng = np.random.default_rng(3)
    rows = np.minimum(rng.geometric(0.2, (30, 8)), 20).tolist()
    released = np.minimum(rng.geometric(0.15, (40, 8)), 22) - rng.integers(0, 2, (40, 8))
    released[rng.random(released.shape) < 0.1] = -1
    released = released.tolist()
    found = level0(_traces(rows, 23), np.array(released, np.int32), min_users).to_dict()
    for name, value in _by_hand(rows, released, 23, min_users).items():
        assert found[name] == pytest.approx(value), name
    json.dumps(found, allow_nan=False)


def test_a_place_of_one_person_blocks_and_a_place_of_nobody_does_not():
    train = _traces([[0, 0, 1]] * 5 + [[0, 2, 2]], 4)
    clean, unvisited, personal = (level0(train, [[0, 1, x]], 5) for x in (1, 3, 2))
    assert (clean.rare_places, clean.blocks) == (0, False)
    assert (unvisited.rare_places, unvisited.blocks) == (1, False)
    assert (personal.places_of_one, personal.blocks) == (1, True)
    assert personal.largest_user_share == 1.0


def test_takes_synthetic_traces_and_what_the_reader_derived():
    train = _traces([[0, 1, 2]] * 5, 3)
    traces = SyntheticTraces(np.array([[0, 1, 2]]), [0], [0], train.places, train.clock)
    found = level0(train, traces, derived=["the box of the grid"])
    assert found.derived == ("the box of the grid",)
    assert not found.blocks


def test_an_empty_release_shows_nothing():
    found = level0(_traces([[0, 1]], 2), np.empty((0, 2), np.int32))
    assert (found.places, found.moves, found.traces_with_rare_share) == (0, 0, 0.0)


def test_refuses_what_does_not_fit():
    train = _traces([[0, 1]], 2)
    with pytest.raises(InputError, match="shape"):
        level0(train, [0, 1])
    with pytest.raises(InputError, match="places"):
        level0(train, [[0, 2]])
    with pytest.raises(SettingsError, match="min_users"):
        level0(train, [[0, 1]], 0)
