"""The comparison protocol on one data set: train, draw, score, test, for several seeds.

    python experiments/protocol.py FOLDER [--model doppel] [--set alpha=200 …] [--seeds 0 1 2]

reads a people-flow folder (10 traces per user) or the New York check-ins (1 trace per user) and
prints a row per seed, their mean, the training traces themselves, and what was published for
the authors' own PPMTF program (α = 200). `--swap` trains on the testing users and scores against
the training users; `--half 0` or `1` trains on a random half of the users. Both show whether
figures that were seen while settings were chosen hold for other users.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

import doppeltrace as dt
from doppeltrace.synthesizers import MODELS

COLUMNS = {
    "tp_tv": "TP-TV",
    "tp_tv_top50": "Top50",
    "tm_emd_x": "EMD-X",
    "tm_emd_y": "EMD-Y",
    "vf_tv": "VF-TV",
    "reidentification_rate": "re-id",
    "membership_advantage": "member",
    "pass_rate": "pass",
    "seconds": "seconds",
}
PUBLISHED = {
    "people-flow": (0.427, 0.129, 1.833, 1.833, float("nan"), 0.016, 0.021, 0.211),
    "nyc": (0.842, 0.314, 0.763, 0.938, 0.665, float("nan"), float("nan"), 0.39),
}


def run(train: dt.Traces, test: dt.Traces, arguments: argparse.Namespace, seed: int) -> dict:
    """Return the figures of one seed."""
    settings = dict(pair.split("=") for pair in arguments.set)
    values = {k: float(v) if "." in v else int(v) for k, v in settings.items()}
    model = MODELS[arguments.model](seed=seed, **values)
    begin = time.perf_counter()
    model.fit(train)
    synthetic = model.sample(arguments.traces_per_user, seed=seed)
    tested = dt.deniability_test(model, synthetic, k=10, eta=1.0, count_all=False)
    seconds = time.perf_counter() - begin
    score = dt.evaluate(train=train, test=test, synthetic=synthetic)
    return {
        **{name: score[name] for name in COLUMNS if name not in ("pass_rate", "seconds")},
        "pass_rate": tested.pass_rate,
        "seconds": seconds,
        "score": score,
    }


def show(label: str, figures: dict[str, float]) -> None:
    """Print one row of the table."""
    cells = (f"{figures[name]:>9.4f}" if name in figures else " " * 9 for name in COLUMNS)
    print(f"{label:<12}" + "".join(cells), flush=True)


def main() -> None:
    """Run all seeds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="people-flow folder or New York check-ins")
    parser.add_argument("--model", choices=sorted(MODELS), default="doppel")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--traces-per-user", type=int)
    parser.add_argument("--swap", action="store_true", help="exchange training and testing users")
    parser.add_argument("--half", type=int, choices=(0, 1), help="train on this half of the users")
    arguments = parser.parse_args()
    data = dt.read(arguments.folder)
    assert data.test is not None
    train, test = (data.test, data.train) if arguments.swap else (data.train, data.test)
    if arguments.half is not None:
        halves = np.array_split(np.random.default_rng(0).permutation(train.n_users), 2)
        train = train.select(np.sort(halves[arguments.half]))
    dense = train.clock.cycle is None
    if arguments.traces_per_user is None:
        arguments.traces_per_user = 10 if dense else 1
    print(" " * 12 + "".join(f"{label:>9}" for label in COLUMNS.values()))
    rows = []
    for seed in arguments.seeds:
        rows.append(run(train, test, arguments, seed))
        show(f"seed {seed}", rows[-1])
    show("mean", {name: statistics.fmean(row[name] for row in rows) for name in COLUMNS})
    measures = rows[0]["score"].measures
    show("training", {m.name: m.training for m in measures if m.name in COLUMNS})
    published = PUBLISHED["people-flow" if dense else "nyc"]
    show("published", dict(zip(COLUMNS, published, strict=False)))


if __name__ == "__main__":
    main()
