"""The internal report: one HTML file that needs nothing else, made from `Findings.to_dict()`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from doppeltrace.report.figures.words import percent, unbroken
from doppeltrace.report.internal.attack_section import LIMITS, PROMISE, attacks, pass_rate_words
from doppeltrace.report.internal.clusters import MIN_OWN
from doppeltrace.report.internal.loss_section import losses, reference
from doppeltrace.report.internal.losses import KEPT, LOST
from doppeltrace.report.internal.summary_section import in_short
from doppeltrace.report.internal.suppression import MIN_USERS
from doppeltrace.report.internal.verdict import BADGES, RULES, judge
from doppeltrace.report.public.publication import SETTINGS

TESTED = {
    "k": "plausible users, k",
    "eta": "likelihoods within e^η, η",
    "verifiers": "users compared",
}


def render(found: Mapping[str, Any]) -> str:
    """Return the page of `Findings.to_dict()`, or of the same read back from JSON."""
    account = found["account"]
    script = "\n".join(_file(name) for name in ("pictures.js", "page.js"))
    return Template(_file("page.html")).substitute(
        title=escape(account["title"]),
        style=_file("style.css"),
        in_short=in_short(found),
        verdict=_verdict(found),
        losses=losses(found),
        reference=reference(found),
        least_users=str(MIN_USERS),
        map_note=_map_note(found),
        coverage=_coverage(found),
        visits=f"{len(found['visits']):,}",
        clusters=_clusters(found),
        privacy=attacks(found["privacy"]),
        pass_rate_words=pass_rate_words(found),
        promise=escape(PROMISE if account["k"] is not None else "No deniability test was made."),
        limits=escape(LIMITS),
        made=_made(found),
        version=escape(found["version"]),
        findings=for_script(found),
        script=script,
    )


def for_script(value: Any) -> str:
    """Return JSON that no text in it can end the surrounding script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _file(name: str) -> str:
    return files("doppeltrace.report.internal").joinpath(name).read_text("utf-8")


def _verdict(found: Mapping[str, Any]) -> str:
    reasons = "".join(
        f'<li><span class="badge {r.level}">{BADGES[r.level]}</span>'
        f"<div><h3>{escape(r.title)}</h3><p>{escape(unbroken(r.text))}</p></div></li>"
        for r in judge(found).reasons
    )
    rules = "".join(f"<li>{escape(rule)}</li>" for rule in RULES)
    return (
        f'<ul class="reasons">{reasons}</ul>'
        "<details data-print><summary>The rules behind this</summary>"
        f"<ul>{rules}</ul><p>The figures are evidence about some attacks, not proof against "
        "all. Whether a risk may be taken is for the data holder to decide.</p></details>"
    )


def _map_note(found: Mapping[str, Any]) -> str:
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
    return escape(" ".join(parts))


def _coverage(found: Mapping[str, Any]) -> str:
    """Return a warning where real traces have gaps that synthetic ones do not."""
    if found["comparable"]:
        return ""
    real, synthetic = percent(found["coverage"]), percent(found["synthetic_coverage"])
    return (
        f'<p class="notice">The real traces have an event in {real} of the instants of the days '
        f"they cover, the synthetic ones in {synthetic}. Moves, stays and places per day differ "
        "for that reason, whatever the model does.</p>"
    )


def _clusters(found: Mapping[str, Any]) -> str:
    clusters = found["clusters"]
    if clusters is None:
        return (
            '<p class="notice">This model has no factors (or more than one set of them), so it '
            "names no groups of users. <code>--model doppel</code> and <code>ppmtf</code> do.</p>"
        )
    if found["population"] is None:
        return '<p class="notice">Nothing was released, so there is nothing to compare.</p>'
    users = clusters[0]["users"]
    items = "".join(
        f'<label><input type="radio" name="cluster" value="{i}"{" checked" * (i == 0)}>'
        f"<strong>{i + 1}</strong><span>{escape(unbroken(c['title']))}</span>"
        f"<small>{c['verdict']}</small>"
        f"<p>{escape(c['description'])}</p></label>"
        for i, c in enumerate(clusters)
    )
    return (
        f"<p>The model describes users by {len(clusters)} factors, each with places and hours of "
        f"its own. A factor’s cluster is the tenth of the training users ({users:,}) with most "
        "of it; a user can belong to several, or to none. <em>Real</em> in this section are these "
        "training users’ own events, <em>synthetic</em> the events of the traces made from them."
        "</p><p class=small>A cluster survived if its synthetic events are at most "
        f"{percent(KEPT)} as far from its real ones as the events of all training users "
        f"together; from {percent(LOST)} on it is lost; between, it is blurred. What is nearer "
        f"than {MIN_OWN:g} to all users has little of its own to lose. The centre is where the "
        "third of all events lies that is nearest to their middle.</p>"
        f'<fieldset class="cluster-list"><legend>Pick a cluster</legend>{items}</fieldset>'
    )


def _made(found: Mapping[str, Any]) -> str:
    account = found["account"]
    counts = {
        "training users": f"{found['privacy']['users']:,}",
        f"{found['reference']} users compared with": f"{found['reference_users']:,}",
        "places": f"{found['places']['total']:,}",
        "time slots": f"{len(found['slots']):,}",
        "traces made": f"{account['made']:,}",
        "traces released": f"{account['released']:,}",
    }
    blocks = (
        ("What", {**counts, **account["input"]}),
        ("Settings", {_setting(name): text for name, text in account["settings"].items()}),
        ("Time and memory", account["effort"]),
    )
    body = "".join(f"<div><h3>{name}</h3>{_pairs(values)}</div>" for name, values in blocks)
    return f'<div class="columns">{body}</div>'


def _setting(name: str) -> str:
    """Return a setting in the words of the public page, where those have some for it."""
    return {**SETTINGS, **TESTED}.get(name.replace(" ", "_"), name)


def _pairs(values: Mapping[str, str]) -> str:
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in values.items())
    return f"<dl>{''.join(rows)}</dl>"
