"""How far data reach, told so that no single person shows: robust, and rounded outward.

An edge of the data, such as the southernmost point, is somebody's exact position. The edges here
are those that several users reach, and they lie on a public lattice of round numbers.
"""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.traces import Bounds

MIN_BEYOND = 5
"""Users who must have reached an edge, or been beyond it, before it was rounded outward."""

BEYOND_SHARE = 200
"""Of many users, one in so many may lie beyond an edge."""

STEPS = 20
"""A lattice has at least this many steps across the data: rounding widens a box by 10 %."""

MIN_STEP = 0.001
"""Degrees, about 100 m: no lattice is finer."""


def public_box(user: pl.Series, lat: pl.Series, lng: pl.Series) -> Bounds:
    """Return a box around nearly all points, its edges round numbers of degrees.

    The four series have a row per point.
    """
    south, north = _edges(user, lat)
    west, east = _edges(user, lng)
    step = _round_step(max(north - south, east - west) / STEPS)
    south, north = _outward(south, north, step)
    west, east = _outward(west, east, step)
    return Bounds(max(-90.0, south), max(-180.0, west), min(90.0, north), min(180.0, east))


def public_days(user: pl.Series, local: pl.Series) -> tuple[dt.date, dt.date]:
    """Return the first and the last day that several users reach."""
    first, last = _edges(user, local.dt.date().cast(pl.Int32))
    epoch = dt.date(1970, 1, 1)
    return epoch + dt.timedelta(days=int(first)), epoch + dt.timedelta(days=int(last))


def _edges(user: pl.Series, value: pl.Series) -> tuple[float, float]:
    """Return the lowest and highest value that enough users reach."""
    frame = pl.DataFrame({"user": user, "value": value})
    reach = frame.group_by("user").agg(low=pl.col("value").min(), high=pl.col("value").max())
    rank = _rank(len(reach))
    low: NDArray[np.float64] = reach["low"].cast(pl.Float64).to_numpy()
    high: NDArray[np.float64] = reach["high"].cast(pl.Float64).to_numpy()
    edges = np.partition(low, rank)[rank], -np.partition(-high, rank)[rank]
    return float(min(edges)), float(max(edges))


def _rank(n_users: int) -> int:
    """Return how many users may lie beyond an edge; of a handful, none or one."""
    needed = max(MIN_BEYOND, n_users // BEYOND_SHARE)
    return min(needed - 1, n_users // 10)


def _round_step(wanted: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of 10 that is not above `wanted`."""
    if wanted <= MIN_STEP:
        return MIN_STEP
    unit = 10.0 ** math.floor(math.log10(wanted))
    return max(m * unit for m in (1, 2, 5) if m * unit <= wanted)


def _outward(low: float, high: float, step: float) -> tuple[float, float]:
    """Return the multiples of `step` below and above; never the values themselves."""
    first = math.ceil(round(low / step, 6)) - 1  # 0.35 / 0.001 is 349.99…
    last = math.floor(round(high / step, 6)) + 1
    return round(first * step, 9), round(last * step, 9)
