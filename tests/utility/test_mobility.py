import datetime

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import doppeltrace as dt
from doppeltrace.utility import mobility as mob
from doppeltrace.utility.days import count_days

DEGREE_KM = np.pi * mob.EARTH_RADIUS_KM / 180


def as_list(histogram):
    return np.repeat(np.arange(len(histogram)), histogram).tolist()


def test_haversine_on_known_arcs():
    km = mob.haversine_km(
        np.array([0.0, 0.0, 60.0]), np.zeros(3), np.array([1.0, 0.0, 60.0]), np.array([0, 90, 1])
    )
    np.testing.assert_allclose(km[:2], [DEGREE_KM, 90 * DEGREE_KM])
    assert km[2] == pytest.approx(0.5 * DEGREE_KM, rel=1e-3)  # cos 60° = ½


def test_trips_are_transitions_that_change_place(test_traces):
    # 0→1, 0→1 (one degree of longitude) and 1→2 (four); nothing over the missing hour
    one = DEGREE_KM * np.cos(np.radians(0.5))
    trips = np.array(as_list(mob.trip_lengths(test_traces))) * mob.KM
    np.testing.assert_allclose(trips, [one, one, 4 * one], rtol=1e-4)


def test_gyration_by_hand(made):
    # two hours at each of two places one degree apart: half a degree from the centre
    radius = 0.5 * DEGREE_KM * np.cos(np.radians(0.5))
    histogram = mob.gyration_radii(made([0, 0, 1, 1], [2, 2, 2, 2], [-1, 3, -1, -1]))
    km = np.array(as_list(histogram)) * mob.KM
    np.testing.assert_allclose(km, [0.0, radius], atol=mob.KM)  # the third has one event


def test_stays_by_hand(test_traces, made):
    # 0 for 2 h, 1 for 2 h | 0, 1 for 2 h, 2 | 3 for 2 h, then a gap, 0
    assert as_list(mob.stays(test_traces)) == [1, 1, 1, 2, 2, 2, 2]
    # a gap ends a stay, and so does the next user at the same place
    assert as_list(mob.stays(made([0, -1, 0, 0], [0, 0, 0, 0]))) == [1, 2, 4]


def test_events_inside_one_instant_do_not_break_a_stay(places, clock):
    traces = dt.Traces.from_events([0] * 3, [1, 1, 1], [0, 0, 1], places=places, clock=clock)
    assert as_list(mob.stays(traces)) == [2]


def test_places_per_day_splits_days_at_local_midnight(places):
    clock = dt.Clock(np.zeros(48, dtype=int), 3600, datetime.datetime(2024, 1, 1, 20))
    # hours 0 … 3 are the evening of day one; hour 4 is midnight
    traces = dt.Traces.from_events(
        [0] * 5 + [1], [0, 1, 1, 2, 3, 0], [0, 1, 3, 4, 5, 0], places=places, clock=clock
    )
    assert as_list(count_days(traces).places) == [1, 2, 2]


def test_histogram_emd_agrees_with_scipy():
    draws = np.random.default_rng(2)
    a, b = draws.integers(40, size=30), draws.integers(60, size=50)
    emd = mob.histogram_emd(np.bincount(a), np.bincount(b), unit=0.5)
    assert emd == pytest.approx(0.5 * wasserstein_distance(a, b))


def test_empty_histogram_has_no_distance(made, test_traces):
    at_home = mob.trip_lengths(made([0, 0, 0, 0]))
    assert np.isnan(mob.histogram_emd(mob.trip_lengths(test_traces), at_home))
