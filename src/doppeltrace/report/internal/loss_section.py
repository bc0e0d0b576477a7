"""The page's words and table about what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from doppeltrace.report.figures.words import clock_time, percent
from doppeltrace.report.internal.losses import RULES

SPACE = "\N{NO-BREAK SPACE}"
FIGURES = ("synthetic", "training", "frozen", "independent", "uniform")
"""Columns of the table."""

GROUP_WORDS = {
    "population": "Where people are",
    "movement": "How people move",
    "days": "What a day looks like",
    "clusters": "Groups of similar people",
}
"""Group of the summary → its words."""
UNKNOWN = "says nothing on these data"


@dataclass(frozen=True)
class Bar:
    """A share of the summary: its words, and the share in percent, None if there is none."""

    words: str
    share: str
    width: float | None


@dataclass(frozen=True)
class LossRow:
    """A row of the table, all of it in words.

    Attributes
    ----------
    plain, label, means : what it is about, the score's name and unit, and both means (or empty).
    figures : (heading, figure) of the released traces and of the yardsticks.
    spread : of the first figure, or empty.
    at : where it is between training (0) and trivial (100); None if that says nothing.
    word : the verdict.
    """

    plain: str
    label: str
    means: str
    figures: tuple[tuple[str, str], ...]
    spread: str
    at: float | None
    word: str


@dataclass(frozen=True)
class LossView:
    """The summary, the table by group, what was left out, and the notes below.

    Attributes
    ----------
    tested : whether the traces are compared with testing users.
    mean, worst : the summary in words; None if no figure says anything.
    bars : the summary's groups.
    groups : (words, rows) of the table.
    left_out : why figures are left out of the summary, a sentence each.
    notes : definitions, rules, and what else must be known.
    """

    tested: bool
    mean: str | None
    worst: str | None
    bars: tuple[Bar, ...]
    groups: tuple[tuple[str, tuple[LossRow, ...]], ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]


def reference(found: Mapping[str, Any]) -> str:
    """Return who the real users of the page are."""
    users = f"{found['reference_users']:,}"
    if found["reference"] == "testing":
        return f"the {users} testing users, whom the model never saw"
    return f"the {users} training users"


def losses(found: Mapping[str, Any]) -> LossView:
    """Return the summary, the table of scores and the rules behind the words."""
    rows, summary = found["losses"], found["summary"]
    tested = found["reference"] == "testing"
    meanings = [f"{row['label']}: {row['meaning']}." for row in rows]
    known = {name: share for name, share in summary.items() if name in GROUP_WORDS}
    shares = [(share, name) for name, share in known.items() if share is not None]
    return LossView(
        tested=tested,
        mean=None if summary.get("mean") is None else percent(summary["mean"]),
        worst=_worst(shares),
        bars=tuple(_bar(GROUP_WORDS[name], share) for name, share in known.items()),
        groups=tuple(
            (words, tuple(_row(row, tested) for row in rows if row["group"] == group))
            for group, words in GROUP_WORDS.items()
            if any(row["group"] == group for row in rows)
        ),
        left_out=tuple(row["why_left_out"] for row in rows if row["why_left_out"]),
        notes=(*RULES, *found["notes"], *meanings),
    )


def _worst(shares: list[tuple[float, str]]) -> str | None:
    if not shares:
        return None
    share, name = min(shares)
    words = GROUP_WORDS[name]
    return f"{words[0].lower()}{words[1:]}, {percent(share)}"


def _bar(words: str, share: float | None) -> Bar:
    if share is None:
        return Bar(words, UNKNOWN, None)
    return Bar(words, percent(share), round(100 * share, 1))


def _row(row: Mapping[str, Any], tested: bool) -> LossRow:
    figures = {name: "n/a" if row[name] is None else f"{row[name]:.3f}" for name in FIGURES}
    if not tested:
        figures["training"] = "–"
    share = row["share"]
    return LossRow(
        plain=row["plain"],
        label=f"{row['label']}, in {row['unit']}" if row["unit"] else row["label"],
        means=_means(row),
        figures=tuple(figures.items()),
        spread="" if row["spread"] is None else f"±{SPACE}{row['spread']:.3f}",
        at=None if share is None else round(100 * (1 - share), 1),
        word=_word(row),
    )


def _word(row: Mapping[str, Any]) -> str:
    """Return the verdict, with the share and what else must be known to read it."""
    if row["share"] is None:
        return str(row["verdict"])
    word = f"{row['verdict']}, {percent(row['share'])}"
    if row["gaps"]:
        return f"{word}; the real traces have gaps"
    synthetic, training = row["synthetic"], row["training"]
    trivial = min(x for x in (row["frozen"], row["independent"]) if x is not None)
    if synthetic is None or synthetic >= trivial:
        return f"{word}; no better than trivial"
    return f"{word}; nearer than training" if synthetic < training else word


def _means(row: Mapping[str, Any]) -> str:
    """Return both means of a property that is one number."""
    if row["real_mean"] is None or row["synthetic_mean"] is None:
        return ""
    real, synthetic = (_mean(row[name], row["unit"]) for name in ("real_mean", "synthetic_mean"))
    return f"mean {real} real, {synthetic} synthetic"


def _mean(x: float, unit: str) -> str:
    if not unit:
        return percent(x)
    return f"{clock_time(x) if unit == 'h' else f'{x:.3g}'}{SPACE}{unit}"
