"""The page's section on the audit: canaries in and out, LiRA's curve beside its null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from doppeltrace.report.figures.words import percent
from doppeltrace.report.internal.audit_verdict import reasons
from doppeltrace.report.internal.levels import Reason


@dataclass(frozen=True)
class AuditView:
    """What the audit found.

    Attributes
    ----------
    reasons : what it says for and against the release.
    canaries : (name, shown in, shown out, ε at least), the worst first; empty if not run.
    lira : (words, attack, null) of the curve's figures; empty if not run.
    curve : whether there is a curve to draw.
    """

    reasons: tuple[Reason, ...]
    canaries: tuple[tuple[str, str, str, str], ...]
    lira: tuple[tuple[str, str, str], ...]
    curve: bool


def audit_view(audit: Mapping[str, Any] | None, min_users: int | None = None) -> AuditView:
    """Return the audit's part of the findings in words."""
    told = audit or {}
    canaries, lira = told.get("canaries") or {}, told.get("lira")
    worst_first = sorted(canaries.items(), key=lambda item: -float(item[1]["epsilon"]))
    return AuditView(
        reasons=tuple(reasons(audit, min_users)),
        canaries=tuple(
            (name, percent(c["shown_in"]), percent(c["shown_out"]), f"{c['epsilon']:.2g}")
            for name, c in worst_first
        ),
        lira=() if not lira else _lira(lira),
        curve=bool(lira and lira.get("curve")),
    )


def _lira(lira: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    return (
        ("area under the curve (AUC)", f"{lira['auc']:.3f}", f"{lira['null_auc']:.3f}"),
        ("advantage", percent(lira["advantage"]), percent(lira["null_advantage"])),
        ("members found at 1\N{NO-BREAK SPACE}% false alarms",
         percent(lira["tpr_at_1_percent"]), percent(lira.get("null_tpr_at_1_percent", 0.01))),
    )  # fmt: skip
