"""Maps: where people are in a time slot, and which places and hours a factor stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.errors import require
from doppeltrace.plots.canvas import COLOURS, matplotlib, panels, tidy
from doppeltrace.report.figures.slots import slot_labels
from doppeltrace.traces import Places, SyntheticTraces, Traces
from doppeltrace.utility.population import distributions, slot_counts
from doppeltrace.utility.summary import in_chunks

ONE_SIGN, TWO_SIGNS = "Blues", "PuOr"
"""Colour scales: darker is more, whatever the colour vision."""


def plot_population(
    real: Traces | None = None,
    synthetic: Traces | SyntheticTraces | None = None,
    *,
    slot: int = 0,
    ax: Any = None,
) -> Any:
    """Return a map of the population in a time slot: real, synthetic, or both side by side.

    A place's colour is the share of the slot's events there, in per cent, on one scale for both
    maps; the scale is that of the square root, so that small places show.

    Parameters
    ----------
    real, synthetic : traces with the same places and clock; one of them may be left out.
    slot : number of the time slot.
    ax : axes to draw into, one per map.
    """
    shown = [(n, t) for n, t in (("real", real), ("synthetic", synthetic)) if t is not None]
    require(len(shown) > 0, "there is nothing to plot: give real or synthetic traces")
    places, clock = shown[0][1].places, shown[0][1].clock
    require(
        all(t.places.same_as(places) and t.clock.same_as(clock) for _, t in shown),
        "real and synthetic traces have other places or another clock",
    )
    require(0 <= slot < clock.n_slots, f"slot must be from 0 to {clock.n_slots - 1}")
    shares = [100 * _shares(traces)[slot] for _, traces in shown]
    library = matplotlib()
    from matplotlib.colors import PowerNorm

    scale = PowerNorm(0.5, 0.0, max(float(s.max()) for s in shares))
    figure, axes = panels(1, len(shown), ax, size=(4.4, 4.0))
    for (name, _), share, one in zip(shown, shares, axes[0], strict=True):
        points = _map(one, places, share, norm=scale, cmap=library.colormaps[ONE_SIGN])
        one.set_title(f"{name}, {slot_labels(clock)[slot]}")
    figure.colorbar(points, ax=list(axes[0]), label="events of the slot, %", shrink=0.8)
    return figure


def plot_factors(model: Any, factors: int | Sequence[int] | None = None, *, ax: Any = None) -> Any:
    """Return, for each factor, its places (B), its next places (C) and its hours (D).

    Columns that are nowhere negative are shown as shares of their sum, in per cent. Gaussian
    factors may be negative: theirs are shown as they are, on a scale with two colours. Mind that
    factors are learned from real people: such a picture must not be published.

    Parameters
    ----------
    model : a fitted PPMTF, ITF or Doppel.
    factors : number of a factor, or several; by default all, a row of panels each.
    ax : axes to draw into, three per factor.
    """
    theta, places, clock = model.factors_, model.train.places, model.train.clock
    chosen = np.arange(theta.n_factors) if factors is None else np.atleast_1d(factors)
    require(
        len(chosen) > 0 and bool(np.all((chosen >= 0) & (chosen < theta.n_factors))),
        f"factors must be numbers from 0 to {theta.n_factors - 1}",
    )
    figure, axes = panels(len(chosen), 3, ax, size=(3.8, 3.2))
    for row, number in zip(axes, chosen, strict=True):
        for one, matrix, title in ((row[0], theta.B, "places"), (row[1], theta.C, "next places")):
            weight, unit, style = _column(matrix[:, number])
            points = _map(one, places, weight, **style)
            one.set_title(f"factor {number}: {title}")
            figure.colorbar(points, ax=one, label=unit, shrink=0.8)
        weight, unit, _ = _column(theta.D[:, number])
        row[2].bar(np.arange(clock.n_slots), weight, width=0.9, color=COLOURS[0])
        _name_slots(row[2], slot_labels(clock))
        tidy(row[2], "beginning of the time slot", unit)
        row[2].set_title(f"factor {number}: hours")
    return figure


def _shares(traces: Traces | SyntheticTraces) -> NDArray[np.float64]:
    return distributions(sum(slot_counts(part) for part in in_chunks(traces)))  # type: ignore[arg-type]


def _column(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], str, dict[str, Any]]:
    """Return a factor's column as it is shown, its unit, and its colours."""
    if values.min() >= 0 and values.sum() > 0:
        return 100 * values / values.sum(), "weight, %", {"cmap": ONE_SIGN, "vmin": 0}
    most = float(np.abs(values).max()) or 1.0
    return values, "weight", {"cmap": TWO_SIGNS, "vmin": -most, "vmax": most}


def _map(axes: Any, places: Places, values: NDArray[np.float64], **style: Any) -> Any:
    """Draw a square per place, small values first, north up and true to scale."""
    order = np.argsort(np.abs(values), kind="stable")
    size = float(np.clip(22_000 / len(places), 8, 140))  # so that a grid just about touches
    points = axes.scatter(
        places.lng[order], places.lat[order], c=values[order], s=size, marker="s",
        edgecolors="0.75", linewidths=0.4, **style,
    )  # fmt: skip
    middle = math.radians(float(places.lat.min() + places.lat.max()) / 2)
    axes.set_aspect(1 / max(math.cos(middle), 1e-6))
    axes.margins(0.06)
    axes.ticklabel_format(useOffset=False)
    axes.locator_params(nbins=4)
    tidy(axes, "longitude, °", "latitude, °")
    return points


def _name_slots(axes: Any, labels: list[str]) -> None:
    """Name some slots by the time at which they begin."""
    every = -(-len(labels) // 8)
    begin = [label.partition("–")[0] for label in labels[::every]]
    axes.set_xticks(range(0, len(labels), every), begin, rotation=45, ha="right")
