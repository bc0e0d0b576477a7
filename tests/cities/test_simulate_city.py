"""The simulated city: reproducible, structured as it says, and fast."""

import time

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.cities import simulate_city
from doppeltrace.cities.layout import OPENING_HOURS
from doppeltrace.cities.movement import HABITS


@pytest.fixture(scope="module", params=["dense", "checkins"])
def city(request):
    return simulate_city(1500, 400, seed=3, style=request.param)


def test_same_seed_same_city():
    one, two, other = (simulate_city(300, 50, seed=s).traces for s in (1, 1, 2))
    assert np.array_equal(one.location, two.location)
    assert np.array_equal(one.instant, two.instant)
    assert not np.array_equal(one.offsets, other.offsets)


def test_clocks_and_shapes():
    dense = simulate_city(20, 30, seed=0, missing=0.0).traces
    assert dense.clock.n_slots == dense.clock.n_instants == 36
    assert np.all(np.diff(dense.offsets) == 36)
    sparse = simulate_city(20, 30, seed=0, style="checkins").traces
    assert (sparse.clock.n_slots, sparse.clock.n_instants, sparse.clock.cycle) == (12, 24, 24)
    assert sparse.instant.max() < 14 * 24
    several = simulate_city(20, 30, seed=0, days=3, missing=0.0).traces
    assert np.all(np.diff(several.offsets) == 3 * 36)


def test_opening_hours_are_respected(city):
    traces = city.traces
    hour = traces.clock.local_time(traces.instant).astype("datetime64[h]").astype(int) % 24
    category = traces.places.category[traces.location]
    for name, (opens, closes) in OPENING_HOURS.items():
        there = hour[category == name]
        assert len(there) > 50
        assert there.min() >= opens and there.max() < closes


@pytest.mark.parametrize(("style", "missing"), [("dense", 0.1), ("dense", 0.5), ("checkins", 0.8)])
def test_missing_fraction(style, missing):
    city = simulate_city(2000, 50, seed=5, style=style, missing=missing)
    possible = 36 if style == "dense" else 14 * 16
    share = np.diff(city.traces.offsets) / possible
    # users differ, so the standard error is that of the mean over users
    assert abs(1 - share.mean() - missing) < 5 * share.std() / np.sqrt(2000) + 1e-3
    assert share.min() > 0


def test_movement_is_mostly_local(city):
    traces = city.traces
    _, origin, destination, _ = traces.transitions()
    column, row = traces.places.grid_cells(20)
    jump = np.maximum(
        np.abs(column[origin] - column[destination]), np.abs(row[origin] - row[destination])
    )
    assert (origin == destination).mean() > 0.5
    assert (jump <= 2).mean() > (0.95 if traces.clock.cycle is None else 0.7)


def test_clusters_have_the_stated_shares_and_differ(city):
    n = len(HABITS)
    assert city.cluster_names == tuple(h.name for h in HABITS)
    share = np.bincount(city.cluster, minlength=n) / len(city.cluster)
    expected = np.array([h.share for h in HABITS])
    assert np.all(np.abs(share - expected) < 4 * np.sqrt(expected / len(city.cluster)))
    traces = city.traces
    density = np.zeros((n, len(traces.places)))
    np.add.at(density, (city.cluster[traces.user], traces.location), 1)
    density /= density.sum(axis=1, keepdims=True)
    distance = 0.5 * np.abs(density[:, None] - density[None]).sum(axis=-1)
    assert distance[np.triu_indices(n, 1)].min() > 0.3
    assert distance[:2, 2:].min() > 0.7


def test_night_workers_are_at_work_only_early_and_late():
    city = simulate_city(3000, 400, seed=2, first_hour=6, last_hour=22)
    traces = city.traces
    night = city.cluster_names.index("night workers")
    mine = city.cluster[traces.user] == night
    hour = traces.clock.local_time(traces.instant).astype("datetime64[h]").astype(int) % 24
    works = traces.places.category[traces.location] == "works"
    at_work = [works[mine & (hour == h)].mean() for h in (6, 13, 21)]
    assert at_work[0] > 0.6 and at_work[2] > 0.4 and at_work[1] < 0.2


@pytest.mark.parametrize("places", [2, 3, 7, 5000])
@pytest.mark.parametrize("style", ["dense", "checkins"])
def test_any_number_of_places(places, style):
    traces = simulate_city(50, places, seed=0, style=style).traces
    assert len(traces.places) == places
    assert len(np.unique(traces.location)) > 1


def test_split_is_disjoint_and_complete():
    city = simulate_city(101, 20, seed=0)
    train, test = city.split(0.3, seed=4)
    assert (train.n_users, test.n_users) == (71, 30)
    assert np.array_equal(np.sort(np.concatenate([train.users, test.users])), np.arange(101))
    with pytest.raises(dt.SettingsError, match="test_fraction"):
        city.split(1.0)


@pytest.mark.parametrize(
    "wrong", [{"users": 0}, {"places": 1}, {"missing": 1.0}, {"days": 0}, {"style": "sparse"}]
)
def test_wrong_settings(wrong):
    with pytest.raises(dt.SettingsError):
        simulate_city(**wrong)


@pytest.mark.parametrize("style", ["dense", "checkins"])
def test_a_million_users_would_take_under_a_minute(style):
    users = 40_000
    before = time.process_time()
    city = simulate_city(users, 1000, seed=0, style=style)
    seconds = time.process_time() - before
    assert city.traces.n_users == users
    assert seconds * 1_000_000 / users < 60
