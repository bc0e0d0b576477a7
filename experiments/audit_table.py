"""What releases of several models give away: the audit's table on people flow.

    python experiments/audit_table.py DATA_ROOT [--models a,b] [--runs 64] [--out FOLDER]

The 1,000 users of people flow are the pool; each training sees about 500 of them and the canaries
whose coins say so. First every model bare (no merging of rare places, no caps), as the red team
measured them, 10 traces per user; then Doppel protected as `synthesize` protects it. Writes one
JSON file per row to FOLDER, where a stopped row goes on, and prints the table as Markdown.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import doppeltrace as dt
from doppeltrace.audit.run import audit
from doppeltrace.cli.audit import everybody

MODELS: dict[str, tuple[type, int, bool]] = {
    "doppel": (dt.Doppel, 10, False),
    "doppel, 1 per user": (dt.Doppel, 1, False),
    "ppmtf": (dt.PPMTF, 10, False),
    "sgd": (dt.SGD, 10, False),
    "sglt": (dt.SGLT, 10, False),
    "training": (dt.Training, 10, False),
    "uniform": (dt.Uniform, 10, False),
    "doppel, protected": (dt.Doppel, 10, True),
    "doppel, protected, 1 per user": (dt.Doppel, 1, True),
}
SEED = 0


def main() -> None:
    """Audit the models that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", default="", help="names separated by semicolons")
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--out", type=Path, default=Path("audit_table"))
    wanted = parser.parse_args()
    pool = everybody(dt.read(wanted.data / "people_flow"))
    names = [name.strip() for name in wanted.models.split(";") if name.strip()] or list(MODELS)
    found: dict[str, Any] = {}
    for name in names:
        kind, traces_per_user, protect = MODELS[name]
        folder = wanted.out / name.replace(", ", "_").replace(" ", "_")
        began = time.perf_counter()
        result = audit(
            pool,
            kind(),
            runs=wanted.runs,
            traces_per_user=traces_per_user,
            seed=SEED,
            protect=protect,
            resume=folder,
        )
        seconds = time.perf_counter() - began
        print(f"{name}: {seconds:.0f} s", flush=True)
        print(result, flush=True)
        found[name] = {**result.to_dict(), "seconds": seconds}
        folder.with_suffix(".json").write_text(json.dumps(found[name], indent=2, default=str))
    print(table(found))


def table(found: dict[str, Any]) -> str:
    """Return the rows as Markdown: membership first, then ε of every kind of canary."""
    kinds = list(next(iter(found.values()))["canaries"])
    head = ["model", "AUC", "95 %", "null", "advantage", "TPR at 1 %", "worst 20", *kinds]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, told in found.items():
        lira = told["lira"]
        lines.append(
            [
                name,
                f"{lira['auc']:.3f}",
                f"{lira['auc_low']:.3f} to {lira['auc_high']:.3f}",
                f"{lira['null_auc']:.3f}",
                f"{lira['advantage']:.3f} ({lira['null_advantage']:.3f})",
                f"{lira['tpr_at_1_percent']:.1%}",
                f"{lira['worst20_auc'] or float('nan'):.2f}",
                *(_canary(told["canaries"][kind]) for kind in kinds),
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _canary(told: dict[str, Any]) -> str:
    """Return ε, ε from its own places alone, and how often it shows with and without it in."""
    epsilon = f"{told['epsilon']:.2f}, own {told['epsilon_own']:.2f}"
    return f"{epsilon} ({told['shown_in']:.0%} / {told['shown_out']:.0%})"


if __name__ == "__main__":
    main()
