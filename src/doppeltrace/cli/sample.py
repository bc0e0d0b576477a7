"""`doppeltrace sample`: traces from a model that was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli import seeds
from doppeltrace.cli.options import OutputFormat
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.results import print_files
from doppeltrace.pipeline.resample import resample


def sample(
    model_file: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL_FILE",
            help="File that `synthesize --keep-model` wrote.",
            show_default=False,
        ),
    ],
    traces: Annotated[int, typer.Option(help="Traces to draw, in all.", show_default=False)],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the traces; appears complete or not at all.", show_default=False
        ),
    ],
    length: Annotated[
        int | None,
        typer.Option(
            help="Events per trace; by default the clock's instants.", show_default=False
        ),
    ] = None,
    output_format: Annotated[
        OutputFormat, typer.Option(help="Format of the traces.")
    ] = OutputFormat.csv,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier run.")
    ] = False,
    seed: seeds.Seed = None,
    seed_file: seeds.SeedFile = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Draw traces from a model that `synthesize` kept.

    The model file is enough; the training traces are not needed. The traces
    are not tested for plausible deniability: what they promise is what the
    model itself promises, which for most models is nothing.

    For example:

      doppeltrace sample model.safetensors --traces 1000 --out more
    """
    chosen, warning = seeds.choose_seed(seed, seed_file)
    reporter = Reporter()
    if warning is not None:
        reporter.warn(warning)
    print_files(
        resample(
            model_file,
            traces,
            out,
            length=length,
            output_format=output_format.value,
            overwrite=overwrite,
            seed=chosen,
            threads=threads,
            monitor=reporter,
        )
    )
