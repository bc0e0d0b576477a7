"""What a comparison found, as a frozen result that turns into tables, JSON and Markdown."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from doppeltrace.evaluation.scorecard import Scorecard

SCORES = {
    "tp_tv": "TP-TV",
    "tp_tv_top50": "Top50",
    "tm_emd_x": "TM-EMD-X",
    "tm_emd_y": "TM-EMD-Y",
    "vf_tv": "VF-TV",
    "reidentification_rate": "re-id.",
    "membership_advantage": "member",
}
"""The scores of the table, in its order; JSON has all of them."""


@dataclass(frozen=True)
class Row:
    """One synthesizer with one choice of settings.

    Attributes
    ----------
    series : the label under which it was given; rows of one series are a curve in the plots.
    point : what tells it from the others of its series ("alpha=200"), or "".
    model, settings : name and settings of the synthesizer, seed and threads left out.
    score : its scorecard.
    fit_seconds, sample_seconds, score_seconds : time of each part.
    peak_memory_mb : the most memory of the process meanwhile.
    """

    series: str
    point: str
    model: str
    settings: Mapping[str, Any]
    score: Scorecard
    fit_seconds: float
    sample_seconds: float
    score_seconds: float
    peak_memory_mb: float

    @property
    def label(self) -> str:
        """Series and point."""
        return f"{self.series} {self.point}".strip()

    def to_dict(self) -> dict[str, Any]:
        """Return one flat mapping, the scores by their names; what is not defined is None."""
        return {
            "label": self.label,
            "series": self.series,
            "model": self.model,
            "settings": dict(self.settings),
            "fit_seconds": self.fit_seconds,
            "sample_seconds": self.sample_seconds,
            "score_seconds": self.score_seconds,
            "peak_memory_mb": self.peak_memory_mb,
            **self.score.to_dict(),
        }

    def cells(self) -> list[str]:
        """Return the row of a table."""
        seconds = (self.fit_seconds, self.sample_seconds, self.score_seconds)
        return [
            self.label,
            *(_show(self.score[name]) for name in SCORES),
            *(f"{s:.2f}" for s in seconds),
            f"{self.peak_memory_mb:.0f}",
        ]


HEADER = ["synthesizer", *SCORES.values(), "fit s", "sample s", "score s", "MB"]


@dataclass(frozen=True)
class Comparison:
    """Rows in the order in which they were asked for; `traces_per_user` traces each."""

    rows: tuple[Row, ...]
    traces_per_user: int

    def __getitem__(self, label: str) -> Row:
        for row in self.rows:
            if row.label == label:
                return row
        raise KeyError(f"no row {label!r}: there are {', '.join(r.label for r in self.rows)}")

    def to_dict(self) -> dict[str, Any]:
        """Return {"traces_per_user": …, "rows": […]}."""
        return {
            "traces_per_user": self.traces_per_user,
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_table(self) -> Table:
        """Return a rich table, with *training* and *uniform* below."""
        table = Table(caption=self._caption, caption_justify="left")
        for number, title in enumerate(HEADER):
            table.add_column(title, justify="right" if number else "left", no_wrap=True)
        for number, row in enumerate(self.rows, 1):
            table.add_row(*row.cells(), end_section=number == len(self.rows))
        for cells in self._ends():
            table.add_row(*cells)
        return table

    def to_markdown(self) -> str:
        """Return a Markdown table with a line about how to read it."""
        lines = [HEADER, ["---", *["---:"] * (len(HEADER) - 1)]]
        lines += [row.cells() for row in self.rows] + self._ends()
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        return f"{table}\n\n{self._caption}\n"

    @property
    def _caption(self) -> str:
        return (
            f"{self.traces_per_user} traces per user; lower is better everywhere. Training and "
            "Uniform are what the input itself and the uniform distribution would score."
        )

    def _ends(self) -> list[list[str]]:
        """Return the rows of the evaluation's own Training and Uniform."""
        score: dict[str, Any] = self.rows[0].score.to_dict()
        return [
            [
                title,
                *(_show(score.get(f"{name}_{key}")) for name in SCORES),
                *[""] * 4,
            ]
            for title, key in (("Training (exact)", "training"), ("Uniform (exact)", "uniform"))
        ]


def _show(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.4f}"
