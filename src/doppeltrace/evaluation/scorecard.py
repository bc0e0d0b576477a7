"""One frozen result for the command line, JSON and the report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from doppeltrace.attacks import Copies, Membership, Reidentification

Value = float | int | str | list[float | None] | list[float] | list[str] | None

# fields of the attacks in the flat form, behind the attack's prefix
REIDENTIFICATION = ("rate", "low", "high", "chance", "per_replicate", "n_attacked")
MEMBERSHIP = ("advantage", "low", "high", "chance", "chance_high", "p_value", "per_replicate")
COPIES = ("longest", "mean", "quantile95", "whole")

HEADER = ("score", "synthetic", "± / 95 % interval", "training", "uniform / chance", "unit")


@dataclass(frozen=True)
class Measure:
    """One utility score: a distance from the testing traces, 0 is best.

    Attributes
    ----------
    name, label : the key in JSON, and the name in tables.
    unit : what the number counts.
    meaning : the definition in one sentence.
    per_replicate : the score of each replicate of the synthetic traces.
    training, uniform : the same score of the training traces themselves, and of the uniform
        distribution: what a perfect and a void synthesizer would get.
    """

    name: str
    label: str
    unit: str
    meaning: str
    per_replicate: tuple[float, ...]
    training: float
    uniform: float

    @property
    def mean(self) -> float:
        """Mean over replicates; NaN where the score is not defined."""
        return sum(self.per_replicate) / len(self.per_replicate)

    @property
    def spread(self) -> float:
        """Standard deviation over replicates; NaN for a single one."""
        n = len(self.per_replicate)
        if n < 2:
            return math.nan
        return math.sqrt(sum((x - self.mean) ** 2 for x in self.per_replicate) / (n - 1))


@dataclass(frozen=True)
class Counts:
    """What was scored, and what of it training never saw."""

    traces: int
    replicates: int
    events: int
    unseen_places: int
    unseen_events: int


@dataclass(frozen=True)
class Scorecard:
    """Utility and privacy of a set of synthetic traces; `score["tp_tv"]` is the mean.

    Attributes
    ----------
    measures : utility scores, each with Training and Uniform beside it.
    reidentification, membership : the attacks; None where they could not run.
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
    _flat: dict[str, Value] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Flatten once, so that look-ups are cheap."""
        object.__setattr__(self, "_flat", dict(_flatten(self)))

    def __getitem__(self, name: str) -> Any:
        if name not in self._flat:
            raise KeyError(f"no score {name!r}: there are {', '.join(self._flat)}")
        return self._flat[name]

    def to_dict(self) -> dict[str, Value]:
        """Return one flat mapping; what is not defined or not available is None."""
        return dict(self._flat)

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON object."""
        return json.dumps(self._flat, indent=2, ensure_ascii=False, allow_nan=False)

    def to_table(self) -> Table:
        """Return a rich table, with the notes as its caption."""
        table = Table(
            caption="\n".join(self.notes),
            caption_justify="left",
            box=SIMPLE_HEAD,
            padding=0,
            pad_edge=False,
            show_edge=False,
        )
        for number, title in enumerate(HEADER):
            table.add_column(
                title,
                justify="left" if number in (0, 5) else "right",
                min_width=len("re-identification") if number == 0 else None,
            )
        for number, row in enumerate(_rows(self)):
            table.add_row(*row, end_section=number == len(self.measures) - 1)
        return table

    def to_markdown(self) -> str:
        """Return a Markdown table followed by the notes as a list."""
        lines = [" | ".join(HEADER), "|".join(["---"] + ["---:"] * 4 + ["---"])]
        lines += [" | ".join(row) for row in _rows(self)]
        table = "\n".join(f"| {line} |" for line in lines)
        return "\n".join([table, "", *(f"- {note}" for note in self.notes)]) + "\n"


def _flatten(card: Scorecard) -> Iterator[tuple[str, Value]]:
    for m in card.measures:
        yield m.name, _finite(m.mean)
        yield f"{m.name}_spread", _finite(m.spread)
        yield f"{m.name}_training", _finite(m.training)
        yield f"{m.name}_uniform", _finite(m.uniform)
        yield f"{m.name}_per_replicate", [_finite(x) for x in m.per_replicate]
    for prefix, attack, fields in (
        ("reidentification", card.reidentification, REIDENTIFICATION),
        ("membership", card.membership, MEMBERSHIP),
        ("copy", card.copies, COPIES),
        ("copy_test", card.test_copies, COPIES),
    ):
        for name in fields:
            value = getattr(attack, name) if attack is not None else None
            yield f"{prefix}_{name}", list(value) if isinstance(value, tuple) else value
    for name, values in card.per_slot.items():
        yield f"{name}_slots", list(values)
    yield "cluster_tv_clusters", list(card.per_cluster)
    yield "traces", card.counts.traces
    yield "replicates", card.counts.replicates
    yield "events", card.counts.events
    yield "unseen_places", card.counts.unseen_places
    yield "unseen_events", card.counts.unseen_events
    yield "notes", list(card.notes)


def _rows(card: Scorecard) -> Iterator[tuple[str, ...]]:
    for m in card.measures:
        spread = "" if math.isnan(m.spread) else f"± {m.spread:.4f}"
        yield m.label, _show(m.mean), spread, _show(m.training), _show(m.uniform), m.unit
    r = card.reidentification
    if r is None:
        yield "re-identification rate", "n/a", "", "", "", ""
    else:
        interval = f"{r.low:.4f} to {r.high:.4f}"
        yield "re-identification rate", _show(r.rate), interval, "", _show(r.chance), "traces"
    m_ = card.membership
    if m_ is None:
        yield "membership advantage", "n/a", "", "", "", ""
    else:
        interval = f"{m_.low:.4f} to {m_.high:.4f}"
        chance = f"{m_.chance:.4f} to {m_.chance_high:.4f}"
        yield "membership advantage", _show(m_.advantage), interval, "", chance, "TPR − FPR"
    if card.copies is not None and card.test_copies is not None:
        c, t = card.copies, card.test_copies
        yield "shared run, mean", f"{c.mean:.2f}", "", "", f"{t.mean:.2f} (test)", "events"
        yield "shared run, longest", str(c.longest), "", "", f"{t.longest} (test)", "events"
        yield "whole copies", _show(c.whole), "", "", f"{_show(t.whole)} (test)", "traces"


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _show(x: float) -> str:
    return f"{x:.4f}" if math.isfinite(x) else "n/a"
