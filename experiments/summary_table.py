"""What synthesizers are worth on four data sets: one Markdown table each.

    python experiments/summary_table.py DATA_ROOT [--only people-flow …] [--out FILE]

reads people flow (10 traces per user), the New York and Kuala Lumpur check-ins (1) and simulates a
city with known clusters (10), fits every model, scores its traces against users it never saw, and
writes a table per data set with the yardsticks Training, Frozen, Independent and Uniform beside.
`--models` takes a list such as `doppel,ppmtf:alpha=200`; `--audit-runs` adds LiRA's advantage.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import doppeltrace as dt
from doppeltrace.cli.compare import parse_models
from doppeltrace.progress import Step

MODELS = "doppel:population=False,doppel:population=True,ppmtf:alpha=200,itf:alpha=200,sgd,sglt"
NAMES = ("people-flow", "new-york", "kuala-lumpur", "simulated-city")


def read(name: str, root: Path) -> tuple[dict[str, Any], int]:
    """Return training and testing traces (with true groups, if known), and traces per user."""
    if name == "simulated-city":
        city = dt.simulate_city(users=1000, seed=0)
        train, test = city.split()
        return {"train": train, "test": test, "groups": city.cluster[train.users]}, 10
    if name == "people-flow":
        data, traces_per_user = dt.read_people_flow(root / "people_flow"), 10
    elif name == "new-york":
        data, traces_per_user = dt.read(root / "nyc_checkins"), 1
    else:
        folder = root / "kl_checkins"
        data, traces_per_user = (
            dt.read_table(
                folder / "checkins.csv.gz",
                columns={"user": "user", "time": "time", "location": "location"},
                instant_minutes=60,
                instants_per_slot=2,
                split=0.2,
                split_seed=0,
                places=folder / "places.csv",
            ),
            1,
        )
    return {"train": data.train, "test": data.test}, traces_per_user


def say(step: Step) -> None:
    """Say where the comparison stands."""
    if step.phase == "comparison":
        print(f"  {step.done}/{step.total} models done", file=sys.stderr, flush=True)


def main() -> None:
    """Run all data sets that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with people_flow/, nyc_checkins/ …")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--audit-runs", type=int, default=0)
    parser.add_argument("--out", type=Path, help="Markdown file to write as well")
    arguments = parser.parse_args()
    parts = []
    for name in arguments.only:
        begin = time.perf_counter()
        print(name, file=sys.stderr, flush=True)
        data, traces_per_user = read(name, arguments.data)
        found = dt.compare(
            **data,
            synthesizers=parse_models(arguments.models, arguments.seed, None),
            traces_per_user=traces_per_user,
            seed=arguments.seed,
            audit_runs=arguments.audit_runs,
            callback=say,
        )
        title = name.replace("-", " ")
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n{found.to_markdown()}")
        print(parts[-1], flush=True)
        print(f"  {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
