"""Coarse areas from coordinates alone, and parts of the day."""

import datetime

import numpy as np

import doppeltrace as dt
from doppeltrace.utility.areas import PARTS, areas, day_parts, n_areas


def test_areas_are_of_equal_size_and_compact():
    x, y = np.meshgrid(np.arange(20), np.arange(20))
    places = dt.Places(np.arange(400), 35 + 0.01 * y.ravel(), 139 + 0.01 * x.ravel())
    area = areas(places)
    assert np.bincount(area).tolist() == [25] * 16
    for number in range(16):
        mine = area == number
        assert np.ptp(x.ravel()[mine]) <= 5 and np.ptp(y.ravel()[mine]) <= 5


def test_few_places_have_an_area_each():
    places = dt.Places(np.arange(7), np.linspace(1, 2, 7), np.linspace(1, 2, 7))
    assert areas(places).tolist() == list(range(7))
    assert (n_areas(7), n_areas(1000)) == (7, 16)


def test_places_at_one_point_are_shared_out():
    area = areas(dt.Places(np.arange(64), np.ones(64), np.ones(64)))
    assert np.bincount(area).tolist() == [4] * 16


def test_parts_of_the_day():
    clock = dt.Clock.regular(instant_minutes=60)
    parts = [
        PARTS[p] for p in day_parts(clock, np.array([0, 5, 6, 9, 10, 13, 14, 17, 18, 23, 30]))
    ]
    names = ["night", "morning", "midday", "afternoon", "evening"]
    assert parts == [name for name in names for _ in range(2)] + ["morning"]
    late = dt.Clock(np.zeros(4, int), 1800, datetime.datetime(2024, 1, 1, 17, 30))
    assert [PARTS[p] for p in day_parts(late, np.arange(2))] == ["afternoon", "evening"]
