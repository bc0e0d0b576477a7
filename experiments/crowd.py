"""Crowd and its baselines, measured: the tables of docs/privacy.md.

    python experiments/crowd.py --users 10000 --models crowd --epsilon 1 4 none --fits 3
    python experiments/crowd.py --kl DATA/kl_checkins --models crowd --epsilon 4 none

The simulated city has seed 3 and 400 places; as many testing users as training users, 50,000 at
most; as many traces as training users, 50,000 at most.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import doppeltrace as dt
from doppeltrace.streams import generator
from doppeltrace.synthesizers import MODELS
from doppeltrace.utility import Summary, compare

COLUMNS = {
    "TP-TV": "tp_tv",
    "Top50": "tp_tv_top50",
    "EMD-X": "tm_emd_x",
    "VF-TV": "vf_tv",
    "trip km": "trip_length_emd",
    "radius km": "gyration_emd",
    "stay h": "stay_emd",
    "places/day": "places_per_day_emd",
}
MAX_TRACES = 50_000
SEED = 3


def simulated(users: int, style: str) -> tuple[dt.Traces, dt.Traces]:
    """Return training and testing users of the simulated city."""
    n_test = min(users, MAX_TRACES)
    places = 400 if style == "dense" else 1000
    city = dt.simulate_city(users=users + n_test, places=places, seed=SEED, style=style)
    order = generator(SEED, "dp split").permutation(users + n_test)
    return city.traces.select(np.sort(order[:users])), city.traces.select(np.sort(order[users:]))


def kuala_lumpur(folder: Path) -> tuple[dt.Traces, dt.Traces]:
    """Return training and testing users of the check-ins of Kuala Lumpur."""
    names = ("user", "time", "location")
    whole = dt.read_table(
        folder / "checkins.csv.gz",
        columns={name: name for name in names},
        instant_minutes=60,
        instants_per_slot=2,
        places=folder / "places.csv",
    )
    return dt.split_users(whole.train, 0.2, seed=0)


def main() -> None:
    """Print one row per fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--style", choices=["dense", "checkins"], default="dense")
    parser.add_argument("--kl", type=Path)
    parser.add_argument("--models", nargs="+", default=["crowd"])
    parser.add_argument("--epsilon", nargs="+", default=["1"])
    parser.add_argument("--fits", type=int, default=1)
    args = parser.parse_args()
    train, test = kuala_lumpur(args.kl) if args.kl else simulated(args.users, args.style)
    trained, tested = Summary.of(train), Summary.of(test)
    print("".join(f"{name:>12}" for name in ("model", "ε", "fit", *COLUMNS, "fit s", "draw s")))

    def show(name: str, epsilon: str, fit: int | str, made: Summary, *seconds: float) -> None:
        score = compare(tested, made, trained)
        figures = "".join(f"{score[c]:12.3f}" for c in COLUMNS.values())
        times = "".join(f"{s:12.1f}" for s in seconds)
        print(f"{name:>12}{epsilon:>12}{fit:>12}{figures}{times}", flush=True)

    show("training", "", "", trained)
    for name in args.models:
        private = name == "crowd" or name.startswith("dp-")
        for epsilon in args.epsilon if private else [""]:
            for fit in range(args.fits):
                settings = {"epsilon": None if epsilon == "none" else float(epsilon)}
                model = MODELS[name](**(settings if private else {}), seed=fit)
                began = time.monotonic()
                model.fit(train)
                fitted = time.monotonic()
                number = min(train.n_users, MAX_TRACES)
                made = Summary.of(model.sample(n_traces=number, seed=fit))
                drawn = time.monotonic()
                show(name, epsilon, fit, made, fitted - began, drawn - fitted)


if __name__ == "__main__":
    main()
