"""The kernels against plain NumPy and Python on random traces with gaps and several days."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.utility import mobility as mob
from doppeltrace.utility.days import ENTROPY_CELLS, SHARE_CELLS, count_days
from doppeltrace.utility.groups import Grouping, profiles
from doppeltrace.utility.transitions import CELLS, step_counts
from doppeltrace.utility.visit_fractions import BINS, MIN_EVENTS, fraction_counts


@pytest.fixture(scope="module", params=["dense", "checkins"])
def traces(request) -> dt.Traces:
    return dt.simulate_city(users=70, places=50, seed=9, style=request.param, days=3).traces


def user_days(traces):
    """Yield the locations and instants of each user's day."""
    for n in range(traces.n_users):
        mine = slice(traces.offsets[n], traces.offsets[n + 1])
        location, instant = traces.location[mine], traces.instant[mine]
        day = traces.clock.local_time(instant).astype("datetime64[D]")
        for one in np.unique(day):
            yield location[day == one], instant[day == one]


def histogram_equals(histogram, values):
    np.testing.assert_array_equal(
        np.repeat(np.arange(len(histogram)), histogram), np.sort(np.asarray(values, dtype=int))
    )


def test_days(traces):
    day, days = count_days(traces), list(user_days(traces))
    assert day.days == len(days)
    histogram_equals(day.places, [len(set(place.tolist())) for place, _ in days])
    histogram_equals(day.moves, [np.sum(np.diff(place) != 0) for place, _ in days])
    histogram_equals(day.events, [len(place) for place, _ in days])
    histogram_equals(day.gaps, np.concatenate([np.diff(instant) for _, instant in days]))
    several = [place for place, _ in days if len(place) > 1]
    top = [np.rint(SHARE_CELLS * np.bincount(p).max() / len(p)) for p in several]
    histogram_equals(day.top, top)
    assert day.closed.tolist() == [sum(p[0] == p[-1] for p in several), len(several)]
    runs = [p[np.append(True, np.diff(p) != 0)] for p, _ in days]
    triples = [t for p in runs for t in zip(p, p[1:], p[2:], strict=False)]
    assert day.back.tolist() == [sum(a == c for a, _, c in triples), len(triples)]


def test_entropy(traces):
    bits = []
    for n in range(traces.n_users):
        mine = traces.location[traces.offsets[n] : traces.offsets[n + 1]]
        if len(mine) >= 2:
            f = np.bincount(mine)[np.bincount(mine) > 0] / len(mine)
            bits.append(np.rint(-ENTROPY_CELLS * np.sum(f * np.log2(f)) + 0.0))
    histogram_equals(count_days(traces).entropy, bits)


def test_steps(traces):
    _, origin, destination, slot = traces.transitions()
    column, row = traces.places.grid_cells(CELLS)
    expected = np.zeros((2, len(traces.places), CELLS), dtype=int)
    np.add.at(expected[0], (origin, column[destination]), 1)
    np.add.at(expected[1], (origin, row[destination]), 1)
    columns, rows, moves = step_counts(traces)
    np.testing.assert_array_equal([columns, rows], expected)
    n_slots = traces.clock.n_slots
    np.testing.assert_array_equal(moves[:, 1], np.bincount(slot, minlength=n_slots))
    moved = np.bincount(slot[origin != destination], minlength=n_slots)
    np.testing.assert_array_equal(moves[:, 0], moved)


def test_fractions(traces):
    expected = np.zeros((len(traces.places), BINS), dtype=int)
    for n in range(traces.n_users):
        mine = traces.location[traces.offsets[n] : traces.offsets[n + 1]]
        visits = np.bincount(mine, minlength=len(traces.places))
        if len(mine) >= MIN_EVENTS:
            for place in np.flatnonzero((visits > 0) & (visits < len(mine))):
                expected[place, -(-BINS * visits[place] // len(mine)) - 1] += 1
    np.testing.assert_array_equal(fraction_counts(traces), expected)


def kilometres(places, a, b):
    lat, lng = places.lat, places.lng
    return mob.haversine_km(lat[a], lng[a], lat[b], lng[b])


def as_km(histogram):
    return np.repeat(np.arange(len(histogram)), histogram) * mob.KM


def test_trips_are_haversine(traces):
    _, origin, destination, _ = traces.transitions()
    km = kilometres(traces.places, origin, destination)[origin != destination]
    np.testing.assert_allclose(
        as_km(mob.trip_lengths(traces)), np.sort(km), rtol=0, atol=0.501 * mob.KM
    )


def test_radii_are_haversine(traces):
    lat, lng = np.radians(traces.places.lat), np.radians(traces.places.lng)
    xyz = np.stack([np.cos(lat) * np.cos(lng), np.cos(lat) * np.sin(lng), np.sin(lat)])
    radii = []
    for place, _ in user_days(traces):
        if len(place) < 2:
            continue
        x, y, z = xyz[:, place].mean(axis=1)
        centre = np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))
        km = mob.haversine_km(traces.places.lat[place], traces.places.lng[place], *centre)
        radii.append(np.sqrt(np.mean(km**2)))
    np.testing.assert_allclose(
        as_km(mob.gyration_radii(traces)), np.sort(radii), rtol=0, atol=0.501 * mob.KM
    )


def test_groups(traces):
    grouping = Grouping.find(traces)
    nearest = np.argmax(profiles(traces) @ grouping.centres.T, axis=1)
    sizes, events = grouping.count(traces)
    np.testing.assert_array_equal(sizes, np.bincount(nearest, minlength=grouping.n_groups))
    for group in range(grouping.n_groups):
        mine = np.isin(traces.user, np.flatnonzero(nearest == group))
        np.testing.assert_array_equal(
            events[group].sum(axis=0), np.bincount(traces.location[mine], minlength=50)
        )
