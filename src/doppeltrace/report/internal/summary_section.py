"""The top of the page: is it safe, what is lost, which groups exist, how was it made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from doppeltrace.report.figures.words import unbroken
from doppeltrace.report.internal.losses import NO_YARDSTICK, NOT_COMPARABLE, WORDS
from doppeltrace.report.internal.verdict import BADGES, GREEN, judge
from doppeltrace.report.public.publication import MODELS

NAMED_GROUPS = 5


def in_short(found: Mapping[str, Any]) -> str:
    """Return one answer to each of the four questions, as HTML."""
    verdict = judge(found)
    named = [r.title.lower() for r in verdict.reasons if r.level == verdict.level != GREEN]
    safe = verdict.sentence if not named else f"{verdict.sentence[:-1]}: {', '.join(named)}."
    rows = {
        "lost": ("What is lost?", _losses(found)),
        "clusters": ("Which groups are there?", _groups(found)),
        "made": ("How was it made?", _made(found)),
    }
    answers = "".join(
        f'<dt><a href="#{section}">{question}</a></dt><dd>{answer}</dd>'
        for section, (question, answer) in rows.items()
    )
    return (
        f'<p class="verdict {verdict.level}">{BADGES[verdict.level][0]} {escape(safe)}</p>'
        f'<dl class="short">{answers}</dl>'
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('…') else '.'}"


def _losses(found: Mapping[str, Any]) -> str:
    rows = found["losses"]
    lines = ["Compared with the training users themselves, which looks better than it is."]
    if found["reference"] == "testing" or not rows:
        lines = []
    for word in (*WORDS, NO_YARDSTICK, NOT_COMPARABLE):
        names = together([r["plain"] for r in rows if r["verdict"] == word], rows)
        if names:
            text = "; ".join(name[0].lower() + name[1:] for name in names)
            lines.append(f"<strong>{word.capitalize()}:</strong> {escape(text)}.")
    return "<br>".join(lines) or "Nothing was released, so there is nothing to score."


def together(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return names, those that differ after a comma as one if no other row has it, too."""
    first = Counter(row["plain"].partition(",")[0] for row in rows)
    here = Counter(name.partition(",")[0] for name in names)
    return list(
        dict.fromkeys(
            part if here[part] == first[part] > 1 else name
            for name in names
            for part in (name.partition(",")[0],)
        )
    )


def _groups(found: Mapping[str, Any]) -> str:
    clusters = found["clusters"]
    if clusters is None:
        return "This model names no groups of users."
    if found["population"] is None:
        return "Nothing was released, so there is nothing to compare."
    (word, number), *more = Counter(c["verdict"] for c in clusters).most_common()
    fate = ", ".join([f"{number if more else 'all'} {word}", *(f"{n} {w}" for w, n in more)])
    names = list(dict.fromkeys(c["name"][0].lower() + c["name"][1:] for c in clusters))
    some = "; ".join(names[:NAMED_GROUPS]) + "; …" * (len(names) > NAMED_GROUPS)
    return f"{len(clusters)}, which overlap; {fate} in the traces. {escape(_sentence(some))}"


def _made(found: Mapping[str, Any]) -> str:
    account = found["account"]
    name = account["settings"]["model"]
    model = MODELS.get(name, name).partition(":")[0]
    if account["k"] is None:
        test = "no deniability test was made"
    else:
        some = account["released"] < account["made"]
        test = unbroken(
            f"{'the others failed' if some else 'all passed'} the deniability test "
            f"(k = {account['k']:,}, η = {account['eta']:g})"
        )
    return (
        f"<strong>{account['released']:,}</strong> synthetic traces released, of "
        f"{account['made']:,} that {escape(model)} made from {found['privacy']['users']:,} users; "
        f"{test}. {found['places']['total']:,} places, {len(found['slots']):,} time slots."
    )
