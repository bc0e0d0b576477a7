"""Is it safe to publish? Stated rules that turn the figures into green, amber and red."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from doppeltrace.guarantee import Guarantee
from doppeltrace.report.figures.words import INTERVAL, percent
from doppeltrace.report.internal import audit_verdict
from doppeltrace.report.internal.levels import AMBER, BADGES, GREEN, RED, UNKNOWN, Level, Reason

MIN_K, MAX_ETA = 10, 1.0
EPSILON_AMBER, EPSILON_RED = 1.0, 10.0
NAMED_AMBER, NAMED_RED = 0.05, 0.20
ADVANTAGE_RED = 0.20
COPIED_AMBER, COPIED_RED, COPIED_TIMES = 0.01, 0.20, 2.0

RULES = (
    f"Plausible deniability: green with k of at least {MIN_K} and η of at most {MAX_ETA:g}; amber "
    "with weaker settings; red if no test was made, or if the test says nothing because every "
    "user gives every trace the same likelihood.",
    f"Differential privacy: green with ε of at most {EPSILON_AMBER:g}, red with ε above "
    f"{EPSILON_RED:g}, amber between. The deniability test does not apply then.",
    *audit_verdict.RULES,
    f"Re-identification: judged by the upper end of the {INTERVAL} of the share of released "
    f"traces whose input user is named correctly: green up to {percent(NAMED_AMBER)}, red above "
    f"{percent(NAMED_RED)}.",
    "Membership: measured on all released traces. Green if the attacker's advantage is no larger "
    "than what pure chance exceeds one time in twenty; red if even the lower end of its interval "
    f"exceeds {percent(ADVANTAGE_RED)}; amber between, or if there are no testing users to "
    "measure it with.",
    "Whole copies: the share of released traces that one training user's trace contains from "
    f"beginning to end: green up to {percent(COPIED_AMBER)}, or up to {COPIED_TIMES:g} times the "
    "share among testing users' traces of that length without gaps, which were never used; red "
    f"above {percent(COPIED_RED)} if that is also more than {COPIED_TIMES:g} times theirs; amber "
    "between. Not measurable, and without a colour, where no testing user's trace is that long "
    "without a gap: then hardly any trace can be a whole copy, whatever the model does.",
    "The whole is as bad as its worst part. It is green only if the audit was run at levels 0, 1 "
    "and 2.",
)

SENTENCES = {
    GREEN: "Nothing that was measured speaks against publishing the traces.",
    AMBER: "Publish only after weighing what is marked “look”.",
    RED: "Do not publish these traces as they are.",
}


@dataclass(frozen=True)
class Verdict:
    """The worst level, one sentence, and the reasons."""

    level: Level
    sentence: str
    reasons: tuple[Reason, ...]

    @property
    def headline(self) -> str:
        """The sentence, and the titles of what decided it."""
        if self.level == GREEN:
            return self.sentence
        named = [r.title[0].lower() + r.title[1:] for r in self.reasons if r.level == self.level]
        return f"{self.sentence[:-1]}: {', '.join(named)}."

    def to_lines(self) -> list[str]:
        """Return plain text for a terminal: the sentence, then one line per reason."""
        width = max(len(badge) for badge in BADGES.values())
        lines = [f"{BADGES[self.level][0]} {self.sentence}"]
        lines += [f"  {BADGES[r.level]:{width}}  {r.title}: {r.text}" for r in self.reasons]
        return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def judge(found: Mapping[str, Any]) -> Verdict:
    """Apply `RULES` to `Findings.to_dict()`."""
    run, privacy = found["run"], found["privacy"]
    if run["released"] == 0:
        reason = Reason(
            AMBER,
            "Nothing passed",
            "No trace passed the test, so there is nothing to publish. Try a smaller k, a "
            "larger η, more users or a model with fewer factors.",
        )
        return Verdict(AMBER, "There is nothing to publish.", (reason,))
    reasons = (
        _promised(Guarantee.from_dict(run["guarantee"]), run["released"], run["made"]),
        *audit_verdict.reasons(found.get("audit"), run.get("min_users")),
        *_named(privacy["reidentification"]),
        _membership(privacy["membership"], run["released"]),
        *_copied(privacy),
    )
    levels = [reason.level for reason in reasons]
    worst = next(level for level in (RED, AMBER, GREEN) if level in levels)
    return Verdict(worst, SENTENCES[worst], reasons)


def _promised(guarantee: Guarantee, released: int, made: int) -> Reason:
    """Judge what the release promises."""
    if guarantee.kind == "none":
        return Reason(RED, "No guarantee", guarantee.text)
    title = guarantee.kind[0].upper() + guarantee.kind[1:]
    if guarantee.vacuous:
        return Reason(RED, title, f"{guarantee.title} says nothing here. {guarantee.text}")
    numbers = guarantee.parameters
    if guarantee.kind == "differential privacy":
        epsilon = numbers["epsilon"]
        level = GREEN if epsilon <= EPSILON_AMBER else AMBER if epsilon <= EPSILON_RED else RED
        delta = f", δ = {numbers['delta']:g}" if "delta" in numbers else ""
        return Reason(
            level,
            title,
            f"ε = {epsilon:g}{delta} for {guarantee.unit}. {guarantee.text} The deniability "
            "test does not apply.",
        )
    level = GREEN if numbers["k"] >= MIN_K and numbers["eta"] <= MAX_ETA else AMBER
    return Reason(
        level, title, f"{guarantee.title}, for {guarantee.unit}. {guarantee.text} "
        f"{_passed(released / made)}."
    )  # fmt: skip


def _passed(share: float) -> str:
    if share == 1:
        return "All traces that were made passed"
    return (
        f"{percent(share)} of the traces made passed and were released; the others were held back"
    )


def _named(attack: Mapping[str, Any] | None) -> Iterator[Reason]:
    if attack is None:
        return
    rate, low, high, chance = (attack[x] for x in ("rate", "low", "high", "chance"))
    level = GREEN if high <= NAMED_AMBER else AMBER if high <= NAMED_RED else RED
    yield Reason(
        level,
        "Re-identification",
        f"An attacker who knows all training traces names the input user of {percent(rate)} of "
        f"the released traces ({INTERVAL} {percent(low)} to {percent(high)}), "
        f"{rate / chance:,.1f} times what blind guessing gets ({percent(chance)}).",
    )


def _membership(attack: Mapping[str, Any] | None, released: int) -> Reason:
    if attack is None:
        return Reason(
            AMBER,
            "Membership not measured",
            "Whether the release tells who was in the input can only be measured with users who "
            "were not, and this run had none. Compare with the report of a run of the same "
            "settings with --split 0.2.",
        )
    level = (
        GREEN
        if attack["advantage"] <= attack["chance_high"]
        else RED
        if attack["low"] > ADVANTAGE_RED
        else AMBER
    )
    words = {
        GREEN: "no more than chance would give",
        AMBER: "more than chance would give",
        RED: "far more than chance would give",
    }[level]
    return Reason(
        level,
        "Membership",
        f"With all {released:,} released traces, an attacker who tries to tell users of the "
        f"input from others has an advantage of {percent(attack['advantage'])} ({INTERVAL} "
        f"{percent(attack['low'])} to {percent(attack['high'])}), {words}: chance alone gives "
        f"{percent(attack['chance'])} on average and reaches {percent(attack['chance_high'])} "
        "one time in twenty.",
    )


def _copied(privacy: Mapping[str, Any]) -> Iterator[Reason]:
    copies, ordinary = privacy["copies"], privacy["test_copies"]
    if copies is None:
        return
    whole, title = copies["whole"], "Whole copies"
    usual = None if ordinary is None else ordinary["whole"]
    if whole is None or (ordinary is not None and usual is None):
        yield Reason(
            UNKNOWN,
            title,
            "Not measurable: real traces have gaps that released ones do not, so hardly any "
            "trace can agree with one from beginning to end, whatever the model does.",
        )
        return
    fine = whole <= max(COPIED_AMBER, COPIED_TIMES * (usual or 0.0))
    level = GREEN if fine else RED if whole > COPIED_RED else AMBER
    if whole == 0:
        text = "No released trace agrees from beginning to end with one training user's trace."
        yield Reason(level, title, text)
        return
    beside = (
        f"; among testing users, whom the model never saw, {percent(usual)} do"
        if usual is not None
        else "; what is ordinary is not known without testing users: compare with the report of a "
        "run of the same settings with --split 0.2"
    )
    yield Reason(
        level,
        title,
        f"{percent(whole)} of the released traces agree from beginning to end with one training "
        f"user's trace{beside}. {percent(privacy['still'])} of the released traces stay at one "
        "place throughout, and agree as soon as one user did the same.",
    )
