"""`doppeltrace demo`: the whole way on a simulated city."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cities import simulate_city
from doppeltrace.cli import options
from doppeltrace.cli.console import results, say
from doppeltrace.cli.options import build_model
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.synthesize import announce_paths
from doppeltrace.pipeline.run import Run
from doppeltrace.pipeline.settings import RunSettings

SEED = 20200101


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the release.")] = Path("demo-out"),
    users: Annotated[
        int, typer.Option(help="Users of the city, half of them for testing.")
    ] = 1000,
    places: Annotated[int, typer.Option(help="Places of the city.")] = 200,
    model: options.Model = options.DEFAULT_MODEL,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier run.")
    ] = False,
) -> None:
    """Simulate a city, make synthetic traces of it, test, release and score them.

    Nobody lives in the simulated city, so here the seed is no secret.
    """
    synthesizer = build_model(model, {"seed": SEED}, None)
    wish = RunSettings(out=out, seed=SEED, traces_per_user=2, k=10, eta=1.0, count_all=True,
                overwrite=overwrite)  # fmt: skip
    wish.check()
    wish.check_model(synthesizer)
    reporter = Reporter()
    with reporter.phase("city"):
        city = simulate_city(users, places, seed=SEED)
        train, test = city.split()
    say(
        f"a simulated city: {users:,} users in {len(city.cluster_names)} clusters "
        f"({', '.join(city.cluster_names)}), {places:,} places, {city.traces.n_events:,} events"
    )
    source = {"path": "simulated city", "city_seed": SEED, "city_users": users}
    run = Run(wish, synthesizer, source, reporter)
    done = run.perform(train, test, title="Synthetic traces of a simulated city")
    if run.score is not None:  # nothing to score where nothing was released
        results.print(run.score.to_table())
    announce_paths(done)
