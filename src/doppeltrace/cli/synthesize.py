"""`doppeltrace synthesize`: from a file of traces to a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli import options, publication, seeds
from doppeltrace.cli.console import results
from doppeltrace.cli.options import MODEL, OUTPUT, TEST, OutputFormat, build_model
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.reading import Reading, takes_reading_options
from doppeltrace.cli.results import announce, announce_folder
from doppeltrace.errors import InputError, SettingsError
from doppeltrace.io.dataset import Dataset
from doppeltrace.pipeline import synthesize as run
from doppeltrace.pipeline.source import Source
from doppeltrace.pipeline.synthesis import DEFAULT_MODEL, finished_before
from doppeltrace.safeguards.rare_places import MIN_USERS


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
    model: options.Model = DEFAULT_MODEL,
    traces_per_user: Annotated[
        int, typer.Option(help="Synthetic traces per input user.", rich_help_panel=MODEL)
    ] = 1,
    traces: Annotated[
        int | None,
        typer.Option(
            help="Synthetic traces in all, in place of --traces-per-user.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
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
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="crowd: ε of its differential privacy (1).",
            rich_help_panel=MODEL,
            show_default=False,
        ),
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
    min_users: Annotated[
        int,
        typer.Option(
            help="Training users that a place needs: places with fewer are merged into the "
            "nearest one with enough before anything is learned. 1 merges nothing, and needs "
            "--allow-rare-places.",
            rich_help_panel=TEST,
        ),
    ] = MIN_USERS,
    allow_rare_places: Annotated[
        bool,
        typer.Option(
            "--allow-rare-places",
            help="Release places of few people all the same. They give these people away.",
            rich_help_panel=TEST,
        ),
    ] = False,
    max_events: Annotated[
        int | None,
        typer.Option(
            help="Events of one user that the model may see; by default ten times the typical "
            "user's.",
            rich_help_panel=TEST,
            show_default=False,
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            help="Users who must plausibly stand behind a trace (10).",
            rich_help_panel=TEST,
            show_default=False,
        ),
    ] = None,
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
        float | None,
        typer.Option(
            help="δ of the privacy of crowd (1e-6), or at which the randomized test states ε "
            "(1e-3).",
            rich_help_panel=TEST,
            show_default=False,
        ),
    ] = None,
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
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="Start even if the memory that is free may not suffice.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    title: publication.Title = None,
    description: publication.Description = None,
    licence: publication.Licence = None,
    citation: publication.Citation = None,
    contact: publication.Contact = None,
    seed: seeds.Seed = None,
    seed_file: seeds.SeedFile = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Make synthetic traces of INPUT, test each of them, and release those that pass.

    Writes to OUT/public what may be handed on: the traces (traces.csv or
    traces.parquet), and datasheet.html, which describes them. OUT/internal
    must not leave: manifest.json, which holds the seed; report.html, with
    scores if the input has testing users (--split); findings.json.

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
    if resume and not no_checkpoint and (release := finished_before(out)) is not None:
        announce_folder(release)
        return
    chosen, warning = seeds.choose_seed(seed, seed_file)
    synthesizer = build_model(
        model,
        {"alpha": alpha, "factors": factors, "iterations": iterations, "epsilon": epsilon,
         "delta": None if randomized_test else delta, "seed": chosen, "threads": threads},
        settings,
    )  # fmt: skip
    if no_test and k is not None:
        raise SettingsError("--no-test and --k exclude each other: leave one of them out")
    reporter = Reporter()
    if warning is not None:
        reporter.warn(warning)

    def read(seed: int) -> Dataset:
        if not input.exists():
            raise InputError(f"{input} does not exist: check the path of the input")
        data = reading.read(input, seed)
        reporter.say(str(data.validation))
        if data.test is not None:
            reporter.say(
                f"  {data.train.n_users:,} users to learn from, {data.test.n_users:,} testing "
                "users to score against"
            )
        return data

    done = run(
        read,
        synthesizer,
        traces_per_user=traces_per_user,
        n_traces=traces,
        length=length,
        min_users=min_users,
        allow_rare_places=allow_rare_places,
        max_events=max_events,
        k=None if no_test else 10 if k is None else k,
        eta=eta,
        verifiers=verifiers,
        epsilon0=epsilon0 if randomized_test else None,
        delta=1e-3 if delta is None else delta,
        count_all=count_all,
        seed=chosen,
        out=out,
        output_format=output_format.value,
        overwrite=overwrite,
        keep_model=keep_model,
        resume=resume,
        checkpoint_seconds=None if no_checkpoint else checkpoint_seconds,
        anyway=anyway,
        publication={
            "title": title,
            "description": description,
            "licence": licence,
            "citation": citation,
            "contact": contact,
        },
        source=Source.of_file(input, reading.words),
        monitor=reporter,
    )
    announce(done)
    if keep_model is not None:
        results.print(f"model     {keep_model}  (secret)")
