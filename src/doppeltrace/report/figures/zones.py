"""Where on the map, in words: the centre, and eight directions around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Places

CENTRE = "centre"
DIRECTIONS = (
    "east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east",
)  # fmt: skip
CENTRAL = 1 / 3
"""Share of the events that are in the centre."""


def zones(places: Places, counts: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return (n_places,) the zone of each place, as seen from the mean position of the events.

    The places nearest to it are the centre, as many as hold `CENTRAL` of the events; all others
    are called by their direction.

    Parameters
    ----------
    counts : (n_places,) events, not all 0.
    """
    lat, lng = (np.average(x, weights=counts) for x in (places.lat, places.lng))
    north = places.lat - lat
    east = (places.lng - lng) * np.cos(np.radians(lat))
    eighth = np.rint(np.arctan2(north, east) / (np.pi / 4)).astype(np.int64) % len(DIRECTIONS)
    named: NDArray[np.str_] = np.array(DIRECTIONS)[eighth]
    order = np.argsort(np.hypot(north, east), kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    named[order[before < CENTRAL * counts.sum()]] = CENTRE
    return named
