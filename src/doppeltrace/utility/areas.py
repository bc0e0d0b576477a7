"""Coarse areas and parts of the day: what flows between places are measured on.

Flows between single places are too thin to be measured on a few hundred people. Places are
therefore put into at most 16 areas, by their coordinates alone (no visit counts), and the hours
of the day into five parts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import DAY_SECONDS, Clock, Places

LEVELS = 4
"""Halvings of the set of places: 2⁴ = 16 areas."""

PART_STARTS = (0, 6, 10, 14, 18)
PARTS = ("night", "morning", "midday", "afternoon", "evening")
"""Parts of the day, and the hour at which each begins."""


@lru_cache(maxsize=8)
def areas(places: Places, levels: int = LEVELS) -> NDArray[np.int64]:
    """Return (n_places,) the area of each place, 0 … 2^levels − 1.

    Halves the places at the median again and again, each time across the wider side of the
    box around them (a k-d tree), so areas hold about equally many places. Fewer places than
    areas have one each.
    """
    if len(places) <= 2**levels:
        return np.arange(len(places))
    east = places.lng * np.cos(np.radians(places.lat.mean()))  # degrees of equal length
    parts = [np.arange(len(places))]
    for _ in range(levels):
        parts = [half for part in parts for half in _halves(part, east, places.lat)]
    area = np.empty(len(places), dtype=np.int64)
    for number, part in enumerate(parts):
        area[part] = number
    return area


def _halves(
    part: NDArray[np.int64], east: NDArray[np.float64], north: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    x, y = east[part], north[part]
    keys = (y, x) if np.ptp(x) >= np.ptp(y) else (x, y)  # the last key is the first to sort by
    order = part[np.lexsort(keys)]
    return order[: len(order) // 2], order[len(order) // 2 :]


def n_areas(n_places: int, levels: int = LEVELS) -> int:
    """Return how many areas `areas` makes."""
    result: int = min(n_places, 2**levels)
    return result


def day_second(clock: Clock) -> int:
    """Return the local time at which instant 0 begins, in seconds after midnight."""
    midnight = clock.start.replace(hour=0, minute=0, second=0, microsecond=0)
    return int((clock.start - midnight).total_seconds())


def parts_of_hours() -> NDArray[np.int64]:
    """Return (24,) the part of the day of each hour."""
    return np.searchsorted(PART_STARTS, np.arange(24), side="right") - 1


def day_parts(clock: Clock, instant: NDArray[Any]) -> NDArray[np.int64]:
    """Return the part of the day in which each instant begins."""
    second = day_second(clock) + np.asarray(instant, np.int64) * clock.instant_seconds
    return parts_of_hours()[second % DAY_SECONDS // 3600]
