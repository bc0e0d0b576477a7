"""One frozen result for the command line, JSON and the report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from doppeltrace.attacks import Copies, Membership, Reidentification
from doppeltrace.evaluation import tables
from doppeltrace.evaluation.measure import YARDSTICKS, Measure, Row, summarize

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["Counts", "Measure", "Scorecard"]

Value = float | int | str | list[float | None] | list[float] | list[str] | None

# fields of the attacks in the flat form, behind the attack's prefix
REIDENTIFICATION = ("rate", "low", "high", "chance", "per_replicate", "n_attacked")
MEMBERSHIP = ("advantage", "low", "high", "chance", "chance_high", "p_value", "per_replicate")
COPIES = ("longest", "mean", "quantile95", "whole")


@dataclass(frozen=True)
class Counts:
    """What was scored, and what of it training never saw."""

    traces: int
    replicates: int
    events: int
    unseen_places: int
    unseen_events: int


@dataclass(frozen=True, repr=False)
class Scorecard:
    """Utility and privacy of a set of synthetic traces; `score["tp_tv"]` is the mean.

    Attributes
    ----------
    measures : utility scores, each beside Training, Frozen, Independent and Uniform.
    reidentification, membership : the paper's attacks; None where they could not run.
    membership_file : membership inference from all traces at once, as a file publishes them.
    copies, test_copies : the exact-copy check of the synthetic and of the testing traces.
    per_slot : name → the score of each time slot, averaged over replicates.
    per_cluster : total variation of each cluster, averaged over replicates.
    counts : what was scored.
    notes : everything a reader must know beside the numbers.
    """

    measures: tuple[Measure, ...]
    reidentification: Reidentification | None
    membership: Membership | None
    copies: Copies | None
    test_copies: Copies | None
    per_slot: Mapping[str, tuple[float, ...]]
    per_cluster: tuple[float, ...]
    counts: Counts
    notes: tuple[str, ...]
    membership_file: Membership | None = None
    _flat: dict[str, Value] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Flatten once, so that look-ups are cheap."""
        object.__setattr__(self, "_flat", dict(_flatten(self)))

    def __getitem__(self, name: str) -> Any:
        if name not in self._flat:
            raise KeyError(f"no score {name!r}: there are {', '.join(self._flat)}")
        return self._flat[name]

    @property
    def summary(self) -> dict[str, float | None]:
        """What the traces are worth: 1 as good as Training, 0 no better than trivial.

        Keys: population, movement, days, clusters, and the mean and worst of these. None for a
        group in which no figure says anything on these data.
        """
        return summarize(self.measures)

    def summary_of(self, row: Row) -> dict[str, float | None]:
        """Return the summary of a yardstick, such as "uniform"."""
        return summarize(self.measures, row)

    @property
    def left_out(self) -> dict[str, str]:
        """Name → reason of each figure that says nothing on these data."""
        return {
            m.name: m.why_left_out
            for m in self.measures
            if m.metric.in_summary and not m.says_something
        }

    def to_dict(self) -> dict[str, Value]:
        """Return one flat mapping; what is not defined or not available is None."""
        return dict(self._flat)

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON object."""
        return json.dumps(self._flat, indent=2, ensure_ascii=False, allow_nan=False)

    def to_pandas(self) -> Any:
        """Return a pandas frame: a row per utility score, by its name."""
        return tables.to_pandas(self)

    def to_table(self) -> Group:
        """Return tables of 80 columns for a rich console, with the notes below."""
        return tables.to_table(self)

    def to_markdown(self) -> str:
        """Return Markdown tables followed by the notes as a list."""
        return tables.to_markdown(self)

    def __repr__(self) -> str:
        return tables.one_line(self)

    def _repr_html_(self) -> str:
        return tables.to_html(self)


def _flatten(card: Scorecard) -> Iterator[tuple[str, Value]]:
    for m in card.measures:
        yield m.name, _finite(m.mean)
        yield f"{m.name}_spread", _finite(m.spread)
        for row in YARDSTICKS:
            yield f"{m.name}_{row}", _finite(m.row(row))
        yield f"{m.name}_error", _finite(m.error)
        yield f"{m.name}_share", m.share
        yield f"{m.name}_per_replicate", [_finite(x) for x in m.per_replicate]
    for name, share in card.summary.items():
        yield f"summary_{name}", share
    yield "left_out", list(card.left_out.values())
    for prefix, attack, fields in (
        ("reidentification", card.reidentification, REIDENTIFICATION),
        ("membership", card.membership, MEMBERSHIP),
        ("membership_file", card.membership_file, MEMBERSHIP[:-1]),
        ("copy", card.copies, COPIES),
        ("copy_test", card.test_copies, COPIES),
    ):
        for name in fields:
            value = getattr(attack, name) if attack is not None else None
            yield f"{prefix}_{name}", _plain(value)
    for name, values in card.per_slot.items():
        yield f"{name}_slots", [_finite(x) for x in values]
    yield "cluster_tv_clusters", [_finite(x) for x in card.per_cluster]
    yield "traces", card.counts.traces
    yield "replicates", card.counts.replicates
    yield "events", card.counts.events
    yield "unseen_places", card.counts.unseen_places
    yield "unseen_events", card.counts.unseen_events
    yield "notes", list(card.notes)


def _plain(value: Any) -> Value:
    if isinstance(value, tuple):
        return [_finite(x) for x in value]
    return _finite(value) if isinstance(value, float) else value


def _finite(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None
