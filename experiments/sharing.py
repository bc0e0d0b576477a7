"""What sharing A and B between the two tensors brings: PPMTF against ITF (the paper's appendix).

    python experiments/sharing.py DATA_ROOT [--data nyc people_flow] [--seeds 0 1 2]

DATA_ROOT holds the folders `nyc_checkins` and `people_flow`. Prints, for each data set, seed and
model, the sums of |r − r̂| over observed (O) and unobserved (U) elements of the transition (I)
and the visit tensor (II), the median over unobserved elements of I, and the utility of 10 traces
per user; then the means over seeds. `--places` takes fewer venues of New York, `--zeros` observes
more zeros of the transition tensor per user: both let more zeros fall on each pair of places.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import doppeltrace as dt

MODELS: dict[str, type[dt.PPMTF]] = {"PPMTF": dt.PPMTF, "ITF": dt.ITF}
DATA = ("nyc", "people_flow")
UTILITY = {
    "tp_tv": "TP-TV",
    "tp_tv_top50": "Top50",
    "vf_tv": "VF-TV",
    "tm_emd_x": "TM-EMD-X",
    "tm_emd_y": "TM-EMD-Y",
}


def nyc(root: Path, places: int) -> dt.Dataset:
    """Read the New York check-ins: hourly instants, slots of two hours."""
    folder = root / "nyc_checkins"
    return dt.read_table(
        folder / "checkins.csv.gz",
        places=folder / "venues.csv",
        top_places=places,
        rank_by="events",
        bounds=(40.5, -74.28, 41.0, -73.68),
        instant_minutes=60,
        instants_per_slot=2,
        split=folder / "split.csv",
    )


def read(name: str, root: Path, places: int) -> dt.Dataset:
    """Read one of the two data sets."""
    return nyc(root, places) if name == "nyc" else dt.read_people_flow(root / name)


def run(data: dt.Dataset, model: dt.PPMTF, traces_per_user: int) -> dict[str, float]:
    """Return the figures of one model."""
    begin = time.perf_counter()
    model.fit(data.train)
    seconds = time.perf_counter() - begin
    errors = model.reconstruction_errors()
    synthetic = model.sample(traces_per_user, seed=model.seed)
    score = dt.evaluate(train=data.train, test=data.test, synthetic=synthetic, attacks=False)
    return {
        "I (O)": errors.transitions.observed,
        "I (U)": errors.transitions.unobserved,
        "I (U) med.": errors.transitions.unobserved_median,
        "II (O)": errors.visits.observed,
        "II (U)": errors.visits.unobserved,
        **{label: score[name] for name, label in UTILITY.items() if score[name] is not None},
        "train s": seconds,
    }


def show(label: str, figures: dict[str, float]) -> None:
    """Print one row of the table."""
    cells = (f"{v:>11.4g}" for v in figures.values())
    print(f"{label:<16}" + "".join(cells), flush=True)


def main() -> None:
    """Run all data sets, seeds and models, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path, help="folder of the reference data")
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--traces-per-user", type=int, default=10)
    parser.add_argument("--places", type=int, default=1000)
    parser.add_argument("--zeros", type=int, default=1000)
    arguments = parser.parse_args()
    for name in arguments.data:
        data = read(name, arguments.root, arguments.places)
        rows: dict[str, list[dict[str, float]]] = {model: [] for model in MODELS}
        for seed in arguments.seeds:
            for label, kind in MODELS.items():
                model = kind(zeros=(arguments.zeros, 1000), seed=seed)
                rows[label].append(run(data, model, arguments.traces_per_user))
                if sum(map(len, rows.values())) == 1:
                    print(f"\n{name:<16}" + "".join(f"{c:>11}" for c in rows[label][0]))
                show(f"{label} seed {seed}", rows[label][-1])
        for label, found in rows.items():
            show(f"{label} mean", {c: statistics.fmean(r[c] for r in found) for c in found[0]})


if __name__ == "__main__":
    main()
