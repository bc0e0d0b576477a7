"""What the audit says for and against a release.

The audit's part of the findings is a mapping of plain values; a part that is missing or None
was not run:

level0 : {"min_users", "rare_places", "one_person_places", "traces_with_one_share"}: the bound
    in force (None if it was switched off); places in the release with fewer training users,
    and with exactly one; the share of released traces with such a place.
canaries : {name: {"shown_in", "shown_out", "epsilon"}}: how often a canary shows in a release
    when it was in the input and when not, and the ε that this proves at least.
lira : {"auc", "null_auc", "advantage", "null_advantage", "tpr_at_1_percent", "runs", "curve"}:
    the likelihood-ratio attack with shadow trainings beside shuffled labels; `curve` holds
    "fpr", "tpr" and "null_tpr".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from doppeltrace.report.figures.words import percent
from doppeltrace.report.internal.levels import AMBER, GREEN, RED, Level, Reason

EPSILON_AMBER, EPSILON_RED = 0.5, 2.0
LIRA_MARGIN = 0.02
"""AUC or advantage by which LiRA may exceed its null: what 64 runs cannot tell from 0."""

RULES = (
    "Places of few people (audit, level 0): red if the release contains a place that one "
    "training user alone visited, or if the least number of users of a place was switched off; "
    "amber if it contains one of fewer users than that number.",
    "Canaries (audit, level 1: made-up users who are in the input of some trainings and not of "
    f"others): red if any of them proves ε of at least {EPSILON_RED:g}, amber from "
    f"{EPSILON_AMBER:g} on.",
    "LiRA (audit, level 2: the strongest known membership attack, with many trainings of its "
    "own): amber if its AUC or its advantage exceeds that with shuffled labels, its null, by "
    f"more than {LIRA_MARGIN:g}.",
    "What the audit did not measure is amber.",
)


def reasons(audit: Mapping[str, Any] | None) -> Iterator[Reason]:
    """Judge what the audit found, and what it was not asked."""
    told = audit or {}
    level0, canaries, lira = (told.get(name) for name in ("level0", "canaries", "lira"))
    missing = []
    if level0:
        yield _rare_places(level0)
    else:
        missing.append("0")
    if canaries:
        yield _canaries(canaries)
    else:
        missing.append("1")
    if lira:
        yield _lira(lira)
    else:
        missing.append("2")
    if missing:
        *first, last = missing
        levels = f"levels {', '.join(first)} and {last}" if first else f"level {last}"
        yield Reason(
            AMBER,
            "Not audited",
            f"The audit was not run at {levels}, so nobody knows what a strong attacker could "
            "learn about one person. Run `doppeltrace audit` with the same model and settings "
            "before publishing.",
        )


def _rare_places(found: Mapping[str, Any]) -> Reason:
    rare, least = found["rare_places"], found.get("min_users")
    alone = found.get("one_person_places", rare)
    title = "Places of few people"
    if not least or least < 2:
        off = "The least number of users of a place was switched off. "
        if not rare:
            return Reason(RED, title, f"{off}Rare places were not looked for.")
        return Reason(RED, title, f"{off}{_rare_words(found, rare, alone, least)}")
    if rare == 0:
        text = f"Every place in the release was visited by at least {least:,} training users."
        return Reason(GREEN, title, text)
    return Reason(RED if alone else AMBER, title, _rare_words(found, rare, alone, least))


def _rare_words(found: Mapping[str, Any], rare: int, alone: int, least: int | None) -> str:
    than = f"fewer than {least:,} training users" if least else "few training users"
    one = f", {alone:,} of them one user alone" if alone else ""
    share = found.get("traces_with_one_share")
    carry = (
        "" if share is None else f" {percent(share)} of the released traces contain such a place."
    )
    return f"The release contains {_number(rare, 'place')} that {than} visited{one}.{carry}"


def _canaries(found: Mapping[str, Mapping[str, Any]]) -> Reason:
    name, worst = max(found.items(), key=lambda item: float(item[1]["epsilon"]))
    epsilon = float(worst["epsilon"])
    level: Level = RED if epsilon >= EPSILON_RED else AMBER if epsilon >= EPSILON_AMBER else GREEN
    if epsilon <= 0:
        return Reason(
            level,
            "Canaries",
            f"None of {_number(len(found), 'kind')} of made-up users can be told to have been in "
            "the input (ε of at least 0 for each).",
        )
    return Reason(
        level,
        "Canaries",
        f"The made-up user “{name}” shows in {percent(worst['shown_in'])} of the releases made "
        f"with it and in {percent(worst['shown_out'])} of those made without it: ε is at least "
        f"{epsilon:.2g}. It is the worst of {_number(len(found), 'kind')}.",
    )


def _lira(found: Mapping[str, Any]) -> Reason:
    beyond = max(found["auc"] - found["null_auc"], found["advantage"] - found["null_advantage"])
    leaks = beyond > LIRA_MARGIN
    return Reason(
        AMBER if leaks else GREEN,
        "LiRA",
        f"The strongest known membership attack, with {found['runs']:,} trainings of its own, "
        f"has an AUC of {found['auc']:.2f} (with shuffled labels {found['null_auc']:.2f}) and an "
        f"advantage of {percent(found['advantage'])} ({percent(found['null_advantage'])}), "
        f"{'more than' if leaks else 'no more than'} chance would give. At one false alarm in a "
        f"hundred it finds {percent(found['tpr_at_1_percent'])} of the members.",
    )


def _number(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
