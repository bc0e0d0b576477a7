"""`doppeltrace tune`: settings of a model by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cli import options
from doppeltrace.cli.console import results, say
from doppeltrace.cli.options import MODEL, OUTPUT, TEST, build_model, named_settings
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.reading import Reading, takes_reading_options
from doppeltrace.files import atomic_file, check_file
from doppeltrace.pipeline.synthesis import DEFAULT_MODEL
from doppeltrace.safeguards.rare_places import MIN_USERS
from doppeltrace.streams import fresh_seed
from doppeltrace.tuning.run import MIN_PASS_RATE
from doppeltrace.tuning.run import tune as run


@takes_reading_options
def tune(
    input: options.Input,
    reading: Reading,
    model: options.Model = DEFAULT_MODEL,
    budget: Annotated[
        float, typer.Option(help="Minutes; the model's own settings are always tried.")
    ] = 10.0,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 3,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="crowd: ε of its differential privacy (1).",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="crowd: δ (1e-6).", rich_help_panel=MODEL, show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting that stays as it is. Repeat for more.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    traces_per_user: Annotated[
        int, typer.Option(help="Synthetic traces per user.", rich_help_panel=MODEL)
    ] = 1,
    k: Annotated[
        int, typer.Option("--k", help="k of the deniability test.", rich_help_panel=TEST)
    ] = 10,
    eta: Annotated[float, typer.Option(help="η of the test.", rich_help_panel=TEST)] = 1.0,
    min_pass_rate: Annotated[
        float, typer.Option(help="Share of the traces that must pass.", rich_help_panel=TEST)
    ] = MIN_PASS_RATE,
    min_users: Annotated[
        int,
        typer.Option(help="Training users that a place needs.", rich_help_panel=TEST),
    ] = MIN_USERS,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Also write the table to this file.", rich_help_panel=OUTPUT),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed; by default from the operating system.", show_default=False),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Choose settings of a model by cross-validation on INPUT.

    Settings are tried for so many minutes, each trained on a part of the users
    and scored against the others by the summary, counting only traces that
    pass the test. Testing users (--split) take no part.

    The table depends on the users: it is internal.

    For example:

      doppeltrace tune checkins.csv --split 0.2 --model doppel --budget 10
    """
    if json_file is not None:
        check_file(json_file)
    seed = fresh_seed() if seed is None else seed
    given = {"epsilon": epsilon, "delta": delta, "seed": seed, "threads": threads}
    start = build_model(model, given, settings)
    reporter = Reporter()
    with reporter.phase("reading"):
        data = reading.read(input, seed)
    with reporter.phase("tuning"):
        found = run(
            data,
            start,
            budget=budget,
            fixed=named_settings(settings),
            folds=folds,
            traces_per_user=traces_per_user,
            k=k,
            eta=eta,
            min_pass_rate=min_pass_rate,
            min_users=min_users,
            seed=seed,
            callback=reporter,
        )
    if json_file is not None:
        with atomic_file(json_file) as partial:
            partial.touch(mode=0o600)
            partial.write_text(found.to_json() + "\n", encoding="utf-8")
    results.print(found.to_table())
    results.print(f"privacy   {found.privacy}", markup=False)
    chosen = " ".join(f"--set {name}={value}" for name, value in found.changed.items())
    results.print(f"add to synthesize: {chosen or 'nothing, the settings are best as they are'}")
    for note in found.notes:
        say(note)
