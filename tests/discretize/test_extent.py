"""The extent of data: round numbers that no single user decides."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doppeltrace.discretize.extent import public_box, public_days
from doppeltrace.discretize.where import inside


def points(n_users, seed=0):
    """Return (user, lat, lng) of ten points per user, a city about 0.3° wide."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(n_users), 10)
    lat, lng = (
        35.7 + rng.uniform(-0.15, 0.15, 10 * n_users),
        139.7 + rng.uniform(-0.15, 0.15, 10 * n_users),
    )
    return user, lat, lng


def box(user, lat, lng):
    return public_box(pl.Series(user), pl.Series(lat), pl.Series(lng))


def test_the_edges_are_round_and_nearly_all_points_lie_within():
    user, lat, lng = points(100)
    found = box(user, lat, lng)
    for edge in (found.south, found.west, found.north, found.east):
        assert edge == pytest.approx(round(edge, 2), abs=1e-9)
    assert inside(found, lat, lng).mean() > 0.99
    assert found.north - found.south < 0.34


def test_one_user_wherever_changes_nothing():
    user, lat, lng = points(100)
    plain = box(user, lat, lng)
    for stray in ((35.512345, 139.987654), (51.0, 0.0), (-33.0, -70.0)):
        extra = [np.append(a, b) for a, b in zip((user, lat, lng), (7, *stray), strict=True)]
        assert box(*extra) == plain
        assert not inside(plain, [stray[0]], [stray[1]])[0]


@given(st.floats(-89, 89), st.floats(-179, 179), st.integers(1, 30))
def test_no_edge_is_a_point_and_any_data_have_a_box(lat, lng, n_users):
    user = np.arange(n_users)
    found = box(user, np.full(n_users, lat), np.full(n_users, lng))
    assert inside(found, [lat], [lng])[0]
    assert found.south < lat < found.north and found.west < lng < found.east


def test_days_are_those_that_several_users_reach():
    user = np.repeat(np.arange(60), 2)
    local = [dt.datetime(2020, 1, 6, 5), dt.datetime(2020, 1, 9, 23)] * 60
    expected = dt.date(2020, 1, 6), dt.date(2020, 1, 9)
    assert public_days(pl.Series(user), pl.Series(local)) == expected
    stray = [dt.datetime(1990, 5, 5), dt.datetime(2090, 5, 5)]
    more = pl.Series(np.append(user, [3, 3])), pl.Series(local + stray)
    assert public_days(*more) == expected
