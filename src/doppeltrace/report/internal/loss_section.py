"""The page's words and table about what is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from doppeltrace.report.figures.words import clock_time, percent, unbroken
from doppeltrace.report.internal.losses import NO_YARDSTICK, NOT_COMPARABLE, RULES, verdict

WITHOUT_TESTING_USERS = (
    '<p class="notice">There were no testing users, so the traces are compared with the training '
    "users they were made from, which looks better than it is; the training users’ own distance "
    "is 0 here and says nothing. Compare with the report of a run of the same settings with "
    "<code>--split</code>, which keeps some users apart for an honest score.</p>"
)


def reference(found: Mapping[str, Any]) -> str:
    """Return who the real users of the page are."""
    users = f"{found['reference_users']:,}"
    if found["reference"] == "testing":
        return f"the {users} testing users, whom the model never saw"
    return f"the {users} training users"


def losses(found: Mapping[str, Any]) -> str:
    """Return the summary, the table of scores and the rules behind the words."""
    rows = found["losses"]
    if not rows:
        return '<p class="notice">Nothing was released, so there is nothing to score.</p>'
    tested = found["reference"] == "testing"
    meanings = [f"{row['label']}: {row['meaning']}." for row in rows]
    notes = "".join(
        f"<li>{escape(unbroken(note))}</li>" for note in (*meanings, *RULES, *found["notes"])
    )
    body = "".join(_row(row, tested) for row in rows)
    return (
        f"{'' if tested else WITHOUT_TESTING_USERS}{_reasons(rows, found['reference'])}"
        f"<p>Every figure is a distance from {reference(found)}: smaller is better. "
        "It means something beside two others: that of the <em>training</em> users, which is what "
        "real users of another sample get (smoothed traces can come nearer), and that of a "
        "<em>uniform</em> guess, which knows nothing.</p>"
        '<div class="wide"><table class="losses"><thead><tr><th scope="col">property</th>'
        '<th scope="col">synthetic</th><th scope="col">training</th><th scope="col">uniform</th>'
        '<th scope="col" class="scale-cell"><span class="track-ends">'
        "<span>nearer</span><span>farther</span></span></th>"
        '<th scope="col" class="text">verdict</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f"<details><summary>About these figures, and the rules behind the words</summary>"
        f"<ul>{notes}</ul></details>"
    )


def _reasons(rows: Sequence[Mapping[str, Any]], users: str) -> str:
    """Return why some properties have no yardstick or cannot be compared."""
    reasons = {
        NO_YARDSTICK: f"the training users are hardly nearer to the {users} users than a uniform "
        "guess, so these data cannot tell",
        NOT_COMPARABLE: "the real traces have too many gaps",
    }
    words = {row["verdict"] for row in rows}
    return "".join(
        f"<p><strong>{word.capitalize()}:</strong> {why}.</p>"
        for word, why in reasons.items()
        if word in words
    )


def _row(row: Mapping[str, Any], tested: bool) -> str:
    figures = [_figure(row[name], row["unit"]) for name in ("synthetic", "training", "uniform")]
    if not tested:
        figures[1] = "–"
    if row["spread"] is not None:
        figures[0] += f"<small>±&nbsp;{row['spread']:.3f}</small>"
    cells = "".join(
        f'<td data-label="{name}">{figure}</td>'
        for name, figure in zip(("synthetic", "training", "uniform"), figures, strict=True)
    )
    lost = row["lost"]
    track, word = "", escape(row["verdict"])
    if lost is not None:
        at = min(1.0, max(0.0, lost))
        beyond = ' class="beyond"' if lost > 1 else ""
        track = f'<span class="track"><i{beyond} style="left:{at:.1%}"></i></span>'
        if row["verdict"] != verdict(lost):
            word += ": the means differ"
        else:
            word += ", worse than uniform" if lost > 1 else ", nearer than training" * (lost < 0)
    return (
        f'<tr><th scope="row">{escape(row["plain"])}<small>{escape(row["label"])}</small>'
        f"{_means(row)}</th>{cells}"
        f'<td class="scale-cell">{track}</td><td class="text word">{word}</td></tr>'
    )


def _means(row: Mapping[str, Any]) -> str:
    """Return both means of a property that is one number."""
    if row["real_mean"] is None or row["synthetic_mean"] is None:
        return ""
    real, synthetic = (_mean(row[name], row["unit"]) for name in ("real_mean", "synthetic_mean"))
    return f'<small class="means">mean {real} real, {synthetic} synthetic</small>'


def _mean(x: float, unit: str) -> str:
    if unit == "%":
        return percent(x)
    return f"{clock_time(x) if unit == 'h' else f'{x:.3g}'}&nbsp;{escape(unit)}"


def _figure(x: float | None, unit: str) -> str:
    if x is None:
        return "n/a"
    if unit == "%":
        return f"{100 * x:.1f}&nbsp;points"
    return f"{x:.3f}{f'&nbsp;{escape(unit)}' if unit else ''}"
