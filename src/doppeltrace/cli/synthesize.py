"""`doppeltrace synthesize`: from a file of traces to a release."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli import options, publication
from doppeltrace.cli.console import results, say, warn
from doppeltrace.cli.options import MODEL, OUTPUT, TEST, build_model
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.reading import Reading, takes_reading_options
from doppeltrace.errors import InputError, OutputError
from doppeltrace.pipeline.checkpoint import RunCheckpoint
from doppeltrace.pipeline.run import Run, file_hash
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.release import Release, read_release
from doppeltrace.report.public import datasheet
from doppeltrace.report.public.publication import Publication
from doppeltrace.streams import fresh_seed


class OutputFormat(StrEnum):
    """How released traces are written."""

    csv = "csv"
    parquet = "parquet"


@takes_reading_options
def synthesize(
    input: options.Input,
    reading: Reading,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the release; appears complete or not at all.",
            rich_help_panel=OUTPUT,
        ),
    ],
    model: options.Model = options.DEFAULT_MODEL,
    traces_per_user: Annotated[
        int, typer.Option(help="Synthetic traces per input user.", rich_help_panel=MODEL)
    ] = 1,
    length: Annotated[
        int | None,
        typer.Option(
            help="Events per trace; by default the clock's instants.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="ppmtf, itf: precision of the counts; high for utility, low for privacy.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    factors: Annotated[
        int | None, typer.Option(help="Number of factors z.", rich_help_panel=MODEL)
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Training iterations.", rich_help_panel=MODEL)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting of the model. Repeat for more.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    k: Annotated[
        int,
        typer.Option(
            "--k", help="Users who must plausibly stand behind a trace.", rich_help_panel=TEST
        ),
    ] = 10,
    eta: Annotated[
        float,
        typer.Option(
            help="How alike their likelihoods must be (within e^η).", rich_help_panel=TEST
        ),
    ] = 1.0,
    verifiers: Annotated[
        int | None,
        typer.Option(
            help="Test against this many users drawn at random; by default all.",
            rich_help_panel=TEST,
            show_default=False,
        ),
    ] = None,
    count_all: Annotated[
        bool,
        typer.Option(
            "--count-all",
            help="Count plausible users beyond k, for the report's pass rate over k (slower).",
            rich_help_panel=TEST,
        ),
    ] = False,
    randomized_test: Annotated[
        bool,
        typer.Option(
            "--randomized-test",
            help="Draw input users at random and add Laplace noise to k, which gives one "
            "trace, alone, differential privacy if the model does not depend on the input.",
            rich_help_panel=TEST,
        ),
    ] = False,
    epsilon0: Annotated[
        float,
        typer.Option(help="Randomized test: the noise has scale 1/ε₀.", rich_help_panel=TEST),
    ] = 1.0,
    delta: Annotated[
        float,
        typer.Option(help="Randomized test: the δ at which ε is stated.", rich_help_panel=TEST),
    ] = 1e-3,
    no_test: Annotated[
        bool,
        typer.Option(
            "--no-test",
            help="Release without the test: for models that have none, and for research only.",
            rich_help_panel=TEST,
        ),
    ] = False,
    output_format: Annotated[
        OutputFormat, typer.Option(help="Format of the traces.", rich_help_panel=OUTPUT)
    ] = OutputFormat.csv,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace an earlier run.", rich_help_panel=OUTPUT),
    ] = False,
    keep_model: Annotated[
        Path | None,
        typer.Option(
            help="Also keep the trained model in this file. It is as secret as the input.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on where the same command was stopped, from what it kept in OUT.unfinished.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    checkpoint_seconds: Annotated[
        float,
        typer.Option(
            help="How often what is done is kept. It is as secret as the input, and removed "
            "when the run is done.",
            rich_help_panel=OUTPUT,
        ),
    ] = 30.0,
    no_checkpoint: Annotated[
        bool,
        typer.Option(
            "--no-checkpoint",
            help="Keep nothing on the disk until the release stands; a stopped run is lost.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    title: publication.Title = None,
    description: publication.Description = None,
    licence: publication.Licence = None,
    citation: publication.Citation = None,
    contact: publication.Contact = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed, to repeat a run; by default from the operating system. Keep it secret.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Make synthetic traces of INPUT, test each of them, and release those that pass.

    Writes to the output folder what may be published, the traces (traces.csv
    or traces.parquet) and datasheet.html, which describes them; and for
    internal use manifest.json and report.html, with scores if the input has
    testing users (--split).

    A folder of people flow, ten traces per user:

      doppeltrace synthesize people_flow/ --traces-per-user 10 --out run

    Check-ins at venues, in two-hour slots that repeat daily:

      doppeltrace synthesize checkins.csv.gz --places venues.csv --top-places 1000
      --instants-per-slot 2 --k 10 --eta 1 --out run

    Positions, put on a grid, every 20 minutes of the day:

      doppeltrace synthesize gps.parquet --grid 20x20 --timezone Asia/Tokyo
      --bounds 35.65,139.68,35.75,139.80 --instant-minutes 20
      --first-hour 9 --last-hour 19 --out run

    One of the paper's cities, from the raw Foursquare files, tested against
    32,000 users drawn at random; if it is stopped, --resume goes on:

      doppeltrace synthesize dataset_WWW2019/ --city Istanbul --top-places 1000
      --instants-per-slot 2 --verifiers 32000 --output-format parquet --out run
    """
    unfinished = None if no_checkpoint else RunCheckpoint(out)
    if resume and unfinished is not None and unfinished.released:
        unfinished.remove()
        announce_paths(read_release(out))
        return
    chosen = _choose_seed(seed, unfinished if resume else None)
    synthesizer = build_model(
        model,
        {"alpha": alpha, "factors": factors, "iterations": iterations, "seed": chosen,
         "threads": threads},
        settings,
    )  # fmt: skip
    wish = RunSettings(
        out=out,
        seed=chosen,
        traces_per_user=traces_per_user,
        length=length,
        k=None if no_test else k,
        eta=eta,
        verifiers=verifiers,
        epsilon0=epsilon0 if randomized_test else None,
        delta=delta,
        count_all=count_all,
        output_format=output_format.value,
        overwrite=overwrite,
        keep_model=keep_model,
        resume=resume,
        checkpoint_seconds=None if no_checkpoint else checkpoint_seconds,
        publication=Publication().changed(
            title=title,
            description=description,
            licence=licence,
            citation=citation,
            contact=contact,
        ),
    )
    wish.check()
    wish.check_model(synthesizer)
    if unfinished is not None:
        _look_at(unfinished, resume, overwrite)
    if seed is not None:
        warn(
            "the seed was given: whoever learns it can replay every user's random numbers and "
            "so link released traces to users; keep it secret, or leave --seed out"
        )
    if no_test:
        warn("no deniability test: every trace is released, whomever it resembles")
    secret = (
        "holds every input user's profile and the seed, so whoever gets it can undo the privacy "
        "of the release"
    )
    if keep_model is not None:
        warn(f"the model will be kept in {keep_model}: it {secret}")
    reporter = Reporter()
    if not input.exists():
        raise InputError(f"{input} does not exist: check the path of the input")
    sha256 = file_hash(input)
    with reporter.phase("reading"):
        data = reading.read(input, wish.seed)
    say(str(data.validation))
    if data.test is not None:
        say(
            f"  {data.train.n_users:,} users to learn from, {data.test.n_users:,} testing users "
            "to score against"
        )
    source = {
        "path": input,
        "sha256": sha256,
        "options": {name: str(value) for name, value in reading.options.items()},
        "validation": data.validation.to_dict(),
    }
    run = Run(wish, synthesizer, source, reporter, unfinished=unfinished)
    announce_paths(run.perform(data.train, data.test, title=f"Synthetic traces of {input.name}"))
    if keep_model is not None:
        results.print(f"model     {keep_model}  (secret)")


def _choose_seed(given: int | None, unfinished: RunCheckpoint | None) -> int:
    """Return the seed given, else that of the run to be resumed, else a fresh one."""
    if given is None and unfinished:
        return unfinished.seed
    return fresh_seed() if given is None else given


def _look_at(unfinished: RunCheckpoint, resume: bool, overwrite: bool) -> None:
    """Say what becomes of a run that was stopped; nothing that took long is lost unasked."""
    if resume:
        if unfinished:
            say(f"going on from {unfinished.folder}")
        else:
            say("there is nothing to resume: starting from the beginning")
    elif unfinished.has_begun and not overwrite:
        raise OutputError(
            f"{unfinished.folder} holds a run that was stopped: go on from it with --resume, or "
            "discard it with --overwrite"
        )
    elif unfinished:
        unfinished.remove()


def announce_paths(done: Release) -> None:
    """Print where everything is."""
    results.print(f"released {done.released:,} of {done.made:,} traces ({done.events:,} events)")
    results.print(f"traces    {done.traces}")
    results.print(f"datasheet {done.folder / datasheet.NAME}  (public, like the traces)")
    results.print(f"manifest  {done.manifest}  (internal: holds the seed)")
    results.print(f"report    {done.folder / 'report.html'}  (internal)")
