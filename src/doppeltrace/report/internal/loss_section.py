"""The page's words and table about what is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doppeltrace.report.figures.words import clock_time, percent
from doppeltrace.report.internal.losses import NO_YARDSTICK, NOT_COMPARABLE, RULES, verdict

SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class LossRow:
    """A row of the table, all of it in words.

    Attributes
    ----------
    plain, label, means : what it is about, the score's name, and both means (or empty).
    figures : (heading, figure) of the released traces and of what stands beside them.
    spread : of the first figure, or empty.
    at : where it is between nearest (0) and farthest (1), in percent; None if that says nothing.
    beyond : whether it is farther than that.
    word : the verdict.
    """

    plain: str
    label: str
    means: str
    figures: tuple[tuple[str, str], ...]
    spread: str
    at: float | None
    beyond: bool
    word: str


@dataclass(frozen=True)
class LossView:
    """The table, why some rows have no verdict, and the notes below it."""

    tested: bool
    rows: tuple[LossRow, ...]
    reasons: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def reference(found: Mapping[str, Any]) -> str:
    """Return who the real users of the page are."""
    users = f"{found['reference_users']:,}"
    if found["reference"] == "testing":
        return f"the {users} testing users, whom the model never saw"
    return f"the {users} training users"


def losses(found: Mapping[str, Any]) -> LossView:
    """Return the table of scores and the rules behind the words."""
    rows = found["losses"]
    tested = found["reference"] == "testing"
    meanings = [f"{row['label']}: {row['meaning']}." for row in rows]
    return LossView(
        tested=tested,
        rows=tuple(_row(row, tested) for row in rows),
        reasons=_reasons(rows, found["reference"]),
        notes=(*meanings, *RULES, *found["notes"]),
    )


def _reasons(rows: Sequence[Mapping[str, Any]], users: str) -> tuple[tuple[str, str], ...]:
    """Return why some properties have no yardstick or cannot be compared."""
    reasons = {
        NO_YARDSTICK: f"the training users are hardly nearer to the {users} users than a uniform "
        "guess, so these data cannot tell",
        NOT_COMPARABLE: "the real traces have too many gaps",
    }
    words = {row["verdict"] for row in rows}
    return tuple((f"{w.capitalize()}:", f"{why}.") for w, why in reasons.items() if w in words)


def _row(row: Mapping[str, Any], tested: bool) -> LossRow:
    names = ("synthetic", "training", "uniform")
    figures = [_figure(row[name], row["unit"]) for name in names]
    if not tested:
        figures[1] = "–"
    lost, word = row["lost"], row["verdict"]
    if lost is not None:
        if word != verdict(lost):
            word += ": the means differ"
        else:
            word += ", worse than uniform" if lost > 1 else ", nearer than training" * (lost < 0)
    return LossRow(
        plain=row["plain"],
        label=row["label"],
        means=_means(row),
        figures=tuple(zip(names, figures, strict=True)),
        spread="" if row["spread"] is None else f"±{SPACE}{row['spread']:.3f}",
        at=None if lost is None else round(100 * min(1.0, max(0.0, lost)), 1),
        beyond=lost is not None and lost > 1,
        word=word,
    )


def _means(row: Mapping[str, Any]) -> str:
    """Return both means of a property that is one number."""
    if row["real_mean"] is None or row["synthetic_mean"] is None:
        return ""
    real, synthetic = (_mean(row[name], row["unit"]) for name in ("real_mean", "synthetic_mean"))
    return f"mean {real} real, {synthetic} synthetic"


def _mean(x: float, unit: str) -> str:
    if unit == "%":
        return percent(x)
    return f"{clock_time(x) if unit == 'h' else f'{x:.3g}'}{SPACE}{unit}"


def _figure(x: float | None, unit: str) -> str:
    if x is None:
        return "n/a"
    if unit == "%":
        return f"{100 * x:.1f}{SPACE}points"
    return f"{x:.3f}{SPACE}{unit}" if unit else f"{x:.3f}"
