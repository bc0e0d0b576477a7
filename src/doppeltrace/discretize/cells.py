"""Cells: how points become numbered places, on a grid or in H3 hexagons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.discretize.hexagons import check_resolution, hexagon_places, hexagons
from doppeltrace.discretize.where import Grid
from doppeltrace.errors import require
from doppeltrace.traces import Bounds, Places


class Cells(Protocol):
    """Cells of a box: first each point's key, then, when all are known, numbers and places."""

    def keys(self, lat: ArrayLike, lng: ArrayLike) -> NDArray[np.int64]:
        """Return (n,) the key of each point's cell; all points lie in the box."""

    def number(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Places]:
        """Return each key's place number, and the places."""


@dataclass(frozen=True)
class CellChoice:
    """The cells that options ask for.

    Attributes
    ----------
    grid : (rows, columns) over a box, or a cell's side in metres; all cells are places.
    h3 : resolution of H3 hexagons; those with points are places, in label order.
    """

    grid: tuple[int, int] | float | None = None
    h3: int | None = None

    def __post_init__(self) -> None:
        """Reject what is neither a grid nor a resolution."""
        both = self.grid is not None and self.h3 is not None
        require(not both, "grid and h3 exclude each other: give one of them")
        if self.h3 is not None:
            check_resolution(self.h3)
        if isinstance(self.grid, tuple | list):
            require(len(self.grid) == 2, "grid needs two numbers: rows and columns")

    def __bool__(self) -> bool:
        """Tell whether any cells are asked for."""
        return self.grid is not None or self.h3 is not None

    def over(self, box: Bounds) -> Cells:
        """Return the cells of this box."""
        if self.h3 is not None:
            return HexagonCells(self.h3, box)
        if isinstance(self.grid, int | float):
            return GridCells(Grid.of_metres(float(self.grid), box))
        rows, columns = self.grid or (1, 1)
        return GridCells(Grid(rows, columns, box))


@dataclass(frozen=True)
class GridCells:
    """All cells of a grid; a key is the cell's number."""

    grid: Grid

    def keys(self, lat: ArrayLike, lng: ArrayLike) -> NDArray[np.int64]:
        """Return (n,) the key of each point's cell."""
        return self.grid.cell(lat, lng)

    def number(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Places]:
        """Return the keys, which are place numbers, and all cells."""
        return keys, self.grid.places()


@dataclass(frozen=True)
class HexagonCells:
    """Those H3 hexagons that have points; a key is H3's own number."""

    resolution: int
    box: Bounds | None = None

    def keys(self, lat: ArrayLike, lng: ArrayLike) -> NDArray[np.int64]:
        """Return (n,) the key of each point's cell."""
        return hexagons(lat, lng, self.resolution)

    def number(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Places]:
        """Return each key's place number, and the cells that occur, in label order."""
        cells, numbers = np.unique(keys, return_inverse=True)
        return numbers.astype(np.int64), hexagon_places(cells, self.box)
