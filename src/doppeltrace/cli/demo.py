"""`doppeltrace demo`: the whole way on a simulated city."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from doppeltrace.cities import City, simulate_city
from doppeltrace.cli import options
from doppeltrace.cli.console import results
from doppeltrace.cli.options import build_model
from doppeltrace.cli.progress import Reporter
from doppeltrace.cli.results import announce
from doppeltrace.pipeline import synthesize
from doppeltrace.pipeline.source import Source
from doppeltrace.pipeline.synthesis import DEFAULT_MODEL

SEED = 20200101


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the release.")] = Path("demo-out"),
    users: Annotated[
        int, typer.Option(help="Users of the city, half of them for testing.")
    ] = 1000,
    places: Annotated[int, typer.Option(help="Places of the city.")] = 200,
    model: options.Model = DEFAULT_MODEL,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier run.")
    ] = False,
) -> None:
    """Simulate a city, make synthetic traces of it, test, release and score them.

    Nobody lives in the simulated city, so here the seed is not a secret.
    """
    reporter = Reporter()

    def simulate(seed: int) -> City:
        city = simulate_city(users, places, seed=SEED)
        reporter.say(
            f"a simulated city: {users:,} users in {len(city.cluster_names)} clusters "
            f"({', '.join(city.cluster_names)}), {places:,} places, "
            f"{city.traces.n_events:,} events"
        )
        return city

    run = synthesize(
        simulate,
        build_model(model, {"seed": SEED}, None),
        seed=SEED,
        traces_per_user=2,
        count_all=True,
        out=out,
        overwrite=overwrite,
        source=Source("a simulated city", options={"users": str(users), "seed": str(SEED)}),
        monitor=reporter,
    )
    if run.score is not None:  # nothing to score where nothing was released
        results.print(run.score.to_table())
    announce(run)
