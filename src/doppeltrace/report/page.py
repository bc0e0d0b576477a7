"""The internal report: one HTML file that needs nothing else, made from `Findings.to_dict()`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from doppeltrace.report.attack_section import LIMITS, PROMISE, attacks, pass_rate_words
from doppeltrace.report.losses import KEPT, LOST, NO_YARDSTICK
from doppeltrace.report.verdict import AMBER, GREEN, RED, RULES, judge
from doppeltrace.report.words import percent

BADGES = {GREEN: "✓ fine", AMBER: "! look", RED: "✕ stop"}

MUCH_LESS = 0.5
"""With less than this part of the synthetic events per day, real stays cannot be compared."""


def render(found: Mapping[str, Any]) -> str:
    """Return the page of `Findings.to_dict()`, or of the same read back from JSON."""
    account = found["account"]
    script = "\n".join(_file(name) for name in ("pictures.js", "page.js"))
    return Template(_file("page.html")).substitute(
        title=escape(account["title"]),
        style=_file("style.css"),
        lead=_lead(found),
        verdict=_verdict(found),
        losses=_losses(found),
        reference=_reference(found),
        map_note=_map_note(found),
        coverage=_coverage(found),
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
    return files("doppeltrace.report").joinpath(name).read_text("utf-8")


def _reference(found: Mapping[str, Any]) -> str:
    users = f"{found['reference_users']:,}"
    if found["reference"] == "testing":
        return f"the {users} testing users, whom the model never saw"
    return f"the {users} training users"


def _lead(found: Mapping[str, Any]) -> str:
    account = found["account"]
    users = found["privacy"]["users"]
    return (
        f"<strong>{account['released']:,}</strong> synthetic traces released, of "
        f"{account['made']:,} made from {users:,} users; {found['places']['total']:,} places, "
        f"{len(found['slots']):,} time slots."
    )


def _verdict(found: Mapping[str, Any]) -> str:
    verdict = judge(found)
    reasons = "".join(
        f'<li><span class="badge {r.level}">{BADGES[r.level]}</span>'
        f"<div><h3>{escape(r.title)}</h3><p>{escape(r.text)}</p></div></li>"
        for r in verdict.reasons
    )
    rules = "".join(f"<li>{escape(rule)}</li>" for rule in RULES)
    return (
        f'<p class="verdict {verdict.level}">{BADGES[verdict.level][0]} '
        f'{escape(verdict.sentence)}</p><ul class="reasons">{reasons}</ul>'
        "<details data-print><summary>The rules behind this</summary>"
        f"<ul>{rules}</ul><p>The figures are evidence about some attacks, not proof against "
        "all. Whether a risk may be taken is for the data holder to decide.</p></details>"
    )


def _losses(found: Mapping[str, Any]) -> str:
    rows = found["losses"]
    if not rows:
        return '<p class="notice">Nothing was released, so there is nothing to score.</p>'
    summary = []
    for word in ("kept", "partly lost", "lost"):
        names = [_lower(row["plain"]) for row in rows if row["verdict"] == word]
        if names:
            summary.append(f"<strong>{word.capitalize()}:</strong> {escape('; '.join(names))}.")
    body = "".join(_loss(row) for row in rows)
    missing = (
        ""
        if found["reference"] == "testing"
        else '<p class="notice">There were no testing users, so the traces are compared with the '
        "training users they were made from, which looks better than it is. Run again with "
        "<code>--split 0.2</code> to keep a fifth of the users apart for an honest score.</p>"
    )
    if any(row["verdict"] == NO_YARDSTICK for row in rows):
        missing += (
            '<p class="notice">Where the training users themselves are no nearer to the '
            f"{found['reference']} users than a uniform guess, there is {NO_YARDSTICK}: these "
            "data are too few to tell what is kept.</p>"
        )
    notes = "".join(f"<li>{escape(note)}</li>" for note in found["notes"])
    return (
        f"{missing}<p>{'<br>'.join(summary)}</p>"
        f"<p class=small>Every figure is a distance from {_reference(found)}: smaller is better. "
        "It means something beside two others: that of the <em>training</em> users themselves, "
        "the best one can ask for, and that of a <em>uniform</em> guess, which knows nothing. "
        f"Up to {percent(KEPT)} of the way from one to the other counts as kept, from "
        f"{percent(LOST)} on as lost.</p>"
        '<div class="wide"><table class="losses"><thead><tr><th>property</th><th>synthetic</th>'
        '<th>training</th><th>uniform</th><th class="scale-cell"><span class="track-ends">'
        '<span>training</span><span>uniform</span></span></th><th class="text"></th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f"<details><summary>About these figures</summary><ul>{notes}</ul></details>"
    )


def _loss(row: Mapping[str, Any]) -> str:
    figures = "".join(
        f'<td data-label="{name}">{_figure(row[name], row["unit"])}</td>'
        for name in ("synthetic", "training", "uniform")
    )
    lost = row["lost"]
    track, word = "", escape(row["verdict"])
    if lost is not None:
        at = min(1.0, max(0.0, lost))
        beyond = ' class="beyond"' if lost > 1 else ""
        track = f'<span class="track"><i{beyond} style="left:{at:.1%}"></i></span>'
        word += ", worse than uniform" if lost > 1 else ", nearer than training" * (lost < 0)
    return (
        f'<tr><th scope="row">{escape(row["plain"])}<small>{escape(row["label"])}: '
        f'{escape(row["meaning"])}</small></th>{figures}<td class="scale-cell">{track}</td>'
        f'<td class="text word">{word}</td></tr>'
    )


def _figure(x: float | None, unit: str) -> str:
    if x is None:
        return "n/a"
    return f"{x:.3f}{f'&nbsp;{escape(unit)}' if unit else ''}"


def _lower(words: str) -> str:
    return words[0].lower() + words[1:]


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
    real, synthetic = found["coverage"], found["synthetic_coverage"]
    if real > MUCH_LESS * synthetic:
        return ""
    return (
        f'<p class="notice">The real traces have an event in {percent(real)} of the instants of '
        f"the days they cover, the synthetic ones in {percent(synthetic)}. Stays and places per "
        "day differ for that reason alone.</p>"
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
        f"<strong>{i + 1}</strong><span>{escape(c['title'])}</span>"
        f"<small>{c['tv']:.3f} apart</small><p>{escape(c['description'])}</p></label>"
        for i, c in enumerate(clusters)
    )
    return (
        f"<p>The model describes users by {len(clusters)} factors, each with places and hours of "
        f"its own. A factor’s cluster is the tenth of the training users ({users:,}) with most "
        "of it; a user can belong to several, or to none. If the traces made from them visit "
        "what they visited, the cluster survived.</p>"
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
        ("Settings", account["settings"]),
        ("Time and memory", account["effort"]),
    )
    body = "".join(f"<div><h3>{name}</h3>{_pairs(values)}</div>" for name, values in blocks)
    return f'<div class="columns">{body}</div>'


def _pairs(values: Mapping[str, str]) -> str:
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in values.items())
    return f"<dl>{''.join(rows)}</dl>"
