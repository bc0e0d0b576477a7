"""The page's words about attacks and about what the release promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from doppeltrace.guarantee import Guarantee
from doppeltrace.report.figures.words import percent

ATTACKS_LIMIT = (
    "The attacks above measure some of what is left open; a low figure there is evidence, not "
    "proof."
)


@dataclass(frozen=True)
class AttackView:
    """What the attacks and the copy check found, in words; None where nothing was measured.

    Attributes
    ----------
    reidentification, membership : the figures below the pictures.
    copies : heads and rows of the table of shared runs.
    longest_possible : events of a released trace.
    """

    reidentification: str | None
    membership: str | None
    copies: CopyTable | None
    longest_possible: int


@dataclass(frozen=True)
class CopyTable:
    """Longest shared runs; without testing users there is one column."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PassRateView:
    """Words on the curve of pass rates; `stopped_at` is the k at which counting stopped."""

    words: str
    stopped_at: int | None = None


@dataclass(frozen=True)
class PromiseView:
    """What the release promises, and what it does not, a sentence each."""

    heading: str
    text: str
    limits: tuple[str, ...]


def attacks(found: Mapping[str, Any]) -> AttackView:
    """Return what the attacks and the copy check found."""
    privacy = found["privacy"]
    named, member = privacy["reidentification"], privacy["membership"]
    return AttackView(
        reidentification=None if named is None else _rate_words(named),
        membership=None if member is None else _membership_words(member, found["run"]),
        copies=_copies(privacy),
        longest_possible=privacy["longest_possible"],
    )


def promise(guarantee: Guarantee) -> PromiseView:
    """Return what the guarantee says; one that protects nobody is not shown as a promise."""
    limits = (*guarantee.limits, ATTACKS_LIMIT)
    if guarantee.kind == "none":
        return PromiseView("Nothing is promised", guarantee.text, limits)
    if guarantee.vacuous:
        text = f"{guarantee.title} holds, but protects nobody here. {guarantee.text}"
        return PromiseView("Nothing is promised", text, limits)
    text = f"{guarantee.title}, for {guarantee.unit}. {guarantee.text}"
    if guarantee.kind == "differential privacy":
        text += " The deniability test does not apply."
    return PromiseView("What is promised", text, limits)


def pass_rates(found: Mapping[str, Any]) -> PassRateView:
    """Return what the curve of pass rates shows, and what it lacks."""
    run = found["run"]
    guarantee = Guarantee.from_dict(run["guarantee"])
    if guarantee.kind == "differential privacy":
        return PassRateView("The deniability test does not apply, so nothing was counted.")
    if guarantee.kind == "none":
        return PassRateView("No deniability test was made, so nothing was counted.")
    if guarantee.vacuous:
        return PassRateView(
            "Every trace passes at any k, because every user gives it the same likelihood. That "
            "is no protection, so no curve is drawn."
        )
    if not found["privacy"]["pass_rates"]:
        return PassRateView("Plausible users were not counted in this run.")
    words = (
        "The share of the traces made that at least k users could plausibly have produced. "
        "A larger k hides each trace among more users and lets fewer traces out."
    )
    return PassRateView(words, None if run["counted_all"] else int(guarantee.parameters["k"]))


def _rate_words(attack: Mapping[str, Any]) -> str:
    times = attack["rate"] / attack["chance"]
    some = (
        f" On {attack['n_attacked']:,} of {attack['n_traces']:,} traces, drawn at random."
        if attack["n_attacked"] < attack["n_traces"]
        else ""
    )
    return (
        f"{percent(attack['rate'])} of the traces, interval {percent(attack['low'])} to "
        f"{percent(attack['high'])}: {times:,.1f} times blind guessing "
        f"({percent(attack['chance'])}).{some}"
    )


def _membership_words(attack: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    return (
        f"With all {run['released']:,} released traces: advantage {percent(attack['advantage'])}, "
        f"interval {percent(attack['low'])} to {percent(attack['high'])}; chance "
        f"{percent(attack['chance'])} on average, up to {percent(attack['chance_high'])}; "
        f"p = {attack['p_value']:.3f}."
    )


def _copies(privacy: Mapping[str, Any]) -> CopyTable | None:
    copies, ordinary = privacy["copies"], privacy["test_copies"]
    if copies is None:
        return None
    columns = [copies] if ordinary is None else [copies, ordinary]
    rows = (
        ("longest run shared with one training user", "longest", "{:,} events".format),
        ("mean over traces", "mean", "{:.2f} events".format),
        ("exceeded by one trace in twenty", "quantile95", "{:.1f} events".format),
        ("traces that are copies as a whole", "whole", percent),
    )
    return CopyTable(
        ("released traces", "testing users")[: len(columns)],
        tuple(
            (words, *("not measurable" if c[name] is None else write(c[name]) for c in columns))
            for words, name, write in rows
        ),
    )
