"""A comparison as tables: a line per score, a column per model, the yardsticks at the end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doppeltrace.display import html_table
from doppeltrace.errors import SettingsError
from doppeltrace.evaluation.measure import YARDSTICKS, Measure
from doppeltrace.evaluation.tables import NOT_DEFINED, label, number, percent
from doppeltrace.utility.metric import GROUPS

if TYPE_CHECKING:
    from rich.console import Group

    from doppeltrace.comparison.result import Comparison, Row

TITLES = {
    "training": "Training",
    "frozen": "Frozen",
    "independent": "Independent",
    "uniform": "Uniform",
}
NAME_WIDTH = 23
COLUMN_WIDTH = 10
"""Columns of a console that the names of scores, and a model, take up."""


@dataclass(frozen=True)
class Line:
    """One line: a score of all models and yardsticks; `head` for the summary of a group."""

    name: str
    cells: tuple[str, ...]
    head: bool = False


def columns(comparison: Comparison) -> list[str]:
    """Return the titles of all columns but the first."""
    return [*(row.label for row in comparison.rows), *TITLES.values()]


def lines(comparison: Comparison) -> Iterator[Line]:
    """Yield the lines: summary, groups with their scores, privacy, cost."""
    rows = comparison.rows
    first = rows[0].score
    summaries = [row.score.summary for row in rows] + [first.summary_of(n) for n in YARDSTICKS]
    for key, title in (("mean", "summary, mean"), ("worst", "summary, worst group")):
        yield Line(title, tuple(percent(s[key]) for s in summaries), head=True)
    for group in GROUPS:
        yield Line(group, tuple(percent(s[group]) for s in summaries), head=True)
        for at, measure in enumerate(first.measures):
            if measure.group == group:
                mark = "" if measure.says_something else " *"
                yield Line(f" {label(measure)}{mark}", tuple(_figures(rows, at, measure)))
    nothing = (NOT_DEFINED,) * len(TITLES)
    for title, cells in _privacy(rows):
        yield Line(title, (*cells, *nothing))
    for title, cells in _cost(rows):
        yield Line(title, (*cells, *nothing))


def _figures(rows: Sequence[Row], at: int, measure: Measure) -> Iterator[str]:
    for row in rows:
        yield number(row.score.measures[at].mean)
    for name in YARDSTICKS:
        yield number(measure.row(name))


def _privacy(rows: Sequence[Row]) -> Iterator[tuple[str, list[str]]]:
    yield "re-identified", [number(row.score["reidentification_rate"]) for row in rows]
    yield "membership advantage", [number(row.score["membership_advantage"]) for row in rows]
    if any(row.lira_advantage is not None for row in rows):
        yield "LiRA advantage", [number(row.lira_advantage) for row in rows]
    yield "pass the test", [percent(row.pass_rate) for row in rows]
    yield "guarantee", [row.guarantee for row in rows]


def _cost(rows: Sequence[Row]) -> Iterator[tuple[str, list[str]]]:
    yield "fit, s", [f"{row.fit_seconds:.2f}" for row in rows]
    yield "sample, s", [f"{row.sample_seconds:.2f}" for row in rows]
    yield "score, s", [f"{row.score_seconds:.2f}" for row in rows]
    yield "memory, MB", [f"{row.peak_memory_mb:.0f}" for row in rows]


def caption(comparison: Comparison) -> list[str]:
    """Return how to read the table."""
    several = "s" * (comparison.traces_per_user > 1)
    notes = [
        f"{comparison.traces_per_user} trace{several} per user. Scores are distances, lower is "
        "better; the summary is 100 % for Training and 0 % for the better of Frozen and "
        "Independent, higher is better."
    ]
    if comparison.rows[0].score.left_out:
        notes.append(
            "* says nothing on these data: Training does not lead the other yardsticks by two "
            "standard errors. It takes no part in the summary."
        )
    if any(row.pass_rate is not None for row in comparison.rows):
        notes.append("PD is plausible deniability, of the traces that pass the test alone.")
    return notes


def to_table(comparison: Comparison, width: int) -> Group:
    """Return as many tables as fit `width` columns each."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    titles, all_lines = columns(comparison), list(lines(comparison))
    fit = max(1, (width - NAME_WIDTH) // (COLUMN_WIDTH + 1))
    n_blocks = -(-len(titles) // fit)
    parts: list[RenderableType] = []
    for block in range(n_blocks):
        shown = slice(len(titles) * block // n_blocks, len(titles) * (block + 1) // n_blocks)
        table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        table.add_column("", width=NAME_WIDTH, no_wrap=True)
        for title in titles[shown]:
            table.add_column(title, justify="right", max_width=COLUMN_WIDTH, overflow="fold")
        for line in all_lines:
            style = "bold" if line.head else None
            table.add_row(line.name, *line.cells[shown], style=style)
        parts += [table, Text()]
    return Group(*parts, *(Text(note) for note in caption(comparison)))


def to_markdown(comparison: Comparison) -> str:
    """Return one table, and how to read it."""
    titles = columns(comparison)
    rows = [["", *titles], ["---", *["---:"] * len(titles)]]
    for line in lines(comparison):
        name = line.name.strip().replace("*", "\\*")
        cells = [f"**{cell}**" for cell in line.cells] if line.head else list(line.cells)
        rows.append([f"**{name}**" if line.head else name, *cells])
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    notes = "\n\n".join(note.replace("*", "\\*") for note in caption(comparison))
    return f"{table}\n\n{notes}\n"


def to_html(comparison: Comparison) -> str:
    """Return what a notebook shows."""
    rows = [(line.name, *line.cells) for line in lines(comparison)]
    return html_table(rows, header=("", *columns(comparison)))


def to_pandas(comparison: Comparison) -> Any:
    """Return a frame with a row per model and yardstick."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise SettingsError(
            "comparison.to_pandas needs pandas: pip install 'doppeltrace[pandas]'"
        ) from error
    first = comparison.rows[0].score
    records = {}
    for row in comparison.rows:
        records[row.label] = {
            **{f"summary_{k}": share for k, share in row.score.summary.items()},
            **{m.name: m.mean for m in row.score.measures},
            "reidentification_rate": row.score["reidentification_rate"],
            "membership_advantage": row.score["membership_advantage"],
            "lira_advantage": row.lira_advantage,
            "pass_rate": row.pass_rate,
            "guarantee": row.guarantee,
        }
    for name in YARDSTICKS:
        records[TITLES[name]] = {
            **{f"summary_{k}": share for k, share in first.summary_of(name).items()},
            **{m.name: m.row(name) for m in first.measures},
        }
    frame = pandas.DataFrame.from_dict(records, orient="index")
    return frame.rename_axis("model").replace({None: math.nan})
