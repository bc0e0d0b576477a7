"""What a synthetic event of Doppel costs as the number of places grows (simulated cities).

    python benchmarks/sampling_places.py --places 400 1600 6400 25600 [--threads 1]

prints, per number of places, nanoseconds per event (the fastest of several runs) and the ratio
to the first row; and the neighbours per place, which is what a step really depends on.
"""

import argparse
import time

import doppeltrace as dt


def seconds_per_event(model: dt.Doppel, traces_per_user: int, repeats: int) -> float:
    """Return the shortest time per event of several calls, after one that compiles."""
    best = float("inf")
    for seed in range(repeats + 1):
        start = time.perf_counter()
        synthetic = model.sample(traces_per_user, seed=seed)
        elapsed = time.perf_counter() - start
        if seed > 0:
            best = min(best, elapsed / synthetic.locations.size)
    return best


def main() -> None:
    """Fit a small model to each city, draw, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--places", type=int, nargs="+", default=[400, 1600, 6400, 25600])
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--traces-per-user", type=int, default=20)
    parser.add_argument("--style", choices=["dense", "checkins"], default="checkins")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(f"{'places':>8}{'ns per event':>14}{'ratio':>8}{'neighbours':>12}{'fit s':>8}")
    first = None
    for places in args.places:
        city = dt.simulate_city(users=args.users, places=places, style=args.style, seed=0)
        start = time.perf_counter()
        model = dt.Doppel(iterations=20, seed=0, threads=args.threads).fit(city.traces)
        fit = time.perf_counter() - start
        cost = seconds_per_event(model, args.traces_per_user, args.repeats)
        first = cost if first is None else first
        neighbours = model.base_.lift.nnz / places
        print(f"{places:>8}{1e9 * cost:>14.0f}{cost / first:>8.2f}{neighbours:>12.1f}{fit:>8.1f}")


if __name__ == "__main__":
    main()
