"""The top of the page: is it safe, what is lost, which groups exist, how was it made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doppeltrace.guarantee import Guarantee
from doppeltrace.report.figures.words import percent, sentence, unbroken
from doppeltrace.report.internal.loss_section import GROUP_WORDS
from doppeltrace.report.internal.losses import WORDS

NAMED_GROUPS = 5
NAMED_LOSSES = 4


@dataclass(frozen=True)
class Line:
    """A line of an answer: what stands out in it, and the rest."""

    strong: str
    text: str


@dataclass(frozen=True)
class Answer:
    """A question, the section that says more, and the answer in short."""

    section: str
    question: str
    lines: tuple[Line, ...]


def answers(found: Mapping[str, Any]) -> tuple[Answer, ...]:
    """Return one answer to each question; whether it is safe is the verdict's to say."""
    return (
        Answer("lost", "What is lost?", _losses(found)),
        Answer("clusters", "Which groups are there?", (Line("", _groups(found)),)),
        Answer("made", "How was it made?", (_made(found),)),
    )


def _losses(found: Mapping[str, Any]) -> tuple[Line, ...]:
    rows = found["losses"]
    if not rows:
        return (Line("", "Nothing was released, so there is nothing to score."),)
    lines = []
    if found["reference"] != "testing":
        words = "Compared with the training users themselves, which looks better than it is."
        lines.append(Line("", words))
    lines += _worth(found["summary"])
    for word in WORDS:
        names = together([r["plain"] for r in rows if r["verdict"] == word], rows)
        if names:
            text = "; ".join(name[0].lower() + name[1:] for name in names[:NAMED_LOSSES])
            more = len(names) - NAMED_LOSSES
            text += f"; and {more} more" if more > 0 else ""
            lines.append(Line(f"{word.capitalize()}:", f"{text}."))
    return tuple(lines)


def _worth(summary: Mapping[str, float | None]) -> list[Line]:
    """Return the summary in one line."""
    mean = summary["mean"]
    if mean is None:
        return [Line("", "These data cannot tell: real traces do not clearly beat trivial ones.")]
    groups = ", ".join(
        f"{words[0].lower()}{words[1:]} {percent(share)}"
        for name, words in GROUP_WORDS.items()
        if (share := summary[name]) is not None
    )
    return [Line(percent(mean), f"of the way from trivial traces to real ones: {groups}.")]


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
    return f"{len(clusters)}, which overlap; {fate} in the traces. {sentence(some)}"


def _made(found: Mapping[str, Any]) -> Line:
    run = found["run"]
    model = run["model"].partition(":")[0]
    guarantee = Guarantee.from_dict(run["guarantee"])
    return Line(
        f"{run['released']:,}",
        f"synthetic traces released, of {run['made']:,} that {model} made from "
        f"{found['privacy']['users']:,} users; "
        f"{_promised(guarantee, all_passed=run['released'] == run['made'])}. "
        f"{found['places']['total']:,} places, {len(found['slots']):,} time slots.",
    )


def _promised(guarantee: Guarantee, *, all_passed: bool) -> str:
    if guarantee.kind == "none":
        return "no guarantee"
    if guarantee.vacuous:
        return f"{guarantee.title}, which says nothing here"
    if guarantee.kind == "differential privacy":
        return unbroken(f"with {guarantee.title}")
    k, eta = guarantee.parameters["k"], guarantee.parameters["eta"]
    passed = "all passed" if all_passed else "the others failed"
    return unbroken(f"{passed} the deniability test (k = {k:,.0f}, η = {eta:g})")
