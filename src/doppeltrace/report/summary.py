"""The internal summary page of a run: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple


class Score(NamedTuple):
    """A row of the scorecard, in words and figures: `void` is Uniform's score, or chance."""

    name: str
    meaning: str
    synthetic: str
    training: str
    void: str


@dataclass(frozen=True)
class Account:
    """What a run did, in the words and figures of the page. The seed has no place here.

    Attributes
    ----------
    title : what the run was made from.
    settings, input, effort : name → value, shown as written.
    made, released : traces sampled, and traces in the release.
    k, eta : parameters of the deniability test, or None if it was not made.
    pass_rates : (k, share of traces with at least k plausible users), rising in k; may be
        empty.
    scores : the scorecard, in the order of the page; may be empty.
    randomized : whether the test was the randomized one.
    """

    title: str
    settings: Mapping[str, str]
    input: Mapping[str, str]
    effort: Mapping[str, str]
    made: int
    released: int
    k: int | None
    eta: float | None
    pass_rates: Sequence[tuple[int, float]] = field(default=())
    scores: Sequence[Score] = field(default=())
    randomized: bool = False


PROMISE = (
    "A trace passed if at least k users of the input, its own among them, would have produced "
    "it with about the same probability (within a factor of e^η). So whoever sees one released "
    "trace cannot tell from its probability alone which of those users it was made from."
)
LIMITS = (
    "It is a statement about one trace and one input user. It does not bound what many traces "
    "of one user reveal together, it says nothing about whether a person was in the input at "
    "all, and it is no differential privacy. The attacks in the scorecard measure some of "
    "what it leaves open; a low figure there is evidence, not proof."
)


def render(account: Account) -> str:
    """Return the page."""
    template = Template(files("doppeltrace.report").joinpath("summary.html").read_text("utf-8"))
    return template.substitute(
        title=escape(account.title),
        verdict=_verdict(account),
        input=_pairs(account.input),
        settings=_pairs(account.settings),
        effort=_pairs(account.effort),
        pass_rates=_pass_rates(account.pass_rates, account.k),
        scores=_scores(account.scores),
        promise=escape(PROMISE if account.k is not None else "No deniability test was made."),
        limits=escape(LIMITS),
    )


def _verdict(account: Account) -> str:
    share = account.released / account.made if account.made else 0.0
    tested = (
        f"passed the {'randomized ' * account.randomized}(k, η) = "
        f"({account.k}, {account.eta:g}) deniability test"
        if account.k is not None and account.eta is not None
        else "were released without a deniability test"
    )
    return (
        f"<strong>{account.released:,}</strong> of {account.made:,} synthetic traces "
        f"({share:.1%}) {escape(tested)}."
    )


def _pairs(values: Mapping[str, str]) -> str:
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in values.items())
    return f"<dl>{''.join(rows)}</dl>"


def _pass_rates(rates: Sequence[tuple[int, float]], chosen: int | None) -> str:
    if not rates:
        return ""
    rows = "".join(
        f'<tr{" class=chosen" if k == chosen else ""}><th scope="row">{k:,}</th>'
        f'<td class="bar"><span style="width:{share:.2%}"></span></td><td>{share:.1%}</td></tr>'
        for k, share in rates
    )
    return (
        "<section><h2>Pass rate by k</h2><table><thead><tr><th>k</th><th></th>"
        f"<th>traces that pass</th></tr></thead><tbody>{rows}</tbody></table></section>"
    )


def _scores(scores: Sequence[Score]) -> str:
    if not scores:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}<small>{escape(row.meaning)}</small></th>'
        + "".join(f"<td>{escape(value)}</td>" for value in row[2:])
        + "</tr>"
        for row in scores
    )
    return (
        "<section><h2>Scorecard</h2><p>The released traces against testing "
        "users whom the model never saw. Distances: 0 is best; <em>training</em> is what the "
        "input traces themselves get, <em>uniform</em> what every place equally likely would. "
        "Attacks: what counts is how far they get above chance. With intervals and more: "
        "<code>doppeltrace evaluate</code>.</p>"
        '<div class="wide"><table><thead><tr><th>score</th><th>synthetic</th><th>training</th>'
        "<th>uniform or chance</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div></section>"
    )
