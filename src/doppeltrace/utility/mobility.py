"""How people move, beyond the paper: trips, reach, stays.

Each is a histogram (counts per whole number of units), which adds up over users, and is
compared by the earth mover's distance in one dimension, whose unit is that of the quantity:

- trip length: distance in km of every transition that changes place (haversine);
- radius of gyration: per user and day with at least two events, the root mean square
  distance in km of the events from their centre;
- stay: hours that a user is seen at one place without a gap, counted in instants.

Kilometres are rounded to 10 m before counting.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Places, Traces
from doppeltrace.utility import _kernels as kernels
from doppeltrace.utility.areas import day_second
from doppeltrace.utility.days import ENTROPY_CELLS, SHARE_CELLS

EARTH_RADIUS_KM = 6371.0088
KM = 0.01
"""Width of a histogram cell of trip lengths and radii, in km."""

Histogram = NDArray[np.int64]


def haversine_km(lat1: NDArray, lng1: NDArray, lat2: NDArray, lng2: NDArray) -> NDArray:
    """Return great-circle distances in km between points in degrees."""
    lat1, lng1, lat2, lng2 = (np.radians(x) for x in (lat1, lng1, lat2, lng2))
    chord = (
        np.sin(0.5 * (lat2 - lat1)) ** 2
        + np.cos(lat1) * np.cos(lat2) * np.sin(0.5 * (lng2 - lng1)) ** 2
    )
    return 2.0 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(1.0, chord)))


def _count_km(arcs: NDArray[np.float64]) -> Histogram:
    return np.bincount(np.rint(arcs * (EARTH_RADIUS_KM / KM)).astype(np.int64))


@lru_cache(maxsize=8)
def _points(places: Places) -> NDArray[np.float64]:
    """Return (n_places, 3) unit vectors."""
    lat, lng = np.radians(places.lat), np.radians(places.lng)
    vectors = (np.cos(lat) * np.cos(lng), np.cos(lat) * np.sin(lng), np.sin(lat))
    return np.ascontiguousarray(np.stack(vectors, axis=1))


def trip_lengths(traces: Traces) -> Histogram:
    """Return the histogram of trip lengths in cells of 10 m."""
    arcs = np.empty(traces.n_events)
    n = kernels.trip_arcs(
        traces.offsets, traces.location, traces.instant, _points(traces.places), arcs
    )
    return _count_km(arcs[:n])


def gyration_radii(traces: Traces) -> Histogram:
    """Return the histogram of daily radii of gyration in cells of 10 m.

    The centre is the mean of the events' unit vectors, brought back to the sphere.
    """
    arcs = np.empty(traces.n_events)
    n = kernels.gyration_arcs(
        traces.offsets,
        traces.location,
        traces.instant,
        _points(traces.places),
        day_second(traces.clock),
        traces.clock.instant_seconds,
        arcs,
    )
    return _count_km(arcs[:n])


def stays(traces: Traces) -> Histogram:
    """Return the histogram of stays in instants (index 0 is never used).

    A stay is a longest run of consecutive events of one user at one place with no instant
    left out; its length is last − first instant + 1.
    """
    n = traces.n_events
    if n == 0:
        return np.zeros(1, dtype=np.int64)
    broken = (
        (np.diff(traces.user) != 0)
        | (np.diff(traces.location) != 0)
        | (np.diff(traces.instant) > 1)
    )
    first = np.concatenate([[0], np.flatnonzero(broken) + 1])
    last = np.concatenate([first[1:] - 1, [n - 1]])
    return np.bincount(traces.instant[last] - traces.instant[first] + 1)


MOBILITY = MappingProxyType(
    {
        "trip_length_emd": trip_lengths,
        "gyration_emd": gyration_radii,
        "stay_emd": stays,
    }
)
"""The histogram behind each score; those of `days` are counted together."""


def units(instant_seconds: int) -> Mapping[str, float]:
    """Return what one histogram cell of each score is worth, in the unit of the score."""
    hours = instant_seconds / 3600.0
    return {
        "trip_length_emd": KM,
        "gyration_emd": KM,
        "stay_emd": hours,
        "places_per_day_emd": 1.0,
        "moves_per_day_emd": 1.0,
        "top_place_emd": 1.0 / SHARE_CELLS,
        "events_per_day_emd": 1.0,
        "gap_emd": hours,
        "entropy_emd": 1.0 / ENTROPY_CELLS,
    }


def add(a: Histogram, b: Histogram) -> Histogram:
    """Return the sum of two histograms of any lengths."""
    total = np.zeros(max(len(a), len(b)), dtype=np.int64)
    total[: len(a)] += a
    total[: len(b)] += b
    return total


def histogram_emd(a: Histogram, b: Histogram, unit: float = 1.0) -> float:
    """Return the earth mover's distance of two histograms; NaN if one of them is empty."""
    if a.sum() == 0 or b.sum() == 0:
        return float("nan")
    gap = np.zeros(max(len(a), len(b)))
    gap[: len(a)] += a / a.sum()
    gap[: len(b)] -= b / b.sum()
    return float(np.abs(np.cumsum(gap)).sum() * unit)
