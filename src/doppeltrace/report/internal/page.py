"""The internal report: one HTML file that needs nothing else, made from `Findings.to_dict()`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doppeltrace.evaluation.measure import KEPT, LOST
from doppeltrace.guarantee import Guarantee
from doppeltrace.report.figures.promises import promise_rows
from doppeltrace.report.figures.templates import render_template
from doppeltrace.report.figures.words import percent, sentence
from doppeltrace.report.internal import attack_section, loss_section
from doppeltrace.report.internal.audit_section import audit_view
from doppeltrace.report.internal.clusters import MIN_OWN
from doppeltrace.report.internal.levels import BADGES
from doppeltrace.report.internal.summary_section import answers
from doppeltrace.report.internal.suppression import MIN_USERS
from doppeltrace.report.internal.verdict import RULES, judge

Pairs = list[tuple[str, str]]


def render(found: Mapping[str, Any]) -> str:
    """Return the page of `Findings.to_dict()`, or of the same read back from JSON."""
    guarantee = Guarantee.from_dict(found["run"]["guarantee"])
    return render_template(
        "internal/report.html.j2",
        title=found["run"]["title"],
        verdict=judge(found),
        badges=BADGES,
        rules=RULES,
        answers=answers(found),
        losses=loss_section.losses(found),
        reference=loss_section.reference(found),
        min_users=MIN_USERS,
        map_notes=_map_notes(found),
        comparable=found["comparable"],
        coverage=(found["coverage"], found["synthetic_coverage"]),
        visits=len(found["visits"]),
        clusters=found["clusters"],
        cluster_rules={"kept": 1 - KEPT, "lost": 1 - LOST, "min_own": MIN_OWN},
        released=found["population"] is not None,
        audit=audit_view(found["audit"], found["run"]["min_users"]),
        safeguards=[sentence(words) for words in found["run"]["safeguards"]],
        attacks=attack_section.attacks(found),
        pass_rates=attack_section.pass_rates(found),
        promise=attack_section.promise(guarantee),
        made=_made(found, guarantee),
        version=found["version"],
        findings=found,
    )


def _map_notes(found: Mapping[str, Any]) -> str:
    places = found["places"]
    shown = places["on_map"]
    parts = []
    if found["replicates"] > 1:
        parts.append(
            f"The pictures show all {found['replicates']} released sets of traces together; "
            "TP-TV is computed for each set (one trace per user) and averaged, as in the "
            "scorecard."
        )
    if shown < places["total"]:
        parts.append(
            f"The {shown:,} busiest of {places['total']:,} places are drawn; the others hold "
            f"{percent(places['left_out_real'])} of the real and "
            f"{percent(places['left_out_synthetic'])} of the synthetic events. TP-TV counts "
            "all of them."
        )
    return " ".join(parts)


def _made(found: Mapping[str, Any], guarantee: Guarantee) -> list[tuple[str, Pairs]]:
    """Return blocks of (heading, rows)."""
    run = found["run"]
    counts = {
        "training users": f"{found['privacy']['users']:,}",
        f"{found['reference']} users compared with": f"{found['reference_users']:,}",
        "places": f"{found['places']['total']:,}",
        "time slots": f"{len(found['slots']):,}",
        "traces made": f"{run['made']:,}",
        "traces released": f"{run['released']:,}",
    }
    return [
        ("What", [*counts.items(), *run["input"].items(), *promise_rows(guarantee)]),
        ("Settings", [("model", run["model"]), *run["settings"].items()]),
        ("Time and memory", list(run["effort"].items())),
    ]
