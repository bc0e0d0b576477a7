"""`doppeltrace export`: a release in the format of another program."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli.console import results
from doppeltrace.files import check_file
from doppeltrace.release.exports import files
from doppeltrace.release.exports.source import released_file

ExportFormat = StrEnum("ExportFormat", {name: name for name in files.FORMATS})  # type: ignore[misc]


def export(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_DIR",
            help="Folder that `synthesize` wrote, or the file of traces in it.",
            show_default=False,
        ),
    ],
    to: Annotated[Path, typer.Option(help="File to write.", show_default=False)],
    format: Annotated[
        ExportFormat | None,
        typer.Option(help="Format; by default what the file's name ends in.", show_default=False),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier file.")
    ] = False,
) -> None:
    """Write the released traces of RUN_DIR in the format of another program.

    Reads the public file of released traces only, and writes what it holds and no
    more: the export may be published as the release may.

    For maps in a browser or a GIS, one point per event:

      doppeltrace export run --to traces.geojson

      doppeltrace export run --to traces.geoparquet

    For kepler.gl:

      doppeltrace export run --format kepler --to kepler.csv
    """
    chosen = None if format is None else format.value
    files.format_of(to, chosen)
    files.check_apart(to, released_file(release))
    check_file(to, overwrite=overwrite)
    results.print(f"export    {files.export(release, to, chosen)}")
