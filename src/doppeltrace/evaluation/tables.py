"""A scorecard as tables: for a console of 80 columns, Markdown, notebooks and pandas."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from doppeltrace.display import html_table
from doppeltrace.errors import SettingsError
from doppeltrace.evaluation.measure import Measure
from doppeltrace.utility.metrics import GROUPS

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from doppeltrace.evaluation.scorecard import Scorecard

HEADER = ("score", "traces", "±", "Training", "Frozen", "Indep.", "Uniform", "share")
ATTACKS = ("attack", "synthetic", "95 % interval", "chance or testing")
NOT_DEFINED = "–"


def number(x: float | None) -> str:
    """Return a figure with three decimals."""
    return NOT_DEFINED if x is None or not math.isfinite(x) else f"{x:.3f}"


def percent(share: float | None) -> str:
    """Return a share of the summary."""
    return NOT_DEFINED if share is None else f"{100 * share:.0f} %"


def label(measure: Measure) -> str:
    """Return label and unit, unless the label names it."""
    unit = measure.unit
    return measure.label if not unit or unit in measure.label else f"{measure.label}, {unit}"


def utility_rows(card: Scorecard) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the rows of the utility table, and whether one is the head of a group."""
    summary = card.summary
    for group in GROUPS:
        measures = [m for m in card.measures if m.group == group]
        if not measures:
            continue
        yield (group, *[""] * 6, percent(summary[group])), True
        for m in measures:
            spread = "" if math.isnan(m.spread) else number(m.spread)
            yardsticks = (m.training, m.frozen, m.independent, m.uniform)
            figures = (number(m.mean), spread, *map(number, yardsticks))
            yield (f" {label(m)}", *figures, percent(m.share)), False
    yield ("mean of the groups", *[""] * 6, percent(summary["mean"])), True
    yield ("worst group", *[""] * 6, percent(summary["worst"])), True


def attack_rows(card: Scorecard) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table of attacks."""
    r = card.reidentification
    if r is None:
        yield "re-identification rate", "n/a", "", ""
    else:
        interval = f"{r.low:.4f} to {r.high:.4f}"
        yield "re-identification rate", _show(r.rate), interval, _show(r.chance)
    for title, m in (
        ("membership advantage", card.membership),
        (" from all traces at once", card.membership_file),
    ):
        if m is None:
            yield title, "n/a", "", ""
        else:
            interval = f"{m.low:.4f} to {m.high:.4f}"
            chance = f"{m.chance:.4f} to {m.chance_high:.4f}"
            yield title, _show(m.advantage), interval, chance
    if card.copies is not None and card.test_copies is not None:
        c, t = card.copies, card.test_copies
        yield "shared run, mean events", f"{c.mean:.2f}", "", f"{t.mean:.2f} (test)"
        yield "shared run, longest", str(c.longest), "", f"{t.longest} (test)"
        yield "whole copies, traces", _show(c.whole), "", f"{_show(t.whole)} (test)"


def to_table(card: Scorecard) -> Group:
    """Return both tables and the notes."""
    from rich.console import Group
    from rich.text import Text

    utility = _table(HEADER)
    for row, is_head in utility_rows(card):
        utility.add_row(*row, style="bold" if is_head else None)
    attacks = _table(ATTACKS)
    for row in attack_rows(card):
        attacks.add_row(*row)
    return Group(utility, Text(), attacks, Text(), *(Text(note) for note in card.notes))


def _table(header: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for column, title in enumerate(header):
        table.add_column(title, justify="right" if column else "left", no_wrap=True)
    return table


def to_markdown(card: Scorecard) -> str:
    """Return both tables and the notes."""
    rows = [tuple(cell.strip() for cell in row) for row, _ in utility_rows(card)]
    tables = _markdown(HEADER, rows) + ["", *_markdown(ATTACKS, list(attack_rows(card)))]
    return "\n".join([*tables, "", *(f"- {note}" for note in card.notes)]) + "\n"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [" | ".join(header), "|".join(["---", *["---:"] * (len(header) - 1)])]
    return [f"| {line} |" for line in (*lines, *(" | ".join(row) for row in rows))]


def to_html(card: Scorecard) -> str:
    """Return what a notebook shows."""
    rows = [row for row, _ in utility_rows(card)]
    return html_table(rows, header=HEADER) + html_table(attack_rows(card), header=ATTACKS)


def to_pandas(card: Scorecard) -> Any:
    """Return a frame with a row per utility score."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise SettingsError(
            "score.to_pandas needs pandas: pip install 'doppeltrace[pandas]'"
        ) from error
    rows = {
        m.name: {
            "label": m.label,
            "unit": m.unit,
            "group": m.group,
            "plain": m.plain,
            "synthetic": m.mean,
            "spread": m.spread,
            "training": m.training,
            "frozen": m.frozen,
            "independent": m.independent,
            "uniform": m.uniform,
            "error": m.error,
            "share": math.nan if m.share is None else m.share,
            "word": m.word,
        }
        for m in card.measures
    }
    return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("name")


def one_line(card: Scorecard) -> str:
    """Return the summary in one line."""
    shares = ", ".join(f"{name} {percent(share)}" for name, share in card.summary.items())
    return f"<Scorecard of {card.counts.traces:,} traces: {shares}>"


def _show(x: float | None) -> str:
    return f"{x:.4f}" if x is not None and math.isfinite(x) else "not measurable"
