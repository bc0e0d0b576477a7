"""Trade-off plots: the paper's scores, or the summary, against what attacks achieve."""

from __future__ import annotations

from typing import Any

from doppeltrace.comparison.result import Comparison, Row
from doppeltrace.errors import require
from doppeltrace.plots.canvas import COLOURS, MARKERS, panels, tidy
from doppeltrace.utility.metrics import METRICS

PRIVACY = {
    "reidentification_rate": "re-identification rate",
    "membership_advantage": "membership advantage",
}
UTILITY = {name: metric.label for name, metric in METRICS.items() if metric.of_paper}
SUMMARY = {
    "mean": "summary, mean of the groups",
    "worst": "summary, worst group",
}
LIRA, MEMBERSHIP = "LiRA advantage", "membership advantage"


def plot_tradeoff(comparison: Comparison, *, ax: Any = None) -> Any:
    """Return the paper's trade-off plots of a comparison.

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


def plot_summary(comparison: Comparison, *, ax: Any = None) -> Any:
    """Return what traces are worth against what a membership attack gains.

    Two panels, the mean and the worst group of the summary (1 is Training, 0 is trivial), over
    LiRA's advantage where the comparison was run with `audit_runs`, else over the membership
    advantage. The best place is at the top left.
    """
    rows = comparison.rows
    lira = all(row.lira_advantage is not None for row in rows)
    gains = [row.lira_advantage if lira else row.score["membership_advantage"] for row in rows]
    require(None not in gains, "there is nothing to plot against: run the attacks too")
    figure, axes = panels(1, len(SUMMARY), ax)
    for panel, (key, title) in zip(axes[0], SUMMARY.items(), strict=True):
        for number, (series, members) in enumerate(_series(comparison).items()):
            points = [
                (gain, row.score.summary[key])
                for row, gain in zip(rows, gains, strict=True)
                if row in members and row.score.summary[key] is not None
            ]
            panel.plot(
                [x for x, _ in points],
                [y for _, y in points],
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=5,
                linewidth=0.8,
                label=series,
            )
        panel.set_ylim(-0.03, 1.03)
        tidy(panel, LIRA if lira else MEMBERSHIP, title)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if ax is None:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6))
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
    tidy(axes, PRIVACY[attack], UTILITY[score])


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
