"""Where things are: lines, districts, places, opening hours, and which place is nearest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from doppeltrace.streams import generator
from doppeltrace.traces import Bounds, Places

BOUNDS = Bounds(south=0.0, west=0.0, north=0.09, east=0.09)
"""About 10 km × 10 km, in the open sea, so that nobody takes it for a real city."""

OPENING_HOURS = {"office": (7, 21), "campus": (8, 20), "mall": (10, 20), "park": (6, 20)}
"""Category → (opens, closes) on the hour; every other category is always open."""

DISTRICTS = {
    "office": (0.50, 0.50, 0.13),
    "campus": (0.20, 0.80, 0.12),
    "mall": (0.80, 0.20, 0.12),
    "works": (0.85, 0.80, 0.12),
    "park": (0.25, 0.25, 0.12),
}
"""Category → centre and radius, in units of the city's side."""

STOPS = (0.06, 0.16, 0.27, 0.73, 0.84, 0.94)
"""Where along each line commuters live."""

QUARTERS = ((0.1, 0.65), (0.35, 0.9), (0.65, 0.7), (0.62, 0.1), (0.35, 0.35), (0.9, 0.4))
"""Where all others live."""

LINES = (np.array([1.0, 0.0]), np.array([0.0, 1.0]))
"""Directions of the two rail lines through the centre: west–east and south–north."""


def lay_out(n: int, *, grid: bool, seed: int) -> tuple[NDArray[np.float64], Places]:
    """Return (n, 2) points of the unit square and the places there, with categories."""
    side = int(np.ceil(np.sqrt(n)))
    if grid:
        number = np.arange(n)
        points = np.column_stack([number % side + 0.5, number // side + 0.5]) / side
    else:
        points = _scatter(n, generator(seed, "city places"))
    category = np.full(n, "home", dtype="<U7")
    for name, (x, y, radius) in DISTRICTS.items():
        inside = np.hypot(points[:, 0] - x, points[:, 1] - y) <= radius
        category[inside] = name
    near = np.abs(points - 0.5).min(axis=1) <= (0.51 / side if grid else 0.004)
    category[near & (category == "home")] = "station"
    if np.isin(category, list(OPENING_HOURS)).all():
        category[0] = "home"  # someone must be able to stay the night
    lng = BOUNDS.west + points[:, 0] * (BOUNDS.east - BOUNDS.west)
    lat = BOUNDS.south + points[:, 1] * (BOUNDS.north - BOUNDS.south)
    return points, Places(np.arange(n), lat, lng, BOUNDS, category)


def _scatter(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return n points: a quarter along each line, a quarter in districts, the rest anywhere."""
    kind = rng.integers(4, size=n)
    points = rng.random((n, 2))
    for line, direction in enumerate(LINES):
        on_line = kind == line
        across = rng.normal(0.0, 0.01, size=n)
        points[on_line, 1 - int(direction[1])] = 0.5 + across[on_line]
    centre = np.array([d[:2] for d in DISTRICTS.values()])[rng.integers(len(DISTRICTS), size=n)]
    points[kind == 2] = (centre + rng.normal(0.0, 0.06, size=(n, 2)))[kind == 2]
    return np.clip(points, 0.0, 1.0)


class Raster:
    """The nearest open place of every point of the city, for each hour of the day."""

    def __init__(self, points: NDArray[np.float64], category: NDArray[np.str_]) -> None:
        self.size = int(np.clip(4 * np.sqrt(len(points)), 64, 1024))
        axis = (np.arange(self.size) + 0.5) / self.size
        pixels = np.column_stack([np.tile(axis, self.size), np.repeat(axis, self.size)])
        layers: dict[tuple[str, ...], int] = {}
        table: list[NDArray[np.int32]] = []
        self.layer_of_hour = np.empty(24, dtype=np.int64)
        for hour in range(24):
            closed = tuple(c for c, (a, b) in OPENING_HOURS.items() if not a <= hour < b)
            if closed not in layers:
                layers[closed] = len(table)
                open_now = np.flatnonzero(~np.isin(category, closed))
                nearest = cKDTree(points[open_now]).query(pixels)[1]
                table.append(open_now[nearest].astype(np.int32))
            self.layer_of_hour[hour] = layers[closed]
        self.table = np.concatenate(table)

    def nearest(
        self, x: NDArray[np.floating], y: NDArray[np.floating], hour: NDArray[np.integer]
    ) -> NDArray[np.int32]:
        """Return the place nearest to each point among those open at that hour."""
        column = np.clip((x * self.size).astype(np.int64), 0, self.size - 1)
        row = np.clip((y * self.size).astype(np.int64), 0, self.size - 1)
        pixel = (self.layer_of_hour[hour] * self.size + row) * self.size + column
        return np.asarray(self.table[pixel], dtype=np.int32)
