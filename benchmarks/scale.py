"""How time and memory grow: from raw check-ins to released traces, as a user runs it.

    python benchmarks/scale.py --users 219793 --model doppel
    python benchmarks/scale.py --all --results benchmarks/scale.json
    python benchmarks/scale.py --table --results benchmarks/scale.json

Writes simulated check-ins in the Foursquare layout, runs `doppeltrace synthesize` on them in a
process of its own, with the (10, 1) deniability test against 32,000 users drawn at random, and
prints what its manifest says of every stage and of the peak of memory. `--all` measures every
size of the table (PPMTF at Istanbul's takes most of an hour) and skips those that the results
file has already; `--table` writes docs/scale.md and its plot from the results file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import doppeltrace as dt
from doppeltrace.plots import save_plot
from raw_checkins import PAPER_USERS, write_foursquare

VERIFIERS = 32_000
STAGES = ("reading", "training", "synthesis", "deniability test")
MODELS = {"doppel": (), "ppmtf": ("--factors", "16", "--iterations", "100")}
"""Settings on the command line; PPMTF's are the paper's, as are its λ = 100 and ρ = 1,000."""

REST = "rest"
"""All else: starting, the hash of the input, the report, the datasheet, writing the release."""

DOCS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, help="measure one size")
    parser.add_argument("--model", choices=MODELS, default="doppel")
    parser.add_argument("--places", type=int, default=1000)
    parser.add_argument("--instants-per-slot", type=int, default=2, help="hours in a slot")
    parser.add_argument("--six-cities", action="store_true", help="the paper's six, one by one")
    parser.add_argument("--all", action="store_true", help="every size of the table")
    parser.add_argument("--table", action="store_true", help="write docs/scale.md")
    parser.add_argument("--results", type=Path, help="JSON file to add the figures to")
    parser.add_argument("--work", type=Path, help="folder for raw files and releases")
    given = parser.parse_args()
    results = Results(given.results)
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        if given.users is not None:
            settings = (given.model, given.users, given.places, given.instants_per_slot)
            results.add(measure(Path(folder), *settings))
        if given.six_cities:
            results.add(measure_six_cities(Path(folder), given.model))
        if given.all:
            for settings in SIZES:
                if not results.has(*settings):
                    results.add(measure(Path(folder), *settings))
            if not results.has("doppel", sum(PAPER_USERS.values())):
                results.add(measure_six_cities(Path(folder), "doppel"))
    if given.table:
        write_table(results.rows)


SIZES = (
    *(("doppel", users, 1000, 2) for users in (10_000, 50_000, 219_793, 1_000_000)),
    *(("doppel", 50_000, places, 2) for places in (250, 4000)),
    *(("doppel", 50_000, 1000, hours) for hours in (1, 6)),
    ("ppmtf", 10_000, 1000, 2),
    ("ppmtf", 10_000, 250, 2),
    ("ppmtf", 10_000, 1000, 6),
    ("ppmtf", 219_793, 1000, 2),
)
"""(model, users, places, hours in a slot); what changes is compared with 1,000 places and 2 h."""


class Results:
    """The rows measured so far, in a file or only here."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        if path is not None and path.exists():
            self.rows = json.loads(path.read_text(encoding="utf-8"))

    def has(self, model: str, users: int, places: int = 1000, hours: int = 2) -> bool:
        """Tell whether this size was measured."""
        wanted = {"model": model, "users": users, "places": places, "hours": hours}
        return any(wanted.items() <= row.items() for row in self.rows)

    def add(self, row: dict[str, Any]) -> None:
        """Print and keep a row."""
        print(describe(row), flush=True)
        self.rows.append(row)
        if self.path is not None:
            self.path.write_text(json.dumps(self.rows, indent=1) + "\n", encoding="utf-8")


def measure(folder: Path, model: str, users: int, places: int, hours: int) -> dict[str, Any]:
    """Run one size from the raw file to the release and return its figures."""
    raw = folder / f"raw-{users}-{places}"
    checkins = write_foursquare(raw, {"Istanbul": users}, places=places)
    figures = synthesize(raw, "Istanbul", users, model, places, hours, folder / "run")
    for file in raw.iterdir():
        file.unlink()
    size = {"model": model, "users": users, "places": places, "hours": hours}
    return size | {"checkins": checkins} | figures


def measure_six_cities(folder: Path, model: str) -> dict[str, Any]:
    """Run the paper's six cities, all in one pair of raw files, and add up their figures."""
    raw = folder / "raw-six"
    checkins = write_foursquare(raw, PAPER_USERS)
    parts = [
        synthesize(raw, city, users, model, 1000, 2, folder / "run")
        for city, users in PAPER_USERS.items()
    ]
    for file in raw.iterdir():
        file.unlink()
    return {
        "model": model, "users": sum(PAPER_USERS.values()), "places": 1000, "hours": 2,
        "cities": len(parts), "checkins": checkins,
        "seconds": {s: sum(p["seconds"][s] for p in parts) for s in parts[0]["seconds"]},
        "wall_seconds": sum(p["wall_seconds"] for p in parts),
        "peak_memory_mb": max(p["peak_memory_mb"] for p in parts),
        "released": sum(p["released"] for p in parts),
    }  # fmt: skip


def synthesize(
    raw: Path, city: str, users: int, model: str, places: int, hours: int, out: Path
) -> dict[str, Any]:
    """Run the command and return wall time, seconds of each stage, memory and traces released."""
    command = [
        sys.executable, "-m", "doppeltrace", "synthesize", str(raw), "--city", city,
        "--top-places", str(places), "--instants-per-slot", str(hours), "--model", model,
        *MODELS[model], "--verifiers", str(min(VERIFIERS, users)),
        "--output-format", "parquet", "--out", str(out), "--overwrite",
    ]  # fmt: skip
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - began
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    seconds = {stage: round(manifest["seconds"][stage], 2) for stage in STAGES}
    return {
        "wall_seconds": round(wall, 1),
        "seconds": seconds | {REST: round(wall - sum(seconds.values()), 2)},
        "peak_memory_mb": round(manifest["peak_memory_mb"]),
        "released": manifest["traces"]["released"],
    }


def describe(row: Mapping[str, Any]) -> str:
    """Return a row in words."""
    stages = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in row["seconds"].items())
    return (
        f"{row['model']}, {row['users']:,} users, {row['places']:,} places, slots of "
        f"{row['hours']} h: {row['wall_seconds']:.0f} s ({stages}), "
        f"{row['peak_memory_mb']:,} MB, {row['released']:,} traces released"
    )


def exponent(rows: list[dict[str, Any]], stage: str | None, axis: str) -> float:
    """Return the slope of log time over log size; NaN for fewer than two sizes."""
    if len({row[axis] for row in rows}) < 2:
        return float("nan")
    if axis == "users" and stage in ("deniability test", None):
        # with fewer users than verifiers, the test is against all of them: quadratic
        rows = [row for row in rows if row["users"] > VERIFIERS]
        if len(rows) < 2:
            return float("nan")
    size = np.log([float(row[axis]) for row in rows])
    seconds = [row["wall_seconds"] if stage is None else row["seconds"][stage] for row in rows]
    return float(np.polyfit(size, np.log(np.maximum(seconds, 1e-3)), 1)[0])


def write_table(rows: list[dict[str, Any]]) -> None:
    """Write docs/scale.md and docs/scale.svg from the rows."""
    single = [row | {"slots": 24 // row["hours"]} for row in rows if "cities" not in row]
    growing = [r for r in single if (r["places"], r["hours"]) == (1000, 2)]
    records = [
        {"users": r["users"], "model": r["model"], "stage": stage, "seconds": seconds}
        for r in growing
        for stage, seconds in r["seconds"].items()
    ]
    save_plot(dt.plot_times(records), DOCS / "scale.svg")
    head = ("model", "users", "places", "slots", "check-ins", *STAGES, REST, "all", "memory")
    lines = [_line(head), _line(["---", *["---:"] * (len(head) - 1)])]
    for row in rows:
        users = f"{row['users']:,}" + (" (six cities)" if "cities" in row else "")
        size = (f"{row['places']:,}", str(24 // row["hours"]), f"{row['checkins']:,}")
        times = [f"{seconds:.1f}" for seconds in row["seconds"].values()]
        memory = f"{row['peak_memory_mb'] * 1e6 / 2**30:.2f}"
        total = f"**{row['wall_seconds']:.0f}**"
        lines.append(_line([row["model"], users, *size, *times, total, memory]))
    notes = [
        f"{row['model']}, {row['users']:,} users, {24 // row['hours']} slots: {row['note']}."
        for row in rows
        if "note" in row
    ]
    slopes = [_line(["model", "time over", *STAGES, "all"]), _line(["---"] * 2 + ["---:"] * 5)]
    for model in MODELS:
        for axis in ("users", "places", "slots"):
            compared = _compared([r for r in single if r["model"] == model], axis)
            values = [exponent(compared, stage, axis) for stage in (*STAGES, None)]
            slopes.append(_line([model, axis, *("–" if v != v else f"{v:.2f}" for v in values)]))
    parts = {"rows": lines, "notes": notes, "slopes": slopes}
    page = PAGE.format(**{name: "\n".join(part) for name, part in parts.items()})
    (DOCS / "scale.md").write_text(page, encoding="utf-8")


def _compared(rows: list[dict[str, Any]], axis: str) -> list[dict[str, Any]]:
    """Return the rows that differ in one of users, places and slots only."""
    others = [name for name in ("users", "places", "slots") if name != axis]
    groups: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in others), []).append(row)
    return max(groups.values(), key=lambda group: len({row[axis] for row in group}), default=[])


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


PAGE = """# Scale: from raw check-ins to released traces

Simulated check-ins in the Foursquare layout, about 34 per user over two weeks, read with
`--city Istanbul`, one trace of 24 events per user, the (10, 1) deniability test against 32,000
users drawn at random (all, where there are fewer), Parquet out. One process on 2 cores
(Neoverse-N1, 24 GiB), kernels compiled before. Seconds; memory is the peak of the process in
GiB. *rest* is the start of Python, loading the kernels, the hash of the input, the report, the
datasheet and writing the release.
Made by `python benchmarks/scale.py --all` and `--table`.

{rows}

{notes}

![Seconds over users, a line per stage](scale.svg)

## Growth

The slope of log time over log size, one of users, places and slots changing at a time: 1 is
proportional, 0 is flat. For the test, and for all stages together, sizes count in which there are
more users than verifiers; with fewer, each trace is tested against all of them. Doppel's
training grows slower than the users, because four fifths of its iterations go over a sample of
20,000 of them.

{slopes}

The published tools take about a day for Istanbul on a node of a supercomputer, by the paper's
account; on a machine like ours their training alone would.
"""


if __name__ == "__main__":
    main()
