"""Time and memory of `evaluate` on as many traces as you like (a simulated walk, no files).

python benchmarks/evaluation.py --traces 220000 --places 1000 --users 220000
"""

import argparse
import datetime
import resource
import time

import numpy as np

import doppeltrace as dt


def walk(draws: np.random.Generator, n: int, length: int, n_places: int) -> np.ndarray:
    """Return (n, length) places: popular ones more often, and two steps in three stay put."""
    popular = np.minimum(
        (n_places * draws.random((n, length)) ** 3).astype(np.int32), n_places - 1
    )
    last = np.where(draws.random((n, length)) < 1 / 3, np.arange(length), 0)
    return np.take_along_axis(popular, np.maximum.accumulate(last, axis=1), axis=1)


def main() -> None:
    """Make the data, score them twice (the first time compiles), print both times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=220_000)
    parser.add_argument("--users", type=int, default=220_000)
    parser.add_argument("--places", type=int, default=1_000)
    parser.add_argument("--length", type=int, default=24)
    args = parser.parse_args()
    draws = np.random.default_rng(0)
    places = dt.Places(
        np.arange(args.places),
        draws.uniform(40.8, 41.3, args.places),
        draws.uniform(28.6, 29.4, args.places),
    )
    clock = dt.Clock.regular(
        instant_minutes=60, instants_per_slot=2, start_day=datetime.date(2024, 1, 1)
    )

    def people(n: int) -> dt.SyntheticTraces:
        where = walk(draws, n, args.length, args.places)
        return dt.SyntheticTraces(where, np.arange(n) % args.users, np.zeros(n), places, clock)

    train, test = people(args.users).as_traces(), people(args.users).as_traces()
    synthetic = people(args.traces)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for attacks in (False, False, True, True):
        start, cpu = time.perf_counter(), time.process_time()
        card = dt.evaluate(train=train, test=test, synthetic=synthetic, attacks=attacks)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        print(f"{'with' if attacks else 'without'} attacks: {seconds:.1f} s, CPU {cpu:.1f} s")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory {after / 2**20:.2f} GB, of which data {before / 2**20:.2f} GB")
    print("\n".join(card.notes))


if __name__ == "__main__":
    main()
