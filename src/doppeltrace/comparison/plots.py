"""The paper's trade-off plots: utility against what attacks achieve."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from doppeltrace.comparison.result import SCORES, Comparison, Row
from doppeltrace.errors import SettingsError, require

FORMATS = (".svg", ".png", ".pdf")
PRIVACY = {
    "reidentification_rate": "re-identification rate",
    "membership_advantage": "membership advantage",
}
UTILITY = [name for name in SCORES if name not in PRIVACY]
MARKERS = "os^Dv*PXph<>"


def check_plot(path: str | Path) -> None:
    """Raise `SettingsError` unless a plot could be drawn to a file of this name."""
    _check_kind(Path(path).suffix)
    if importlib.util.find_spec("matplotlib") is None:
        raise SettingsError("plots need matplotlib: pip install 'doppeltrace[plots]'")


def plot_tradeoff(comparison: Comparison, path: str | Path, *, kind: str | None = None) -> None:
    """Write the trade-off plots to an .svg, .png or .pdf file.

    A row of panels per attack, a column per utility score that is defined; rows of one series
    are joined by a line; dashed lines are the training traces and the uniform distribution.
    Needs the extra `plots` (matplotlib).

    Parameters
    ----------
    kind : the file's format, if its name does not end in it.
    """
    kind = Path(path).suffix if kind is None else kind
    check_plot(f"plot{kind}")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    attacks = [name for name in PRIVACY if _defined(comparison, name)]
    scores = [name for name in UTILITY if _defined(comparison, name)]
    require(len(attacks) > 0, "there is nothing to plot against: run the attacks too")
    figure = Figure(figsize=(3.4 * len(scores), 3.2 * len(attacks) + 0.6), layout="constrained")
    panels = figure.subplots(len(attacks), len(scores), squeeze=False)
    for line, attack in enumerate(attacks):
        for column, score in enumerate(scores):
            _panel(panels[line, column], comparison, attack, score)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8))
    # the salt gives the same bytes for the same scores; letters stay text, which is smaller
    with rc_context({"svg.hashsalt": "doppeltrace", "svg.fonttype": "none"}):
        metadata = {"Date": None} if kind.lower() == ".svg" else None
        figure.savefig(path, format=kind.lower()[1:], dpi=150, metadata=metadata)


def _check_kind(kind: str) -> None:
    require(
        kind.lower() in FORMATS,
        f"a plot cannot be a file of kind {kind!r}: let its name end in {', '.join(FORMATS)}",
    )


def _panel(axes: Any, comparison: Comparison, attack: str, score: str) -> None:
    for number, (series, rows) in enumerate(_series(comparison).items()):
        points = [(row.score[attack], row.score[score]) for row in rows]
        known = [(x, y) for x, y in points if x is not None and y is not None]
        axes.plot(
            [x for x, _ in known],
            [y for _, y in known],
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
    axes.set_xlabel(PRIVACY[attack])
    axes.set_ylabel(SCORES[score])


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
