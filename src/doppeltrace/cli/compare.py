"""`doppeltrace compare`: several models on one data set."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli.console import results
from doppeltrace.cli.options import build_model
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.reading import Reading, takes_reading_options
from doppeltrace.comparison import compare as run
from doppeltrace.comparison import paper_grid
from doppeltrace.errors import SettingsError
from doppeltrace.files import atomic_file, check_file
from doppeltrace.plots import check_plot, plot_summary, plot_tradeoff, save_plot
from doppeltrace.streams import fresh_seed
from doppeltrace.synthesizers import Synthesizer

PAPER = "paper"
"""The name that stands for all settings of the paper's trade-off plots."""


@takes_reading_options
def compare(
    data: Annotated[
        Path,
        typer.Option(
            help="The original traces: a folder with training and testing traces, or a file "
            "with --split.",
            show_default=False,
        ),
    ],
    reading: Reading,
    models: Annotated[
        str,
        typer.Option(
            help="Models, separated by commas, each with settings if you like: "
            "sgd,ppmtf:alpha=1/200:factors=8. Values separated by "
            f"slashes make a curve; '{PAPER}' is the grid of the paper's trade-off plots.",
            show_default=False,
        ),
    ],
    traces_per_user: Annotated[int, typer.Option(help="Traces per input user.")] = 10,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed; by default from the operating system.", show_default=False),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write all scores to this file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Also write the table to this file, as Markdown.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw utility against the attacks: a .svg, .png or .pdf file."),
    ] = None,
    summary_plot: Annotated[
        Path | None,
        typer.Option(help="Also draw the summary against membership: a .svg, .png or .pdf file."),
    ] = None,
    audit_runs: Annotated[
        int,
        typer.Option(help="Also train each model so many times for LiRA's membership attack."),
    ] = 0,
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Fit several models to the same data and compare utility, attacks, time and memory.

    For example:

      doppeltrace compare --data people_flow/ --models doppel,ppmtf,sgd
      --plot tradeoff.svg
    """
    for file in (json_file, markdown, plot, summary_plot):
        if file is not None:
            check_file(file)
    for picture in (plot, summary_plot):
        if picture is not None:
            check_plot(picture)
    seed = fresh_seed() if seed is None else seed
    wanted = parse_models(models, seed, threads)
    reporter = Reporter()
    with reporter.phase("reading"):
        dataset = reading.read_split(data, seed)
        assert dataset.test is not None
    with reporter.phase("comparison"):
        found = run(
            dataset.train,
            dataset.test,
            wanted,
            traces_per_user=traces_per_user,
            seed=seed,
            audit_runs=audit_runs,
            callback=reporter,
        )
    results.print(found.to_table())
    for file, text in ((json_file, found.to_json()), (markdown, found.to_markdown())):
        if file is not None:
            with atomic_file(file) as partial:
                partial.write_text(text.rstrip() + "\n", encoding="utf-8")
    for picture, draw in ((plot, plot_tradeoff), (summary_plot, plot_summary)):
        if picture is not None:
            with atomic_file(picture) as partial:
                save_plot(draw(found), partial, kind=picture.suffix)


def parse_models(text: str, seed: int, threads: int | None) -> dict[str, list[Synthesizer]]:
    """Return label → synthesizers from a list such as `sgd,sglt:clusters=50:removal=0/1`."""
    if text.strip() == PAPER:
        return dict(paper_grid(seed, threads))
    wanted: dict[str, list[Synthesizer]] = {}
    for item in text.split(","):
        name, *texts = (part.strip() for part in item.split(":"))
        if not name:
            raise SettingsError("--models: a name is missing between two commas")
        choices = [_choices(part) for part in texts]
        label = item.strip()
        if label in wanted:
            raise SettingsError(f"--models: {label} is named twice")
        wanted[label] = [
            build_model(name, {"seed": seed, "threads": threads}, list(extra))
            for extra in itertools.product(*choices)
        ]
    return wanted


def _choices(text: str) -> list[str]:
    """Return `a=1/2` as [`a=1`, `a=2`]."""
    name, equals, values = text.partition("=")
    return [f"{name}{equals}{value}" for value in values.split("/")]
