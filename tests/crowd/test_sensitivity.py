"""Brute force: remove every user in turn; no statistic moves by more than its bound.

Whole numbers are compared, so there is nothing to round.
"""

import datetime

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.crowd import statistics
from doppeltrace.crowd.clipping import FIRST_LOOK
from doppeltrace.crowd.contributions import clipped_sum, counts_of_users
from doppeltrace.crowd.ledger import GRID
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.statistics import NORM_BINS, Clips

CLIPS = [Clips(6.0, 4.0), Clips(1.0, 0.7), Clips(45.25, 22.6), Clips(2048.0, 2048.0)]


def _city(style):
    return dt.simulate_city(users=25, places=36, seed=3, style=style, days=None).traces


def _adversaries(style):
    """Users made to hurt: stay put, shuttle, everywhere once, one event, the same for weeks."""
    city = _city(style)
    clock, n_places, rng = city.clock, len(city.places), np.random.default_rng(0)
    days = 40 if clock.cycle else 1
    whole = np.concatenate(
        [day * (clock.cycle or 0) + np.arange(clock.n_instants) for day in range(days)]
    )
    n = len(whole)
    habits = [
        np.zeros(n, int),
        np.arange(n) % 2 * (n_places - 1),
        np.arange(n) % n_places,
        rng.integers(n_places, size=n),
        np.where(np.arange(n) % 3, 5, 6),
        np.repeat([1, 2], n // 2 + 1)[:n],
        np.arange(n) // 2 % n_places,
    ]
    users = [(places, whole) for places in habits] + [(np.array([3]), np.array([0]))]
    for _ in range(5):
        some = np.sort(rng.choice(whole, 8, replace=False))
        users.append((rng.integers(n_places, size=8), some))
    users.append((np.array([1, 2, 1, 2]), np.array([0, 0, 0, 0])))  # all at one instant
    who = np.concatenate([np.full(len(p), u) for u, (p, _) in enumerate(users)])
    return dt.Traces.from_events(
        who,
        np.concatenate([p for p, _ in users]),
        np.concatenate([i for _, i in users]),
        places=city.places,
        clock=clock,
    )


def _tiny(style):
    """One place; two places; users without events: where nothing may break."""
    clock = dt.Clock(np.arange(4), 1200, datetime.datetime(2020, 1, 1, 9))
    places = dt.Places(np.arange(2), np.array([35.0, 35.1]), np.array([139.0, 139.0]))
    return dt.Traces.from_events(
        [0, 0, 0, 0, 2, 2], [0, 1, 0, 1, 1, 1], [0, 1, 2, 3, 1, 2],
        places=places, clock=clock, users=np.array(list("abc")),
    )  # fmt: skip


def _without(traces, user):
    return traces.select(np.delete(np.arange(traces.n_users), user))


def _norm(vector):
    """The exact square root of a sum of whole squares, as a float."""
    return sum(int(v) ** 2 for v in vector[vector != 0]) ** 0.5 / GRID


@pytest.mark.parametrize("make", [_city, _adversaries, _tiny])
@pytest.mark.parametrize("style", ["dense", "checkins"])
@pytest.mark.parametrize("clips", CLIPS, ids=lambda c: f"clip {c.visits:g}")
def test_tables(make, style, clips):
    traces = make(style)
    public = PublicInputs.of(traces.places, traces.clock)
    found = statistics.layout(public, style, clips)
    full, _ = statistics.tables(traces, public, style, clips)
    largest = dict.fromkeys((t.name for t in found), 0.0)
    for user in range(traces.n_users):
        rest, _ = statistics.tables(_without(traces, user), public, style, clips)
        for table, change in zip(
            found, statistics.split(full - rest, found).values(), strict=True
        ):
            moved = _norm(change.ravel())
            assert moved <= table.bound, (table.name, user)
            largest[table.name] = max(largest[table.name], moved / table.bound)
    if make is _adversaries and clips.visits == 1.0:  # the bounds are not idle
        assert largest["visits of 4 groups"] > 0.99
        assert largest["flows"] > 0.99


@pytest.mark.parametrize("make", [_city, _adversaries, _tiny])
@pytest.mark.parametrize("style", ["dense", "checkins"])
def test_first_look(make, style):
    traces = make(style)
    public = PublicInputs.of(traces.places, traces.clock)
    cuts = np.cumsum([1, 1, NORM_BINS, NORM_BINS])
    full = statistics.first_look(traces, public)
    assert len(np.split(full, cuts)) == len(FIRST_LOOK)
    for user in range(traces.n_users):
        change = full - statistics.first_look(_without(traces, user), public)
        for part in np.split(change, cuts):
            assert _norm(part) <= 1.0


@pytest.mark.parametrize("clip", [0.5, 3.0, 100.0])
def test_counts_of_any_keys(clip):
    traces = _adversaries("dense")
    size = len(traces.places)
    for user in range(traces.n_users):
        who, what, count = counts_of_users(
            np.zeros(np.diff(traces.offsets)[user], int),
            traces.select([user]).location.astype(np.int64),
        )
        assert _norm(clipped_sum(who, what, count, 1, size, clip)) <= clip


@pytest.mark.parametrize("style", ["dense", "checkins"])
def test_shards_add_up_exactly(style):
    traces = _city(style)
    public, clips = PublicInputs.of(traces.places, traces.clock), CLIPS[0]
    full, heads = statistics.tables(traces, public, style, clips, heads=True)
    parts = [
        statistics.tables(traces.select(part), public, style, clips, heads=True)
        for part in np.array_split(np.arange(traces.n_users), 4)
    ]
    np.testing.assert_array_equal(full, sum(p[0] for p in parts))
    np.testing.assert_array_equal(heads, sum(p[1] for p in parts))


def test_shares_of_the_budget_add_up_to_one():
    for style in ("dense", "checkins"):
        assert sum(FIRST_LOOK.values()) + sum(statistics.SHARES[style].values()) == pytest.approx(
            1
        )
