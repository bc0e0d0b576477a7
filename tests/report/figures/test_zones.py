"""Where on the map, in words."""

import numpy as np

from doppeltrace import Places
from doppeltrace.report.figures.zones import zones


def test_zones_by_hand():
    lat = np.array([60.0, 60.0, 60.1, 60.2, 60.0, 59.7, 60.0])
    lng = np.array([20.0, 20.01, 20.2, 20.0, 20.4, 20.0, 19.6])
    counts = np.array([3, 0, 1, 1, 1, 1, 1])
    places = Places(np.arange(7), lat, lng)
    # a degree of longitude is half as long there, so 0.1 N 0.2 E lies in the north-east
    assert zones(places, counts).tolist() == [
        "centre", "centre", "north-east", "north", "east", "south", "west",
    ]  # fmt: skip
    assert set(zones(places, np.array([0, 0, 0, 0, 0, 9, 0]))) >= {"north-west"}
