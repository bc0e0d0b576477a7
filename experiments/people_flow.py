"""The paper's protocol on its people-flow data: train, draw 10 traces per user, score, test.

    python experiments/people_flow.py FOLDER [--model ppmtf] [--alpha 200] [--seeds 0 1 2]

prints a row per seed, their mean, and the figures published for the authors' own program.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import doppeltrace as dt
from doppeltrace.synthesizers import MODELS

COLUMNS = {
    "tp_tv": "TP-TV",
    "tp_tv_top50": "Top50",
    "tm_emd_x": "TM-EMD-X",
    "tm_emd_y": "TM-EMD-Y",
    "reidentification_rate": "re-id",
    "membership_advantage": "member",
    "pass_rate": "pass",
    "train_seconds": "train s",
}
PUBLISHED = {  # PPMTF, α = 200
    "tp_tv": 0.427,
    "tp_tv_top50": 0.129,
    "tm_emd_x": 1.83,
    "tm_emd_y": 1.83,
    "reidentification_rate": 0.016,
    "membership_advantage": 0.021,
    "pass_rate": 0.211,
}


def run(data: dt.Dataset, arguments: argparse.Namespace, seed: int) -> dict[str, float]:
    """Return the figures of one seed."""
    settings = {} if arguments.alpha is None else {"alpha": arguments.alpha}
    model = MODELS[arguments.model](seed=seed, **settings)
    begin = time.perf_counter()
    model.fit(data.train)
    seconds = time.perf_counter() - begin
    synthetic = model.sample(arguments.traces_per_user, seed=seed)
    score = dt.evaluate(train=data.train, test=data.test, synthetic=synthetic)
    figures = {name: score[name] for name in COLUMNS if name in PUBLISHED and name != "pass_rate"}
    test = dt.deniability_test(model, synthetic, k=10, eta=1.0, count_all=False)
    return figures | {"pass_rate": test.pass_rate, "train_seconds": seconds}


def show(label: str, figures: dict[str, float]) -> None:
    """Print one row of the table."""
    cells = (f"{figures[name]:>9.4f}" if name in figures else " " * 9 for name in COLUMNS)
    print(f"{label:<12}" + "".join(cells), flush=True)


def main() -> None:
    """Run all seeds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="people-flow folder")
    parser.add_argument("--model", choices=sorted(MODELS), default="ppmtf")
    parser.add_argument("--alpha", type=float, help="by default the model's own")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--traces-per-user", type=int, default=10)
    arguments = parser.parse_args()
    data = dt.read_people_flow(arguments.folder)
    print(" " * 12 + "".join(f"{label:>9}" for label in COLUMNS.values()))
    rows = []
    for seed in arguments.seeds:
        rows.append(run(data, arguments, seed))
        show(f"seed {seed}", rows[-1])
    show("mean", {name: statistics.fmean(row[name] for row in rows) for name in rows[0]})
    show("published", PUBLISHED)


if __name__ == "__main__":
    main()
