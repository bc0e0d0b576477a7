"""`doppeltrace report`: the pages of a finished run, made again."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli import publication
from doppeltrace.cli.console import results, warn
from doppeltrace.files import atomic_file
from doppeltrace.report.internal.files import PAGE, read_findings
from doppeltrace.report.internal.page import render
from doppeltrace.report.public import datasheet


def report(
    run_dir: Annotated[
        Path, typer.Argument(help="Folder of a finished run (its --out).", show_default=False)
    ],
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the internal page in a browser.")
    ] = False,
    title: publication.Title = None,
    description: publication.Description = None,
    licence: publication.Licence = None,
    citation: publication.Citation = None,
    contact: publication.Contact = None,
) -> None:
    """Make report.html and datasheet.html of a finished run again.

    From what the run's folder keeps (findings.json, manifest.json and the
    traces): after an update of doppeltrace, or to give the public datasheet a
    title, licence or citation, which the run's folder then keeps. The traces
    are not touched.
    """
    page = render(read_findings(run_dir))
    words = {
        "title": title,
        "description": description,
        "licence": licence,
        "citation": citation,
        "contact": contact,
    }
    public = datasheet.datasheet_of_run(run_dir, **words)
    datasheet.keep_words(run_dir, **words)
    home = run_dir / PAGE
    with atomic_file(home) as partial:
        partial.touch(mode=0o600)
        partial.write_text(page, encoding="utf-8")
    with atomic_file(run_dir / datasheet.NAME) as partial:
        partial.write_text(public, encoding="utf-8")
    results.print(f"report    {home}  (internal)")
    results.print(f"datasheet {run_dir / datasheet.NAME}  (public, like the traces)")
    if open_page and not webbrowser.open(home.resolve().as_uri()):
        warn(f"no browser was found: open {home} by hand")
