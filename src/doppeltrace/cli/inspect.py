"""`doppeltrace validate` and `doppeltrace evaluate`: look at inputs and at results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli import options
from doppeltrace.cli.console import results
from doppeltrace.cli.options import reader_options
from doppeltrace.cli.progress import Reporter
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import InputError
from doppeltrace.evaluation import evaluate as score
from doppeltrace.io.atomic import atomic_file, check_file
from doppeltrace.io.readers import read
from doppeltrace.io.synthetic import read_synthetic


def validate(
    input: options.Input,
    format: options.Format = "auto",
    columns: options.Columns = None,
    places: options.Places = None,
    grid: options.Grid = None,
    bounds: options.BoundsText = None,
    top_places: options.TopPlaces = None,
    timezone: options.Timezone = None,
    time_format: options.TimeFormat = None,
    instant_minutes: options.InstantMinutes = None,
    instants_per_slot: options.InstantsPerSlot = None,
    first_hour: options.FirstHour = None,
    last_hour: options.LastHour = None,
    daily: options.Daily = None,
    drop_invalid: options.DropInvalid = False,
) -> None:
    """Read INPUT and say what would be kept and dropped, with row numbers; write nothing.

    Takes the same reading options as `synthesize`.

    For example:

      doppeltrace validate checkins.csv --grid 20x20 --timezone America/New_York --drop-invalid
    """
    reading = reader_options(
        columns=columns,
        places=places,
        grid=grid,
        bounds=bounds,
        top_places=top_places,
        timezone=timezone,
        time_format=time_format,
        instant_minutes=instant_minutes,
        instants_per_slot=instants_per_slot,
        first_hour=first_hour,
        last_hour=last_hour,
        daily=daily,
        drop_invalid=drop_invalid,
    )
    results.out(str(read(input, format, **reading).validation), highlight=False)


def evaluate(
    data: Annotated[
        Path,
        typer.Option(
            help="The input: a folder with training and testing traces.", show_default=False
        ),
    ],
    synthetic: Annotated[
        Path, typer.Option(help="File of synthetic traces to score.", show_default=False)
    ],
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Also write the scores to this file, as one flat object."),
    ] = None,
    format: options.Format = "auto",
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Score synthetic traces: how useful they are, and how well attacks on them do.

    Knows releases of ours and the files of the published tools. A release names no owners, so
    attacks that need them are left out for it.

    For example:

      doppeltrace evaluate --data people_flow/ --synthetic run/traces.csv --json score.json
    """
    if json_file is not None:
        check_file(json_file)
    reporter = Reporter()
    with reporter.phase("reading"):
        dataset = read(data, format)
        if dataset.test is None:
            raise InputError(f"{data}: there are no testing traces to score against")
        traces = read_synthetic(synthetic, like=dataset.train)
    with reporter.phase("evaluation"), use_threads(threads):
        card = score(train=dataset.train, test=dataset.test, synthetic=traces)
    results.print(card.to_table())
    if json_file is not None:
        with atomic_file(json_file) as partial:
            partial.write_text(card.to_json() + "\n", encoding="utf-8")
