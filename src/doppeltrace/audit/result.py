"""What an audit found, as a frozen result that turns into a verdict, a table and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from doppeltrace.audit.epsilon import epsilon_ceiling
from doppeltrace.audit.level0 import Level0
from doppeltrace.audit.linked import LinkedNaming
from doppeltrace.audit.lira import Lira

AMBER_EPSILON, RED_EPSILON = 0.5, 2.0
"""A canary that proves so large an ε makes the verdict amber, and red."""

Level = Literal["green", "amber", "red"]


@dataclass(frozen=True)
class CanaryResult:
    """What the releases showed of the canaries of one kind.

    Attributes
    ----------
    shown_in, shown_out : share of the releases that show something of its own, with the canary in
        the training and without.
    count_in, count_out : mean number of events (or moves) that point to it, those at places with
        which its own were merged among them.
    epsilon : ε that these counts prove, at least, with 95 % confidence; 0 proves nothing.
    epsilon_own : the same from its own places alone: 0 where they were merged with others.
    true_positive_rate, false_positive_rate : of the test behind it.
    instances, runs : canaries of this kind, and trainings.
    """

    shown_in: float
    shown_out: float
    count_in: float
    count_out: float
    epsilon: float
    epsilon_own: float
    true_positive_rate: float
    false_positive_rate: float
    instances: int
    runs: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by their names."""
        return dict(vars(self))


@dataclass(frozen=True)
class Audit:
    """What somebody could learn about one person from a release.

    Attributes
    ----------
    level0 : places and moves of few people in a release from all users; None if left out.
    canaries : kind → what the releases showed of it; empty if level 1 was left out.
    lira : membership inference on files as published; None if level 2 was left out.
    linked : naming owners from linked traces; empty if left out or not measurable.
    levels_done : those that were run.
    model, settings : what was audited.
    traces_per_user, runs, users : traces asked for per user, trainings, users in the pool.
    notes : what could not be measured, and why.
    """

    level0: Level0 | None
    canaries: Mapping[str, CanaryResult]
    lira: Lira | None
    linked: tuple[LinkedNaming, ...]
    levels_done: tuple[int, ...]
    model: str
    settings: Mapping[str, Any]
    traces_per_user: int
    runs: int
    users: int
    notes: tuple[str, ...] = ()

    @property
    def rare_places(self) -> int | None:
        """Places in the release with fewer than `min_users` training users."""
        return None if self.level0 is None else self.level0.rare_places

    @property
    def level(self) -> Level:
        """The verdict: red, amber or green; green is only earned by levels 0, 1 and 2."""
        return self._verdict[0]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is what it is, in words."""
        return self._verdict[1]

    @property
    def _verdict(self) -> tuple[Level, tuple[str, ...]]:
        red, amber = [], []
        if self.level0 is not None and self.level0.places_of_one:
            red.append(f"{self.level0.places_of_one:,} places of one person are in the release")
        elif self.level0 is not None and self.level0.blocks:
            few = self.level0.rare_places - self.level0.places_of_nobody
            amber.append(
                f"{few:,} places with fewer than {self.level0.min_users} people are in the release"
            )
        for kind, found in self.canaries.items():
            if found.epsilon >= RED_EPSILON:
                red.append(f"canary {kind}: ε is at least {found.epsilon:.1f}")
            elif found.epsilon >= AMBER_EPSILON:
                amber.append(f"canary {kind}: ε is at least {found.epsilon:.1f}")
        if self.lira is not None and self.lira.exceeds_null:
            amber.append(
                f"membership shows: AUC {self.lira.auc:.3f}, shuffled {self.lira.null_auc:.3f}"
            )
        missing = [str(level) for level in (0, 1, 2) if level not in self.levels_done]
        if missing:
            amber.append(f"level {' and '.join(missing)} was not run")
        elif any(
            epsilon_ceiling(c.runs, c.instances) < RED_EPSILON for c in self.canaries.values()
        ):
            amber.append(f"{self.runs} runs are too few to prove an ε of {RED_EPSILON:g}")
        if red:
            return "red", (*red, *amber)
        if amber:
            return "amber", tuple(amber)
        return "green", ("the attacks found nothing of one person in the releases",)

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON; what was not measured is None or empty."""
        return {
            "level": self.level,
            "reasons": list(self.reasons),
            "levels_done": list(self.levels_done),
            "model": self.model,
            "settings": dict(self.settings),
            "traces_per_user": self.traces_per_user,
            "runs": self.runs,
            "users": self.users,
            "level0": None if self.level0 is None else self.level0.to_dict(),
            "canaries": {kind: found.to_dict() for kind, found in self.canaries.items()},
            "lira": None if self.lira is None else self.lira.to_dict(),
            "linked": {str(found.traces): found.to_dict() for found in self.linked},
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON object."""
        return json.dumps(
            self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False, default=str
        )

    def to_table(self) -> Table:
        """Return a rich table that fits in 80 columns, the verdict below."""
        table = Table(
            title=f"Audit of {self.model}, {self.traces_per_user} per user, {self.runs} runs",
            caption=f"{self.level}: {'; '.join(self.reasons)}",
            caption_justify="left",
        )
        table.add_column("what")
        for title in ("found", "by chance", "ε ≥"):
            table.add_column(title, justify="right", no_wrap=True)
        for row in self._rows():
            table.add_row(*row)
        return table

    def _rows(self) -> list[tuple[str, str, str, str]]:
        rows = []
        if self.level0 is not None:
            zero = self.level0
            rows += [
                (
                    f"places of fewer than {zero.min_users} people",
                    f"{zero.rare_places:,}",
                    "0",
                    "",
                ),
                ("places of one person", f"{zero.places_of_one:,}", "0", ""),
                ("traces that carry such a place", f"{zero.traces_with_rare_share:.1%}", "0", ""),
                ("largest part of one user in a place", f"{zero.largest_user_share:.2f}", "", ""),
            ]
        for kind, canary in self.canaries.items():
            rows.append(
                (
                    f"canary {kind}, shown",
                    f"{canary.shown_in:.2f}",
                    f"{canary.shown_out:.2f}",
                    f"{canary.epsilon:.2f}",
                )
            )
        if self.lira is not None:
            lira = self.lira
            rows += [
                ("membership AUC", f"{lira.auc:.3f}", f"{lira.null_auc:.3f}", ""),
                (
                    "membership advantage",
                    f"{lira.advantage:.3f}",
                    f"{lira.null_advantage:.3f}",
                    "",
                ),
                (
                    "true positives at 1 % false",
                    f"{lira.tpr_at_1_percent:.2%}",
                    f"{lira.null_tpr_at_1_percent:.2%}",
                    "",
                ),
                (
                    "true positives at 0.1 % false",
                    f"{lira.tpr_at_01_percent:.2%}",
                    f"{lira.null_tpr_at_01_percent:.2%}",
                    "",
                ),
            ]
            if lira.worst20_auc is not None and lira.null_worst20_auc is not None:
                worst, null = f"{lira.worst20_auc:.3f}", f"{lira.null_worst20_auc:.3f}"
                rows.append(("AUC of the 20 most exposed", worst, null, ""))
        for linked in self.linked:
            traces = f"{linked.traces} trace{'s' * (linked.traces > 1)} of one owner"
            rows.append(
                (f"named from {traces}", f"{linked.unknown:.1%}", f"{linked.chance:.1%}", "")
            )
            if linked.known is not None:
                rows.append(
                    ("… with the model", f"{linked.known:.1%}", f"{linked.chance:.1%}", "")
                )
        return rows

    def __repr__(self) -> str:
        """Return the table as text."""
        console = Console(width=80, color_system=None)
        with console.capture() as captured:
            console.print(self.to_table())
        return captured.get().rstrip()

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = "".join(f"<th>{t}</th>" for t in ("what", "found", "by chance", "ε ≥"))
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in self._rows()
        )
        reasons = escape("; ".join(self.reasons))
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p><b>{self.level}</b>: {reasons}</p>"
        )
