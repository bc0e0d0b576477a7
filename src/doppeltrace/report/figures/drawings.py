"""Small pictures as SVG text, for a page without scripts; colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

MAP_WIDTH = 240
MAP_MARGIN = 12
LARGEST_RADIUS = 11.0
SMALLEST_RADIUS = 0.7
KM_PER_DEGREE = 111.195

BARS_WIDTH, BARS_HEIGHT = 560, 180
LEFT, RIGHT, BOTTOM, TOP = 74, 34, 32, 14


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

    def pixels(self, lat: NDArray, lng: NDArray) -> tuple[NDArray, NDArray]:
        """Return x and y."""
        x = ((lng - self._west) * self._squeeze + self._pad) * self.scale + MAP_MARGIN
        return x, (self._north - lat) * self.scale + MAP_MARGIN

    def bar(self) -> tuple[float, float]:
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
) -> str:
    """Return a map with a disc per place, its area in proportion to the share there.

    Parameters
    ----------
    lat, lng, share : (n_places,), the busiest first, so that small discs lie on top.
    largest : the share that the largest disc of all maps stands for.
    label : the picture in words.
    """
    to = Projection(lat, lng)
    x, y = to.pixels(lat, lng)
    radius = np.maximum(LARGEST_RADIUS * np.sqrt(share / largest), SMALLEST_RADIUS)
    discs = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{r:.1f}"/>'
        for a, b, r, s in zip(x, y, radius, share, strict=True)
        if s > 0
    )
    km, length = to.bar()
    foot = to.height + 18
    return (
        f'<svg class="map" viewBox="0 0 {MAP_WIDTH} {foot + 6}" role="img" '
        f'aria-label="{escape(label)}"><g class="discs">{discs}</g>'
        f'<path class="ruler" d="M{MAP_MARGIN} {foot - 4}v4h{length:.1f}v-4"/>'
        f'<text x="{MAP_MARGIN + length + 6:.1f}" y="{foot + 1}">{km:g} km</text></svg>'
    )


def bar_chart(values: Sequence[float], ticks: Sequence[tuple[float, str]], label: str) -> str:
    """Return columns of shares.

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
    columns = "".join(
        f'<rect x="{LEFT + i * column + 1:.1f}" y="{floor - h:.1f}" width="{column - 2:.1f}" '
        f'height="{h:.1f}"/>'
        for i, h in enumerate(height)
    )
    lines = "".join(
        f'<path class="line" d="M{LEFT} {y:.1f}H{BARS_WIDTH - RIGHT}"/>'
        f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{share:.3g}\N{NO-BREAK SPACE}%</text>'
        for share in (0.0, 50 * top, 100 * top)
        for y in (floor - share / 100 / top * (floor - TOP),)
    )
    below = "".join(
        f'<text class="middle" x="{LEFT + at * column:.1f}" y="{floor + 26}">{escape(text)}</text>'
        for at, text in ticks
    )
    return (
        f'<svg class="bars" viewBox="0 0 {BARS_WIDTH} {BARS_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{lines}<g class="columns">{columns}</g>{below}</svg>'
    )


def _round_up(share: float) -> float:
    """Return the next of 1, 2, 4, 6, 8 % and their tens that is not below a share."""
    for power in (0.001, 0.01, 0.1):
        for step in (1, 2, 4, 6, 8):
            if step * power >= share:
                return step * power
    return 1.0
