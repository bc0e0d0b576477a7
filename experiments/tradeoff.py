"""The paper's trade-off between utility and privacy on its people-flow data, 58 settings.

    python experiments/tradeoff.py FOLDER [--out DIR] [--seed 0]

fits 12 PPMTF (α), 6 SGD (ξ) and 40 SGLT settings (par_l for four numbers of clusters), draws 10
traces per user, scores them, and writes tradeoff.json, .md, .svg and .png. Where the folder holds
the published figures (reference/published_grid.csv), it prints how far off each setting is.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import doppeltrace as dt
from doppeltrace.comparison import Row, paper_grid
from doppeltrace.plots import plot_tradeoff, save_plot
from doppeltrace.progress import Step

SCORES = (
    "tp_tv",
    "tp_tv_top50",
    "tm_emd_x",
    "tm_emd_y",
    "reidentification_rate",
    "membership_advantage",
)


def published_label(row: Row) -> tuple[str, str]:
    """Return the published grid's names of a setting."""
    if row.model == "sglt":
        return "sglt", f"c{row.settings['clusters']} removal={row.settings['removal']:g}"
    name = {"ppmtf": "alpha", "sgd": "copied"}[row.model]
    return row.model, f"{name}={row.settings[name]:g}"


def show_differences(found: dt.Comparison, file: Path) -> None:
    """Print ours minus published, score by score."""
    with file.open() as lines:
        published = {(r["synthesizer"], r["setting"]): r for r in csv.DictReader(lines)}
    print("\nours minus published")
    print(f"{'':<24}" + "".join(f"{name[:11]:>13}" for name in SCORES))
    for row in found.rows:
        theirs = published.get(published_label(row))
        if theirs is not None:
            off = (row.score[name] - float(theirs[name]) for name in SCORES)
            print(f"{row.label:<24}" + "".join(f"{value:>+13.4f}" for value in off))


def report(step: Step) -> None:
    """Say where the comparison stands."""
    if step.phase == "comparison":
        print(f"{step.done}/{step.total} settings done", flush=True)


def main() -> None:
    """Run the grid, write the results, print the differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("tradeoff"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    data = dt.read_people_flow(arguments.folder)
    begin = time.perf_counter()
    found = dt.compare(
        data.train, data.test, paper_grid(arguments.seed), seed=arguments.seed, callback=report
    )
    print(f"\n{time.perf_counter() - begin:.0f} s\n\n{found.to_markdown()}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "tradeoff.json").write_text(found.to_json() + "\n", encoding="utf-8")
    (arguments.out / "tradeoff.md").write_text(found.to_markdown(), encoding="utf-8")
    for kind in ("svg", "png"):
        save_plot(plot_tradeoff(found), arguments.out / f"tradeoff.{kind}")
    reference = arguments.folder / "reference" / "published_grid.csv"
    if reference.exists():
        show_differences(found, reference)


if __name__ == "__main__":
    main()
