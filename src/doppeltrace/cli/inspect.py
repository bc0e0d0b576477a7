"""`doppeltrace validate` and `doppeltrace evaluate`: look at inputs and at results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from doppeltrace.cli import options
from doppeltrace.cli.console import results
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.reading import Reading, takes_reading_options
from doppeltrace.cli.wording import remark, told
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import InputError, SettingsError
from doppeltrace.evaluation import evaluate as score
from doppeltrace.files import atomic_file, check_file
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.synthetic import read_synthetic
from doppeltrace.release.exports.source import released_file
from doppeltrace.release.folder import read_manifest, run_around
from doppeltrace.safeguards.protect import protect
from doppeltrace.streams import fresh_seed

ONE_SET = (
    "The file does not say which traces were made from one user, so all are scored as one set: if "
    "several were made per user, the figures are not comparable with the run's own report, which "
    "scores one trace per user at a time."
)


@takes_reading_options
def validate(
    input: options.Input,
    reading: Reading,
) -> None:
    """Read INPUT and say what would be kept, dropped and merged; write nothing.

    Takes the same reading options as `synthesize`.

    For example:

      doppeltrace validate checkins.csv --grid 20x20 --drop-invalid
      --timezone America/New_York
    """
    data = reading.read(input)
    try:
        words = protect(data.train, data.test, seed=fresh_seed()).words
    except InputError as error:
        words = (f"a run would stop: {told(error)}",)
    results.out(remark(str(replace(data.validation, safeguards=words))), highlight=False)


@takes_reading_options
def evaluate(
    data: Annotated[
        Path,
        typer.Option(
            help="The original traces: a folder with training and testing traces, or a file "
            "with --split.",
            show_default=False,
        ),
    ],
    reading: Reading,
    synthetic: Annotated[
        Path,
        typer.Option(
            help="File of synthetic traces to score, or folder that `synthesize` wrote.",
            show_default=False,
        ),
    ],
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Also write the scores to this file, as one flat object."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads; by default all cores.", show_default=False)
    ] = None,
) -> None:
    """Score synthetic traces: how useful they are, and how well attacks on them do.

    Knows releases of ours and the files of the published tools. A release
    names no owners, so re-identification is left out for it. Give the same
    reading options as to `synthesize`, --split among them: who was held out,
    and which places were merged, is known from the run's folder, as long as
    its manifest is there.

    For example:

      doppeltrace evaluate --data people_flow/ --synthetic run

      doppeltrace evaluate --data checkins.csv.gz --places venues.csv
      --top-places 1000 --instants-per-slot 2 --split split.csv
      --synthetic run/public/traces.csv --json score.json
    """
    if json_file is not None:
        check_file(json_file)
    reporter = Reporter()
    with reporter.phase("reading"):
        file = released_file(synthetic) if synthetic.is_dir() else synthetic
        run = run_around(file)
        manifest = None if run is None else read_manifest(run)
        dataset = reading.read_split(data, _seed_of(file, reading, manifest))
        if manifest is not None:
            dataset = protected_as_in(dataset, manifest)
        assert dataset.test is not None
        traces = read_synthetic(file, like=dataset.train)
    with reporter.phase("evaluation"), use_threads(threads):
        card = score(train=dataset.train, test=dataset.test, synthetic=traces)
    if (traces.owner < 0).all():
        card = replace(card, notes=(*card.notes, ONE_SET))
    results.print(card.to_table())
    if json_file is not None:
        with atomic_file(json_file) as partial:
            partial.write_text(card.to_json() + "\n", encoding="utf-8")


def protected_as_in(data: Dataset, manifest: dict[str, Any]) -> Dataset:
    """Return the data over the places of a run, which merged those of few people."""
    done = manifest.get("safeguards")
    if not done:
        return data
    same = protect(
        data.train,
        data.test,
        min_users=done["rare_places"]["min_users"],
        max_events_per_instant=done["user_caps"]["max_events_per_instant"],
        max_events=done["user_caps"]["max_events"],
        seed=int(manifest["seed"]),
    )
    return replace(data, train=same.train, test=same.test)


def _seed_of(file: Path, reading: Reading, manifest: dict[str, Any] | None) -> int | None:
    """Return the seed of the run that made a file, which decided who was held out.

    None if nobody was drawn.
    """
    if not isinstance(reading.options.get("split"), float):
        return None
    if manifest is None:
        raise SettingsError(
            f"--split {reading.options['split']:g} draws users at random, and {file} does not "
            "tell whom its run held out: give the folder of the run to --synthetic, or a table of "
            "users to --split"
        )
    return int(manifest["seed"])
