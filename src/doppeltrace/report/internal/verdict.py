"""Is it safe to publish? Stated rules that turn the figures into green, amber and red."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from doppeltrace.report.figures.words import INTERVAL, percent

GREEN, AMBER, RED = "green", "amber", "red"
BADGES = {GREEN: "✓ fine", AMBER: "! look", RED: "✕ stop"}

MIN_K, MAX_ETA = 10, 1.0
NAMED_AMBER, NAMED_RED = 0.05, 0.20
ADVANTAGE_RED = 0.20
COPIED_AMBER, COPIED_RED, COPIED_TIMES = 0.01, 0.20, 2.0

RULES = (
    f"Deniability test: green with k of at least {MIN_K} and η of at most {MAX_ETA:g}; amber "
    "with weaker settings; red if no test was made.",
    f"Re-identification: judged by the upper end of the {INTERVAL}, the share of released "
    f"traces whose input user is named correctly: green up to {percent(NAMED_AMBER)}, red above "
    f"{percent(NAMED_RED)}.",
    "Membership: green if the attacker's advantage is no larger than what pure chance exceeds one "
    "time in twenty; red if even the lower end of its interval exceeds "
    f"{percent(ADVANTAGE_RED)}; amber between, or if there are no testing users to measure it "
    "with.",
    "Whole copies: the share of released traces that one training user's trace holds entire: "
    f"green up to {percent(COPIED_AMBER)}, or up to {COPIED_TIMES:g} times the share among "
    "testing users' traces as long and without gaps, which were never used; red above "
    f"{percent(COPIED_RED)} if that is also more than {COPIED_TIMES:g} times theirs; amber "
    "between.",
    "The whole is as bad as its worst part.",
)


@dataclass(frozen=True)
class Reason:
    """One thing that was looked at: its colour, a heading, and the figures in words."""

    level: str
    title: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The worst colour, one sentence, and the reasons."""

    level: str
    sentence: str
    reasons: tuple[Reason, ...]


SENTENCES = {
    GREEN: "Nothing that was measured speaks against publishing the traces.",
    AMBER: "Publish only after weighing what is marked “look”.",
    RED: "Do not publish these traces as they are.",
}


def judge(found: Mapping[str, Any]) -> Verdict:
    """Apply `RULES` to `Findings.to_dict()`."""
    account, privacy = found["account"], found["privacy"]
    if account["released"] == 0:
        reason = Reason(
            AMBER,
            "Nothing passed",
            "No trace passed the test, so there is nothing to publish. Try a smaller k, a "
            "larger η, more users or a model with fewer factors.",
        )
        return Verdict(AMBER, "There is nothing to publish.", (reason,))
    reasons = (
        _tested(account),
        *_named(privacy["reidentification"]),
        _membership(privacy["membership"]),
        *_copied(privacy),
    )
    levels = [reason.level for reason in reasons]
    worst = next(level for level in (RED, AMBER, GREEN) if level in levels)
    return Verdict(worst, SENTENCES[worst], reasons)


def _tested(account: Mapping[str, Any]) -> Reason:
    k, eta = account["k"], account["eta"]
    if k is None:
        text = "Every trace was released, whomever it resembles: no deniability test was made."
        return Reason(RED, "Deniability test", text)
    level = GREEN if k >= MIN_K and eta <= MAX_ETA else AMBER
    share = account["released"] / account["made"]
    passed = (
        "All traces that were made passed"
        if share == 1
        else f"{percent(share)} of the traces made passed and were released; the others were "
        "held back"
    )
    kind = "randomized " if account["randomized"] else ""
    text = (
        f"Each released trace passed the {kind}test: at least {k:,} input users would have made "
        f"it about equally likely (k = {k:,}, η = {eta:g}). {passed}."
    )
    if account["randomized"]:
        text = text.replace(f"at least {k:,}", f"about {k:,} or more (k is blurred by noise)")
    return Reason(level, "Deniability test", text)


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


def _membership(attack: Mapping[str, Any] | None) -> Reason:
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
        "An attacker who tries to tell users of the input from others has an advantage of "
        f"{percent(attack['advantage'])} ({INTERVAL} {percent(attack['low'])} to "
        f"{percent(attack['high'])}), {words}: pure chance reaches "
        f"{percent(attack['chance_high'])} one time in twenty.",
    )


def _copied(privacy: Mapping[str, Any]) -> Iterator[Reason]:
    copies, ordinary = privacy["copies"], privacy["test_copies"]
    if copies is None or copies["whole"] is None:
        return
    whole = copies["whole"]
    usual = None if ordinary is None else ordinary["whole"]
    fine = whole <= max(COPIED_AMBER, COPIED_TIMES * (usual or 0.0))
    level = GREEN if fine else RED if whole > COPIED_RED else AMBER
    if whole == 0:
        yield Reason(
            level,
            "Whole copies",
            "No released trace agrees from beginning to end with one training user's trace.",
        )
        return
    beside = (
        f"; among testing users, whom the model never saw, {percent(usual)} do"
        if usual is not None
        else "; what is ordinary is not known without testing users: compare with the report of a "
        "run of the same settings with --split 0.2"
        if ordinary is None
        else "; what is ordinary is not known, for no testing user's trace is as long and without "
        "a gap"
    )
    yield Reason(
        level,
        "Whole copies",
        f"{percent(whole)} of the released traces agree from beginning to end with one training "
        f"user's trace{beside}. {percent(privacy['still'])} of the released traces stay at one "
        "place throughout, and agree as soon as one user did the same.",
    )
