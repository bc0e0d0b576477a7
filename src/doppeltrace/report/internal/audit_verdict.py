"""What the audit says for and against a release.

The audit's part of the findings is `Audit.to_dict()`, or as much of it as was run; what is
missing, None or empty was not. This page reads:

level0 : min_users, rare_places, places_of_one, places_of_nobody, traces_with_rare_share,
    derived: places in the release with fewer training users than the first, with exactly one and
    with none; the share of released traces with such a place; what is public and derived from
    the data, in words.
canaries : kind → shown_in, shown_out, epsilon: how often a canary shows in a release when it
    was in the input and when not, and the ε that this proves at least.
lira : auc, null_auc, advantage, null_advantage, tpr_at_1_percent, runs, exceeds_null, curve
    (fpr, tpr, null_tpr): the likelihood-ratio attack beside itself with shuffled labels.
level, reasons : the audit's own verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from doppeltrace.report.figures.words import percent
from doppeltrace.report.internal.levels import AMBER, GREEN, RED, Level, Reason

EPSILON_RED = 2.0
SEVERITY: dict[Level, int] = {GREEN: 0, AMBER: 1, RED: 2}

RULES = (
    "Places of few people (audit, level 0): red if the release contains a place that one "
    "training user alone visited, or if such places were not merged before training; amber if it "
    "contains a place of fewer users than it should, or if something public was derived from the "
    "data.",
    "Canaries (audit, level 1: made-up users who are in the input of some trainings and not of "
    f"others): red if any of them proves an ε of at least {EPSILON_RED:g}, amber if any proves an "
    "ε above 0, or if there were too few trainings to prove much.",
    "LiRA (audit, level 2: the strongest known membership attack, with many trainings of its "
    "own): amber if it finds members better than with shuffled labels, its null.",
    "What the audit did not measure is amber.",
)


def reasons(audit: Mapping[str, Any] | None, min_users: int | None = None) -> Iterator[Reason]:
    """Judge what the audit found, and what it was not asked.

    Parameters
    ----------
    min_users : training users that a place needs; 1 if that was switched off, None if unknown.
    """
    told = audit or {}
    level0, canaries, lira = (told.get(name) for name in ("level0", "canaries", "lira"))
    found = []
    if level0:
        found.append(_rare_places(level0))
        if level0.get("derived"):
            words = "; ".join(level0["derived"])
            text = f"The release shows what was derived from the data: {words}."
            found.append(Reason(AMBER, "Derived from the data", text))
    if min_users == 1:
        text = "Places of few people were not merged before training: that was switched off."
        found.append(Reason(RED, "Rare places let through", text))
    if canaries:
        found.append(_canaries(canaries))
    if lira:
        found.append(_lira(lira))
    yield from found
    missing = [n for n, part in (("0", level0), ("1", canaries), ("2", lira)) if not part]
    if missing:
        *first, last = missing
        levels = f"levels {', '.join(first)} and {last}" if first else f"level {last}"
        yield Reason(
            AMBER,
            "Not audited",
            f"The audit was not run at {levels}, so nobody knows what a strong attacker could "
            "learn about one person. Run doppeltrace audit with the same model and settings "
            "before publishing.",
        )
    elif SEVERITY[told.get("level", GREEN)] > max(SEVERITY[r.level] for r in found):
        yield Reason(told["level"], "Audit", f"{'; '.join(told['reasons'])}.")


def _rare_places(found: Mapping[str, Any]) -> Reason:
    title, least = "Places of few people", found["min_users"]
    rare = found["rare_places"] - found["places_of_nobody"]
    alone = found["places_of_one"]
    if rare == 0:
        text = f"Every place in the release was visited by at least {least:,} training users"
        if found["places_of_nobody"]:
            text += f", or by none ({found['places_of_nobody']:,})"
        return Reason(GREEN, title, f"{text}.")
    one = f", {alone:,} of them one user alone" if alone else ""
    return Reason(
        RED if alone else AMBER,
        title,
        f"The release contains {_number(rare, 'place')} that fewer than {least:,} training users "
        f"visited{one}. {percent(found['traces_with_rare_share'])} of the released traces contain "
        "such a place.",
    )


def _canaries(found: Mapping[str, Mapping[str, Any]]) -> Reason:
    name, worst = max(found.items(), key=lambda item: float(item[1]["epsilon"]))
    epsilon = float(worst["epsilon"])
    if epsilon <= 0:
        return Reason(
            GREEN,
            "Canaries",
            f"None of {_number(len(found), 'kind')} of made-up users can be told to have been in "
            "the input: no ε above 0 is proved.",
        )
    return Reason(
        RED if epsilon >= EPSILON_RED else AMBER,
        "Canaries",
        f"The made-up user “{name}” shows in {percent(worst['shown_in'])} of the releases made "
        f"with it and in {percent(worst['shown_out'])} of those made without it: ε is at least "
        f"{epsilon:.2g}. It is the worst of {_number(len(found), 'kind')}.",
    )


def _lira(found: Mapping[str, Any]) -> Reason:
    leaks = found["exceeds_null"]
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
