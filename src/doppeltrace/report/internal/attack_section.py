"""The page's words about attacks and about the deniability test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from doppeltrace.report.figures.words import INTERVAL, percent

PROMISE = (
    "A trace passed if at least k users of the input, its own among them, would have produced "
    "it with about the same probability (within a factor of e^η). So whoever sees one released "
    "trace cannot tell from its probability alone which of those users it was made from."
)
LIMITS = (
    "It is a statement about one trace and one input user. It does not bound what many traces "
    "of one user reveal together, it says nothing about whether a person was in the input at "
    "all, and it is no differential privacy. The attacks above measure some of what it leaves "
    "open; a low figure there is evidence, not proof."
)


def attacks(privacy: Mapping[str, Any]) -> str:
    """Return what the attacks and the copy check found."""
    parts = []
    if privacy["reidentification"] is not None:
        parts.append(
            "<div><h3>Re-identification</h3><p>Which training user was this trace made from? The "
            "dashed line is blind guessing; the dot is the attacker’s rate, with its "
            f'{INTERVAL}.</p><figure><div id="reidentification-chart"></div></figure>'
            f"<p class=small>{escape(_rate_words(privacy['reidentification']))}</p></div>"
        )
    leak = privacy["membership"]
    if leak is not None:
        parts.append(
            "<div><h3>Membership</h3><p>Was this person in the input at all? The grey band is "
            "what pure chance gives 95 times in 100; the dashed line its mean. A dot inside the "
            'band is no evidence of a leak.</p><figure><div id="membership-chart"></div></figure>'
            f"<p class=small>Advantage {percent(leak['advantage'])}, interval "
            f"{percent(leak['low'])} to {percent(leak['high'])}; chance up to "
            f"{percent(leak['chance_high'])}, p&nbsp;=&nbsp;{leak['p_value']:.3f}.</p></div>"
        )
    else:
        parts.append(
            '<div><h3>Membership</h3><p class="notice">Not measured: it needs users who were not '
            "in the input. Compare with the report of a run of the same settings with "
            "<code>--split 0.2</code>.</p></div>"
        )
    return f'<div class="columns">{"".join(parts)}</div>{_copies(privacy)}'


def pass_rate_words(found: Mapping[str, Any]) -> str:
    """Return what the curve of pass rates shows, and what it lacks."""
    account = found["account"]
    if account["k"] is None:
        return "No deniability test was made, so nothing was counted."
    if not found["privacy"]["pass_rates"]:
        return "Plausible users were not counted in this run."
    words = (
        "The share of the traces made that at least k users could plausibly have produced. "
        "A larger k hides each trace among more users and lets fewer traces out."
    )
    if not account["counted_all"]:
        words += (
            f" This run stopped counting at k = {account['k']:,}, which is faster; "
            "<code>--count-all</code> gives the whole curve."
        )
    return words


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


def _copies(privacy: Mapping[str, Any]) -> str:
    copies, ordinary = privacy["copies"], privacy["test_copies"]
    if copies is None:
        return ""
    columns = [copies] if ordinary is None else [copies, ordinary]
    heads = ["released traces", "testing users"][: len(columns)]
    rows = (
        ("longest run shared with one training user", "longest", "{:,} events".format),
        ("mean over traces", "mean", "{:.2f} events".format),
        ("exceeded by one trace in twenty", "quantile95", "{:.1f} events".format),
        ("traces that are copies as a whole", "whole", percent),
    )
    return (
        "<h3>Longest copied run</h3><p>A shared run is a stretch of consecutive events at the "
        "same places and the same time of day as in one training user’s trace. Long ones are "
        "ordinary where people stay put, so what counts is the difference from testing users"
        + (", who are missing here" if ordinary is None else "")
        + f". A trace has {privacy['longest_possible']:,} events; whole copies are counted among "
        "testing users with as many, without a gap.</p>"
        + _table(
            ["", *heads],
            [
                [words, *("–" if c[name] is None else write(c[name]) for c in columns)]
                for words, name, write in rows
            ],
        )
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )
