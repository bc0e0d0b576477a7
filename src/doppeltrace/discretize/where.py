"""Where: grids over a box, the most visited places, and points in or out of a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import require
from doppeltrace.traces import Bounds, Places

METRES_PER_DEGREE = 111_195.0
"""Of latitude, on a sphere of radius 6 371 km."""

MAX_CELLS = 10_000_000
RANKS = ("users", "events")
"""What the most visited places have the most of."""


def inside(bounds: Bounds, lat: ArrayLike, lng: ArrayLike) -> NDArray[np.bool_]:
    """Tell which points lie in the box, its edges included."""
    lat, lng = np.asarray(lat, dtype=np.float64), np.asarray(lng, dtype=np.float64)
    return (
        (lat >= bounds.south) & (lat <= bounds.north) & (lng >= bounds.west) & (lng <= bounds.east)
    )


@dataclass(frozen=True)
class Grid:
    """rows × columns equal cells over a box, numbered row by row from the south-west corner."""

    rows: int
    columns: int
    bounds: Bounds

    def __post_init__(self) -> None:
        """Reject grids without cells."""
        require(
            self.rows >= 1 and self.columns >= 1,
            f"grid {self.rows} × {self.columns} has no cells: give at least 1 row and 1 column",
        )
        require(
            self.rows * self.columns <= MAX_CELLS,
            f"grid {self.rows:,} × {self.columns:,} has more than {MAX_CELLS:,} cells: give "
            "fewer rows and columns, a larger side, or smaller bounds (bounds=…)",
        )

    @classmethod
    def of_metres(cls, side: float, bounds: Bounds) -> Grid:
        """Return the grid whose cells come closest to squares of this side, in metres.

        A degree of longitude is as long as at the box's middle latitude.
        """
        require(
            np.isfinite(side) and side >= 1.0,
            f"grid: a cell's side of {side:g} metres is too small: give at least 1",
        )
        height = (bounds.north - bounds.south) * METRES_PER_DEGREE
        middle = np.deg2rad((bounds.north + bounds.south) / 2)
        width = (bounds.east - bounds.west) * METRES_PER_DEGREE * np.cos(middle)
        rows, columns = max(1, round(height / side)), max(1, round(width / side))
        return cls(rows, columns, bounds)

    def cell(self, lat: ArrayLike, lng: ArrayLike) -> NDArray[np.int64]:
        """Return the cell of each point, −1 outside the box.

        A cell owns its southern and western edge; the outermost ones own the box's edge too.
        """
        box = self.bounds
        lat, lng = np.asarray(lat, dtype=np.float64), np.asarray(lng, dtype=np.float64)
        within = inside(box, lat, lng)
        row = np.floor((np.where(within, lat, box.south) - box.south) / self._height)
        column = np.floor((np.where(within, lng, box.west) - box.west) / self._width)
        row = np.clip(row, 0, self.rows - 1).astype(np.int64)
        column = np.clip(column, 0, self.columns - 1).astype(np.int64)
        return np.where(within, row * self.columns + column, -1)

    def places(self) -> Places:
        """Return all cells as places: labelled by number, located at their centres."""
        row, column = np.divmod(np.arange(self.rows * self.columns), self.columns)
        return Places(
            labels=np.arange(self.rows * self.columns),
            lat=self.bounds.south + (row + 0.5) * self._height,
            lng=self.bounds.west + (column + 0.5) * self._width,
            bounds=self.bounds,
        )

    @property
    def _height(self) -> float:
        return (self.bounds.north - self.bounds.south) / self.rows

    @property
    def _width(self) -> float:
        return (self.bounds.east - self.bounds.west) / self.columns


def check_rank(rank_by: str) -> None:
    """Raise `SettingsError` unless this is one of `RANKS`."""
    require(rank_by in RANKS, f"rank_by {rank_by!r} is not known: choose from {', '.join(RANKS)}")


def most_visited(
    location: ArrayLike, user: ArrayLike, labels: NDArray[Any], top: int, rank_by: str = "users"
) -> NDArray[np.int64]:
    """Return the indexes, ascending, of the `top` places with the most users, or events.

    Among equals the place whose label sorts first is preferred. Ranked by events, one person
    alone can bring a place among them.

    Parameters
    ----------
    location, user : (n_events,) integers; no user is negative.
    """
    require(top >= 1, f"top_places {top} must be at least 1")
    check_rank(rank_by)
    location = np.asarray(location, dtype=np.int64)
    if rank_by == "users":
        pairs = np.unique(np.asarray(user, dtype=np.int64) * len(labels) + location)
        location = pairs % len(labels)
    visits = np.bincount(location, minlength=len(labels))
    return np.sort(np.lexsort((labels, -visits))[:top])


def keep_places(places: Places, kept: NDArray[np.int64]) -> tuple[Places, NDArray[np.int64]]:
    """Return the places at the indexes `kept`, and (n_places,) their new numbers, else −1."""
    number = np.full(len(places), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    category = None if places.category is None else places.category[kept]
    return (
        Places(places.labels[kept], places.lat[kept], places.lng[kept], places.bounds, category),
        number,
    )
