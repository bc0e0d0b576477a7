"""The paper's trade-off plots: utility against what attacks achieve."""

from __future__ import annotations

from typing import Any

from doppeltrace.comparison.result import SCORES, Comparison, Row
from doppeltrace.errors import require
from doppeltrace.plots.canvas import COLOURS, MARKERS, panels, tidy

PRIVACY = {
    "reidentification_rate": "re-identification rate",
    "membership_advantage": "membership advantage",
}
UTILITY = [name for name in SCORES if name not in PRIVACY]


def plot_tradeoff(comparison: Comparison, *, ax: Any = None) -> Any:
    """Return the trade-off plots of a comparison.

    A row of panels per attack, a column per utility score that is defined; rows of one series
    are joined by a line; dashed lines are the training traces and the uniform distribution.
    """
    attacks = [name for name in PRIVACY if _defined(comparison, name)]
    scores = [name for name in UTILITY if _defined(comparison, name)]
    require(len(attacks) > 0, "there is nothing to plot against: run the attacks too")
    figure, axes = panels(len(attacks), len(scores), ax, size=(3.4, 3.4))
    for line, attack in enumerate(attacks):
        for column, score in enumerate(scores):
            _panel(axes[line, column], comparison, attack, score)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if ax is None:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8))
    else:
        axes[0, 0].legend()
    return figure


def _panel(axes: Any, comparison: Comparison, attack: str, score: str) -> None:
    for number, (series, rows) in enumerate(_series(comparison).items()):
        points = [(row.score[attack], row.score[score]) for row in rows]
        known = [(x, y) for x, y in points if x is not None and y is not None]
        axes.plot(
            [x for x, _ in known],
            [y for _, y in known],
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            linewidth=0.8,
            label=series,
        )
    first = comparison.rows[0].score
    for name, style in (("training", "--"), ("uniform", ":")):
        axes.axhline(
            first[f"{score}_{name}"], color="0.5", linestyle=style, linewidth=0.8, label=name
        )
    tidy(axes, PRIVACY[attack], SCORES[score])


def _series(comparison: Comparison) -> dict[str, list[Row]]:
    series: dict[str, list[Row]] = {}
    for row in comparison.rows:
        series.setdefault(row.series, []).append(row)
    return series


def _defined(comparison: Comparison, name: str) -> bool:
    """Tell whether a score is known, of the synthesizers and of the two ends."""
    ends = (f"{name}_training", f"{name}_uniform") if name in UTILITY else ()
    first = comparison.rows[0].score
    return all(row.score[name] is not None for row in comparison.rows) and all(
        first[end] is not None for end in ends
    )
