"""Small pictures for a page without scripts: positions here, SVG in `drawings.html.j2`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAP_WIDTH = 240
MAP_MARGIN = 12
MAX_RADIUS = 11.0
MIN_RADIUS = 0.7
KM_PER_DEGREE = 111.195

BARS_WIDTH, BARS_HEIGHT = 560, 180
LEFT, RIGHT, BOTTOM, TOP = 74, 34, 32, 14


@dataclass(frozen=True)
class Disc:
    """A place: its position and radius, in pixels."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class BubbleMap:
    """A map with a disc per place, its area in proportion to the share there.

    Attributes
    ----------
    label : the picture in words.
    width, height, foot : of the picture, and the line on which the ruler stands, in pixels.
    discs : the busiest first, so that small discs lie on top.
    ruler, ruler_km : a round length, in pixels and km.
    """

    label: str
    width: int
    height: int
    foot: int
    discs: tuple[Disc, ...]
    margin: int
    ruler: float
    ruler_km: float


@dataclass(frozen=True)
class Column:
    """A column of a chart, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Mark:
    """A text at a position along an axis, in pixels."""

    at: float
    text: str


@dataclass(frozen=True)
class BarChart:
    """Columns of shares.

    Attributes
    ----------
    label : the picture in words.
    width, height, left, right, floor : of the picture and of its axes, in pixels.
    columns : one per share.
    lines, ticks : across the picture, and below the axis.
    """

    label: str
    width: int
    height: int
    left: int
    right: int
    floor: int
    columns: tuple[Column, ...]
    lines: tuple[Mark, ...]
    ticks: tuple[Mark, ...]


class Projection:
    """Degrees to pixels: north up, one scale in both directions at the middle latitude."""

    def __init__(self, lat: NDArray[np.float64], lng: NDArray[np.float64]) -> None:
        middle = math.radians(float(lat.min() + lat.max()) / 2)
        self._squeeze = max(math.cos(middle), 1e-6)
        self._west, self._north = float(lng.min()), float(lat.max())
        across = (float(lng.max()) - self._west) * self._squeeze
        down = self._north - float(lat.min())
        extent = max(across, down / 1.4, 1e-9)
        self.scale = (MAP_WIDTH - 2 * MAP_MARGIN) / extent
        self._pad = (extent - across) / 2
        self.height = round(max(down * self.scale, 60) + 2 * MAP_MARGIN)

    def pixels(
        self, lat: NDArray[np.float64], lng: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x and y."""
        x = ((lng - self._west) * self._squeeze + self._pad) * self.scale + MAP_MARGIN
        return x, (self._north - lat) * self.scale + MAP_MARGIN

    def ruler(self) -> tuple[float, float]:
        """Return a round length in km of at most a third of the width, and its pixels."""
        pixels_per_km = self.scale / KM_PER_DEGREE
        most = (MAP_WIDTH - 2 * MAP_MARGIN) / 3 / pixels_per_km
        power = 10.0 ** math.floor(math.log10(most))
        km = next(m * power for m in (5, 2, 1) if m * power <= most)
        return km, km * pixels_per_km


def bubble_map(
    lat: NDArray[np.float64],
    lng: NDArray[np.float64],
    share: NDArray[np.float64],
    largest: float,
    label: str,
) -> BubbleMap:
    """Lay out a map.

    Parameters
    ----------
    lat, lng, share : (n_places,), the busiest first.
    largest : the share that the largest disc of all maps stands for.
    label : the picture in words.
    """
    to = Projection(lat, lng)
    x, y = to.pixels(lat, lng)
    radius = np.maximum(MAX_RADIUS * np.sqrt(share / largest), MIN_RADIUS)
    km, length = to.ruler()
    rows = zip(x.tolist(), y.tolist(), radius.tolist(), share.tolist(), strict=True)
    return BubbleMap(
        label=label,
        width=MAP_WIDTH,
        height=to.height + 24,
        foot=to.height + 18,
        discs=tuple(Disc(round(a, 1), round(b, 1), round(r, 1)) for a, b, r, s in rows if s > 0),
        margin=MAP_MARGIN,
        ruler=round(length, 1),
        ruler_km=km,
    )


def bar_chart(values: Sequence[float], ticks: Sequence[tuple[float, str]], label: str) -> BarChart:
    """Lay out columns.

    Parameters
    ----------
    values : shares from 0 to 1.
    ticks : (position in columns from the left edge, text) below the axis.
    label : the picture in words.
    """
    top = _round_up(max(values, default=0.0))
    column = (BARS_WIDTH - LEFT - RIGHT) / max(len(values), 1)
    floor = BARS_HEIGHT - BOTTOM
    height = [v / top * (floor - TOP) for v in values]
    return BarChart(
        label=label,
        width=BARS_WIDTH,
        height=BARS_HEIGHT,
        left=LEFT,
        right=BARS_WIDTH - RIGHT,
        floor=floor,
        columns=tuple(
            Column(
                round(LEFT + i * column + 1, 1), round(floor - h, 1), round(column - 2, 1),
                round(h, 1),
            )
            for i, h in enumerate(height)
        ),
        lines=tuple(
            Mark(
                round(floor - part * (floor - TOP), 1),
                f"{100 * part * top:.3g}\N{NO-BREAK SPACE}%",
            )
            for part in (0.0, 0.5, 1.0)
        ),
        ticks=tuple(Mark(round(LEFT + at * column, 1), text) for at, text in ticks),
    )  # fmt: skip


def _round_up(share: float) -> float:
    """Return the next of 1, 2, 4, 6, 8 % and their tens that is not below a share."""
    for power in (0.001, 0.01, 0.1):
        for step in (1, 2, 4, 6, 8):
            if step * power >= share:
                return step * power
    return 1.0
