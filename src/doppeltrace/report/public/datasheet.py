"""`datasheet.html`, the page that is published with the traces.

It is made of three things only: the file of released traces, the allow-listed settings
(`publication.Method`) and the publisher's words (`publication.Publication`). No count, name,
path or hash of the input, no pass rate, score, attack, seed, time or host can get in, for none
of them is handed over: two inputs that lead to the same released traces lead to the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from doppeltrace.deniability.randomized import one_trace_privacy
from doppeltrace.errors import InputError
from doppeltrace.files import MARKER, atomic_file
from doppeltrace.release.exports.source import released_file
from doppeltrace.report.public.publication import MODELS, Method, Publication, Test
from doppeltrace.report.public.released import ReleasedFigures
from doppeltrace.report.public.sections import duration, figures

NAME = "datasheet.html"
DEFAULT_TITLE = "Synthetic location traces"

PAPER = (
    "T. Murakami, K. Hamada, Y. Kawamoto, T. Hatano: Privacy-Preserving Multiple Tensor "
    "Factorization for Synthesizing Large-Scale Location Traces with Cluster-Specific Features. "
    "Proceedings on Privacy Enhancing Technologies, 2021."
)
MODELS_OF_THE_PAPER = ("ppmtf", "itf")

COLUMNS = (
    ("uid", "integer", "Number of the trace, given after the traces had been sorted by their "
     "content: it stands for nobody."),
    ("tid", "integer", "Number of the trace within its uid; always 0."),
    ("datetime", "local time, ISO 8601", "When the event is. It has no time zone, and where the "
     "traces stand for a typical day, its date has no meaning."),
    ("lat", "degrees, WGS 84", "Latitude of the place, or of the centre of the cell."),
    ("lng", "degrees, WGS 84", "Longitude of the place, or of the centre of the cell."),
    ("location", "label", "Name or number of the place or cell."),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Facts:
    """All that the page is made of."""

    figures: ReleasedFigures
    method: Method
    publication: Publication


def datasheet(traces: Path, method: Method, publication: Publication | None = None) -> str:
    """Return the page for a file of released traces."""
    return render_datasheet(
        Facts(ReleasedFigures.of(traces), method, publication or Publication())
    )


def datasheet_of_run(run_dir: str | Path, **words: str | None) -> str:
    """Return the page for a run's folder, made again.

    Parameters
    ----------
    words : fields of `Publication` (title, description, licence, citation, contact) that replace
        those that `synthesize` was told; None leaves a field as it is.
    """
    folder = Path(run_dir)
    manifest, method = _manifest(folder)
    publication = Publication.of_manifest(manifest).changed(**words)
    return datasheet(released_file(folder), method, publication)


def keep_words(run_dir: str | Path, **words: str | None) -> None:
    """Write words that replace those of `synthesize` to the run's manifest, as given above."""
    if all(text is None for text in words.values()):
        return
    folder = Path(run_dir)
    manifest, _ = _manifest(folder)
    manifest["publication"] = asdict(Publication.of_manifest(manifest).changed(**words))
    with atomic_file(folder / MARKER) as partial:
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _manifest(folder: Path) -> tuple[dict[str, Any], Method]:
    try:
        manifest = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        return manifest, Method.of_manifest(manifest)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder} is no run: give a folder that `doppeltrace synthesize` wrote"
        ) from error


def render_datasheet(facts: Facts) -> str:
    """Return the page."""
    room = files("doppeltrace.report.public")
    told = facts.publication
    return Template(room.joinpath("datasheet.html").read_text("utf-8")).substitute(
        style=room.joinpath("datasheet.css").read_text("utf-8").strip(),
        title=escape(told.title or DEFAULT_TITLE),
        description=_given(told.description),
        glance=_glance(facts),
        what=_what(facts.method),
        privacy=_privacy(facts.method.test),
        columns=_columns(),
        figures=figures(facts.figures),
        made=_made(facts.method),
        use=_use(told),
        version=version("doppeltrace"),
    )


def _glance(facts: Facts) -> str:
    f = facts.figures
    span = "no events"
    if f.first is not None and f.last is not None:
        same_day = f.first.date() == f.last.date()
        span = f"{f.first:%Y-%m-%d %H:%M} to {f.last:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}}"
        span += ", local time"
    rows = {
        "traces": f"{f.traces:,}",
        "events": f"{f.events:,}",
        "places visited": f"{f.places:,}",
        "time": span,
        "one instant": "–" if f.step_minutes is None else duration(f.step_minutes / 60),
        "file": f"{f.file}, {_size(f.bytes)}",
        "SHA-256 of the file": f.sha256,
        "licence": facts.publication.licence or "not stated",
    }
    return _pairs(rows.items())


def _what(method: Method) -> str:
    tested = (
        "Each trace was then tested on its own, and only traces that passed are in the file."
        if method.test
        else "They were not tested before they were published."
    )
    return f"""<p>Each trace follows a person who does not exist. A statistical model learned from
location traces how a population moves through the day; the traces in this file were drawn from the
model. {tested}</p>
<p>They are meant for questions about many people at once, such as where a population is at which
time of day; for teaching; and for building and testing programs.</p>
<p>They are not meant for:</p>
<ul>
<li>conclusions about any one person: no row records where somebody was;</li>
<li>counts of people: the number of traces says nothing about how many people were observed;</li>
<li>how often people move, at which hours, and how long they stay: models of this kind tend to even
that out, so the figures below describe the file, not the people;</li>
<li>rare places, rare events and single days, which a model of this kind smooths away;</li>
<li>decisions that need exact figures: ask the publisher how close the traces come to the data they
stand for. This sheet does not say, since such figures would be computed from real people.</li>
</ul>"""


def _privacy(test: Test | None) -> str:
    if test is None:
        return (
            "<p><strong>The traces were published without a deniability test.</strong> A trace "
            "may resemble that of one real person; nothing was done to find out.</p>"
        )
    asked = (
        "all users of the input"
        if test.verifiers is None
        else f"{test.verifiers:,} users of the input, drawn at random"
    )
    rows = [
        ("test", f"{'randomized ' * (test.epsilon0 is not None)}plausible deniability"),
        ("users who must be plausible, k", f"{test.k:,}"),
        ("likelihoods alike within a factor e^η, η", f"{test.eta:g}"),
        ("users compared", asked),
    ]
    if test.epsilon0 is not None and test.delta is not None:
        one = one_trace_privacy(test.k, test.eta, test.epsilon0, test.delta)
        rows += [
            ("noise on k", f"Laplace with scale 1/ε₀, ε₀ = {test.epsilon0:g}"),
            ("one trace alone", f"ε = {one.epsilon:.3g} at δ = {test.delta:g}, see below"),
        ]
    noise = ", after noise was added to that number" if test.epsilon0 is not None else ""
    randomized = (
        """<li>differential privacy of the file. The ε and δ above hold for one trace alone, and
only if the model did not depend on the input; one trained on the same users does.</li>"""
        if test.epsilon0 is not None
        else "<li>differential privacy: this test gives none.</li>"
    )
    return f"""{_pairs(rows)}
<p>In plain words: a trace was published only if at least {test.k:,} users of the input, the one it
was drawn from among them, could have given rise to it with about the same probability (within a
factor of {_factor(test.eta)}){noise}. Whoever looks at one trace, even knowing the whole model,
cannot tell by its probability from which of these users it came.</p>
<p>It does not promise:</p>
<ul>
<li>anything about many traces together: each was tested alone, and several may have been drawn
from the profile of the same user;</li>
<li>that it stays hidden whether somebody was in the input at all;</li>
{randomized}
</ul>"""


def _columns() -> str:
    rows = "".join(
        f'<tr><th scope="row"><code>{name}</code></th><td>{unit}</td><td>{meaning}</td></tr>'
        for name, unit, meaning in COLUMNS
    )
    return (
        '<table><thead><tr><th scope="col">column</th><th scope="col">kind and unit</th>'
        f'<th scope="col">meaning</th></tr></thead><tbody>{rows}</tbody></table>'
        "<p>Labels and coordinates are those of the publisher’s list of places, or of the cells "
        "of a grid; no row is a position that was measured.</p>"
    )


def _made(method: Method) -> str:
    rows = [("model", MODELS.get(method.model, method.model)), *method.settings]
    return (
        f"{_pairs(rows)}<p>{escape(_source(method))}</p><p>Released traces were sorted by their "
        "content and numbered afresh, so that their order tells nothing.</p>"
    )


def _source(method: Method) -> str:
    """Return whose model it is, and whose protocol."""
    if method.model in MODELS_OF_THE_PAPER:
        return f"Method: {PAPER}"
    name = MODELS.get(method.model, method.model).partition(":")[0]
    whose = f"{name} (doppeltrace)" if method.model == "doppel" else name
    after = "protocol and deniability test" if method.test else "protocol"
    return f"Model: {whose}; {after} after {PAPER}"


def _use(told: Publication) -> str:
    licence = (
        told.licence or "None is stated: ask the publisher before you use or pass on the file."
    )
    rows = [("licence", licence), ("citation", told.citation or "None is stated.")]
    return _pairs([*rows, ("contact", told.contact or "None is stated.")])


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    items = (
        f'<dt>{escape(name)}</dt><dd class="given">{escape(text)}</dd>' for name, text in rows
    )
    return f"<dl>{''.join(items)}</dl>"


def _given(text: str) -> str:
    return f'<p class="given">{escape(text)}</p>' if text else ""


def _factor(eta: float) -> str:
    return f"e^{eta:g} ≈ {2.718281828459045**eta:.3g}"


def _size(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000  # type: ignore[assignment]
    return f"{size:.3g} GB"
