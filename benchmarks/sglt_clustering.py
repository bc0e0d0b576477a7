"""How SGLT's training grows with users and with places, beside the paper's curve.

    python benchmarks/sglt_clustering.py [--most 1000]

Simulated walks of 30 events stand for the data. The paper's program took 0.47 h and 47 h for 100
and 1000 users at 400 places, and 0.0081 h and 8.4 h for 100 and 1000 places at 100 users:
quadratic in users, cubic in places.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import doppeltrace as dt
from doppeltrace.synthesizers.sglt.profiles import Profiles
from doppeltrace.synthesizers.sglt.semantics import location_graph, partition

PAPER_HOURS = {(100, 400): 0.47, (1000, 400): 47, (100, 100): 8.1e-3, (100, 1000): 8.4}
SIZES = (100, 200, 500, 1000, 2000)
LENGTH = 30


def walks(users: int, places: int) -> dt.Traces:
    """Return traces that stay put two times in three, and prefer popular places."""
    draws = np.random.default_rng(0)
    popular = (places * draws.random((users, LENGTH)) ** 2).astype(np.int32)
    last = np.where(draws.random((users, LENGTH)) < 1 / 3, np.arange(LENGTH), 0)
    where = np.take_along_axis(popular, np.maximum.accumulate(last, axis=1), axis=1)
    clock = dt.Clock.regular(instant_minutes=20, first_hour=9, last_hour=19, daily=False)
    here = dt.Places(
        np.arange(places),
        draws.uniform(35.65, 35.75, places),
        draws.uniform(139.68, 139.8, places),
    )
    user = np.repeat(np.arange(users), LENGTH)
    return dt.Traces.from_events(
        user, where.ravel(), np.tile(np.arange(LENGTH), users), places=here, clock=clock
    )


def seconds(users: int, places: int) -> tuple[float, float]:
    """Return the time of the location graph and of its partition."""
    profiles = Profiles.of(walks(users, places), 0.25)
    begin = time.perf_counter()
    weights = location_graph(profiles)
    middle = time.perf_counter()
    partition(weights, min(100, places // 2), seed=0)
    return middle - begin, time.perf_counter() - middle


def main() -> None:
    """Print both curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=1000, help="largest number of either")
    most = parser.parse_args().most
    seconds(20, 20)  # compiles
    print(f"{'users':>6} {'places':>6} {'graph s':>9} {'partition s':>12} {'paper s':>10}")
    sizes = [size for size in SIZES if size <= most]
    for users, places in [(n, 400) for n in sizes] + [(100, n) for n in sizes]:
        graph, parts = seconds(users, places)
        paper = PAPER_HOURS.get((users, places))
        told = "" if paper is None else f"{3600 * paper:.0f}"
        print(f"{users:>6} {places:>6} {graph:>9.3f} {parts:>12.3f} {told:>10}", flush=True)


if __name__ == "__main__":
    main()
