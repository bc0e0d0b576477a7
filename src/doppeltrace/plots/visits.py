"""Histograms of visit-fractions: how much of their time people give to a place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.errors import require
from doppeltrace.plots.canvas import REAL, SYNTHETIC, panels, tidy
from doppeltrace.traces import SyntheticTraces, Traces
from doppeltrace.utility.summary import in_chunks
from doppeltrace.utility.visit_fractions import BINS, MIN_EVENTS, fraction_counts


def plot_visit_fractions(
    place: int,
    real: Traces | None = None,
    synthetic: Traces | SyntheticTraces | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Return the histogram of one place's visit-fractions, real against synthetic.

    A user's visit-fraction is the share of the user's events at the place. Counted are those who
    come at all, have at least 5 events, and go elsewhere too: the paper's bins, each 1/24 wide.

    Parameters
    ----------
    place : number of the place.
    real, synthetic : traces with the same places; one of them may be left out.
    ax : axes to draw into.
    """
    sets = (("real", real, REAL), ("synthetic", synthetic, SYNTHETIC))
    shown = [one for one in sets if one[1] is not None]
    require(len(shown) > 0, "there is nothing to plot: give real or synthetic traces")
    assert shown[0][1] is not None
    places = shown[0][1].places
    require(0 <= place < len(places), f"place must be from 0 to {len(places) - 1}")
    figure, axes = panels(1, 1, ax)
    edges = np.arange(BINS + 1) / BINS
    for name, traces, colour in shown:
        assert traces is not None
        counts = _fractions(traces, place)
        share = 100 * counts / max(counts.sum(), 1)
        label = f"{name} ({counts.sum():,})"
        filled = name == "real" and len(shown) == 2
        axes[0, 0].stairs(
            share, edges, color=colour, label=label, fill=filled, alpha=0.45 if filled else 1,
            linewidth=1.6,
        )  # fmt: skip
    tidy(axes[0, 0], f"visit-fraction (of ≥ {MIN_EVENTS} events)", "users who visit, %")
    axes[0, 0].set_title(f"place {places.labels[place]}")
    axes[0, 0].set_xlim(0, 1)
    axes[0, 0].legend(frameon=False)
    return figure


def _fractions(traces: Traces | SyntheticTraces, place: int) -> NDArray[np.int64]:
    result: NDArray[np.int64] = np.sum(
        [fraction_counts(part)[place] for part in in_chunks(traces)], axis=0
    )
    return result
