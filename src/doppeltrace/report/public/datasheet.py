"""`datasheet.html`, the page that is published with the traces.

It is made of three things only: the file of released traces, what `publication.Method` lets
pass (the model's description, its public settings, the guarantee, the safeguards in public
words) and the publisher's words (`publication.Publication`). No count, name, path or hash of
the input, no pass rate, score, attack, seed, time or host can get in, because none of them is
handed over: two inputs that lead to the same released traces lead to the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from doppeltrace.report.figures.promises import promise_rows
from doppeltrace.report.figures.templates import render_template
from doppeltrace.report.figures.words import duration
from doppeltrace.report.public.publication import Method, Publication
from doppeltrace.report.public.released import ReleasedFigures
from doppeltrace.report.public.sections import charts, maps

NAME = "datasheet.html"
DEFAULT_TITLE = "Synthetic location traces"

PAPER = (
    "T. Murakami, K. Hamada, Y. Kawamoto, T. Hatano: Privacy-Preserving Multiple Tensor "
    "Factorization for Synthesizing Large-Scale Location Traces with Cluster-Specific Features. "
    "Proceedings on Privacy Enhancing Technologies, 2021."
)

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


def render_datasheet(facts: Facts) -> str:
    """Return the page."""
    figures, method, told = facts.figures, facts.method, facts.publication
    return render_template(
        "public/datasheet.html.j2",
        title=told.title or DEFAULT_TITLE,
        description=told.description,
        glance=_glance(figures, told),
        guarantee=method.guarantee,
        promise=promise_rows(method.guarantee),
        safeguards=method.safeguards,
        columns=COLUMNS,
        events=figures.events,
        maps=maps(figures) if figures.events else None,
        busiest=figures.busiest,
        charts=charts(figures),
        method=[("model", method.description), *method.settings],
        source=_source(method),
        use=[
            ("licence", told.licence
             or "None is stated: ask the publisher before you use or pass on the file."),
            ("citation", told.citation or "None is stated."),
            ("contact", told.contact or "None is stated."),
        ],
        version=version("doppeltrace"),
    )  # fmt: skip


def _glance(figures: ReleasedFigures, told: Publication) -> list[tuple[str, str]]:
    f = figures
    span = "no events"
    if f.first is not None and f.last is not None:
        same_day = f.first.date() == f.last.date()
        span = f"{f.first:%Y-%m-%d %H:%M} to {f.last:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}}"
        span += ", local time"
    return [
        ("traces", f"{f.traces:,}"),
        ("events", f"{f.events:,}"),
        ("places visited", f"{f.places:,}"),
        ("time", span),
        ("one instant", "–" if f.step_minutes is None else duration(f.step_minutes / 60)),
        ("file", f"{f.file}, {_size(f.bytes)}"),
        ("SHA-256 of the file", f.sha256),
        ("licence", told.licence or "not stated"),
    ]


def _source(method: Method) -> str:
    """Return whose protocol it is."""
    tested = " and the deniability test" * (method.guarantee.kind == "plausible deniability")
    return f"The protocol{tested}, and the models PPMTF and ITF, follow {PAPER}"


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
