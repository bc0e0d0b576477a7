"""`doppeltrace audit`: what a release would give away about one person."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from doppeltrace.audit.level0 import MIN_USERS
from doppeltrace.audit.run import audit as run
from doppeltrace.audit.runs import kept_seed
from doppeltrace.cli import options
from doppeltrace.cli.console import BLOCKED, results, say, warn
from doppeltrace.cli.options import MODEL, OUTPUT, TEST, build_model
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.reading import Reading, takes_reading_options
from doppeltrace.errors import OutputError
from doppeltrace.files import atomic_file, check_file
from doppeltrace.io.dataset import Dataset
from doppeltrace.pipeline.synthesis import DEFAULT_MODEL
from doppeltrace.streams import fresh_seed
from doppeltrace.traces import Traces

FILE, RUNS = "audit.json", "runs"


@takes_reading_options
def audit(
    input: options.Input,
    reading: Reading,
    model: options.Model = DEFAULT_MODEL,
    runs: Annotated[
        int,
        typer.Option(help="Trainings on copies of the input; fewer than 64 prove little."),
    ] = 64,
    traces_per_user: Annotated[
        int, typer.Option(help="Traces per input user, as in the release.", rich_help_panel=MODEL)
    ] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the model. Repeat for more.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    min_users: Annotated[
        int, typer.Option(help="People below whom a place is rare, and merged.")
    ] = MIN_USERS,
    bare: Annotated[
        bool,
        typer.Option(
            "--bare", help="Audit the model without what protects its input: for research only."
        ),
    ] = False,
    k: Annotated[
        int, typer.Option("--k", help="k of the deniability test.", rich_help_panel=TEST)
    ] = 10,
    eta: Annotated[float, typer.Option(help="η of the test.", rich_help_panel=TEST)] = 1.0,
    no_test: Annotated[
        bool,
        typer.Option("--no-test", help="Release without the test.", rich_help_panel=TEST),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help=f"Folder for {FILE}, and for what a stopped audit goes on from. Internal: both "
            "are as secret as the input.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json", help="Also write all figures to this file.", rich_help_panel=OUTPUT
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on where the same command was stopped, from what it kept in --out.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed; by default from the operating system.", show_default=False),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Attack releases of INPUT as a stranger would, before you publish one.

    Trains the model many times on copies of the input, with users and made-up
    persons (canaries) left in or out at random, makes a release each time, and
    tells from the release who was in. If INPUT has testing users, they take part
    too, so that every training has about as many users as the release.

    Exit status: 0 the verdict is green or amber, 3 it is red, 2 something must
    be changed.

    For example:

      doppeltrace audit people_flow/ --traces-per-user 10 --out audit
    """
    folder = None if out is None else _folder(out, resume)
    if resume and out is None:
        raise OutputError("--resume needs the folder of the stopped audit: give --out")
    for file in (json_file, None if out is None else out / FILE):
        if file is not None:
            check_file(file)
    if seed is None:
        kept = None if folder is None else kept_seed(folder)
        seed = fresh_seed() if kept is None else kept
    wanted = build_model(model, {"seed": seed, "threads": threads}, settings)
    reporter = Reporter()
    with reporter.phase("reading"):
        pool = everybody(reading.read(input, seed))
    with reporter.phase("audit"):
        found = run(
            pool,
            wanted,
            runs=runs,
            traces_per_user=traces_per_user,
            seed=seed,
            min_users=min_users,
            k=None if no_test else k,
            eta=eta,
            protect=not bare,
            resume=folder,
            threads=threads,
            callback=reporter,
        )
    for file in (json_file, None if out is None else out / FILE):
        if file is not None:
            with atomic_file(file) as partial:
                partial.touch(mode=0o600)
                partial.write_text(found.to_json() + "\n", encoding="utf-8")
    if folder is not None:
        shutil.rmtree(folder)  # as secret as the input, and not needed any more
    results.print(found.to_table())
    for note in found.notes:
        say(note)
    if found.level == "red":
        warn("do not publish: " + "; ".join(found.reasons))
        raise typer.Exit(BLOCKED)


def everybody(data: Dataset) -> Traces:
    """Return training and testing users together."""
    train, test = data.train, data.test
    if test is None:
        return train
    return Traces(
        users=np.arange(train.n_users + test.n_users),
        offsets=np.concatenate([train.offsets, train.n_events + test.offsets[1:]]),
        location=np.concatenate([train.location, test.location]),
        instant=np.concatenate([train.instant, test.instant]),
        places=train.places,
        clock=train.clock,
    )


def _folder(out: Path, resume: bool) -> Path:
    """Return where runs are kept; refuse a folder in which something else is."""
    if out.exists():
        if not out.is_dir():
            raise OutputError(f"{out} is a file: give a folder for the output")
        known = {RUNS, FILE} if resume else set[str]()
        if {entry.name for entry in out.iterdir()} - known:
            remedy = "choose another folder" if resume else "choose another folder, or --resume"
            raise OutputError(f"{out} is not empty: {remedy}")
    try:
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise OutputError(f"cannot make {out}: {error.strerror}") from error
    return out / RUNS
