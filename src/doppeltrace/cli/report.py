"""`doppeltrace report`: the pages of a finished run, made again."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli import publication
from doppeltrace.cli.console import results, warn
from doppeltrace.pipeline.pages import rewrite_pages


def report(
    run_dir: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_DIR", help="Folder of a finished run (its --out).", show_default=False
        ),
    ],
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the internal page in a browser.")
    ] = False,
    audit: Annotated[
        Path | None,
        typer.Option(
            help="audit.json of `doppeltrace audit` with the same input, model and settings: the "
            "report shows it and the verdict counts it.",
            show_default=False,
        ),
    ] = None,
    title: publication.Title = None,
    description: publication.Description = None,
    licence: publication.Licence = None,
    citation: publication.Citation = None,
    contact: publication.Contact = None,
) -> None:
    """Make the report and the datasheet of a run again.

    From what the run's folder keeps (findings.json, manifest.json and the
    traces): after an update of doppeltrace, or to give the public datasheet a
    title, licence or citation, which the run's folder then keeps. The traces
    are not touched.
    """
    page, public = rewrite_pages(
        run_dir,
        audit,
        title=title,
        description=description,
        licence=licence,
        citation=citation,
        contact=contact,
    )
    results.print(f"report    {page}  (internal)")
    results.print(f"datasheet {public}  (public: describes the traces)")
    if open_page and not webbrowser.open(page.resolve().as_uri()):
        warn(f"no browser was found: open {page} by hand")
