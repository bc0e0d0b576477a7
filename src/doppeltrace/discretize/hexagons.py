"""H3 hexagons as places (needs the extra `h3`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import SettingsError, require
from doppeltrace.traces import Bounds, Places

FINEST = 15


def check_resolution(resolution: int) -> None:
    """Raise `SettingsError` unless H3 has this resolution and is installed."""
    require(0 <= resolution <= FINEST, f"h3 {resolution} must be a resolution from 0 to {FINEST}")
    _library()


def hexagons(lat: ArrayLike, lng: ArrayLike, resolution: int) -> NDArray[np.int64]:
    """Return (n,) the number of the H3 cell of each point (degrees)."""
    h3 = _library()
    cell_of = h3.latlng_to_cell
    points = zip(
        np.asarray(lat, dtype=np.float64).tolist(),
        np.asarray(lng, dtype=np.float64).tolist(),
        strict=True,
    )
    return np.array([cell_of(y, x, resolution) for y, x in points], dtype=np.int64)


def hexagon_places(cells: NDArray[np.int64], bounds: Bounds | None = None) -> Places:
    """Return H3 cells as places, labelled by their usual names, located at their centres."""
    h3 = _library()
    centres = np.array([h3.cell_to_latlng(int(cell)) for cell in cells]).reshape(-1, 2)
    return Places(
        labels=np.array([h3.int_to_str(int(cell)) for cell in cells]),
        lat=centres[:, 0],
        lng=centres[:, 1],
        bounds=bounds,  # type: ignore[arg-type]  # None: the box around the centres
    )


def _library() -> Any:
    try:
        from h3.api import basic_int
    except ImportError as error:
        raise SettingsError(
            "H3 cells need the package h3: install it with pip install 'doppeltrace[h3]', "
            "or use a grid (grid=…)"
        ) from error
    return basic_int
