"""What a comparison found, as a frozen result that turns into tables, JSON and Markdown."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doppeltrace.comparison import tables
from doppeltrace.evaluation.measure import YARDSTICKS
from doppeltrace.evaluation.scorecard import Scorecard

if TYPE_CHECKING:
    from rich.console import Group


@dataclass(frozen=True)
class Row:
    """One synthesizer with one choice of settings.

    Attributes
    ----------
    series : the label under which it was given; rows of one series are a curve in the plots.
    point : what tells it from the others of its series ("alpha=200"), or "".
    model, settings : name and settings of the synthesizer, seed and threads left out.
    score : its scorecard.
    pass_rate : share of the traces of the first replicate that pass the deniability test; None
        where there is no test.
    guarantee : what a release would promise, in a few words.
    lira_advantage : of the membership attack of `dt.audit`; None if it was not asked for.
    fit_seconds, sample_seconds, score_seconds : time of each part.
    peak_memory_mb : the most memory of the process meanwhile.
    """

    series: str
    point: str
    model: str
    settings: Mapping[str, Any]
    score: Scorecard
    pass_rate: float | None
    guarantee: str
    lira_advantage: float | None
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
            "settings": _json(self.settings),
            "pass_rate": _json(self.pass_rate),
            "guarantee": self.guarantee,
            "lira_advantage": _json(self.lira_advantage),
            "fit_seconds": self.fit_seconds,
            "sample_seconds": self.sample_seconds,
            "score_seconds": self.score_seconds,
            "peak_memory_mb": self.peak_memory_mb,
            **self.score.to_dict(),
        }


@dataclass(frozen=True, repr=False)
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
        """Return {"traces_per_user": …, "rows": […], "yardsticks": {"training": {…}, …}}."""
        first = self.rows[0].score
        return {
            "traces_per_user": self.traces_per_user,
            "rows": [row.to_dict() for row in self.rows],
            "yardsticks": {
                name: {
                    **{m.name: _json(m.row(name)) for m in first.measures},
                    **{f"summary_{k}": share for k, share in first.summary_of(name).items()},
                }
                for name in YARDSTICKS
            },
        }

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_table(self, width: int = 80) -> Group:
        """Return tables of at most `width` columns: a line per score, a column per model.

        The yardsticks (Training, Frozen, Independent, Uniform) are the last columns; as many
        tables follow each other as it takes.
        """
        return tables.to_table(self, width)

    def to_markdown(self) -> str:
        """Return one Markdown table, a line per score, with a word on how to read it."""
        return tables.to_markdown(self)

    def to_pandas(self) -> Any:
        """Return a pandas frame: a row per model and yardstick, a column per score."""
        return tables.to_pandas(self)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(row.label for row in self.rows)}>"

    def _repr_html_(self) -> str:
        return tables.to_html(self)


def _json(value: Any) -> Any:
    """Return what JSON can hold: NaN and infinities are null."""
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
