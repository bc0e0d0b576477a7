"""What the safeguards cost: the same model with and without them, on the same merged places.

    python experiments/suppression_cost.py DATA [--models doppel ppmtf] [--seeds 0 1 2]

DATA is the folder that holds `people_flow` and `nyc_checkins`. Rows of a model:

- `before`: trained on the input as it is, scored on all its places;
- `before, merged`: the same traces, their places merged afterwards, so that the figures can be
  compared with
- `after`: trained on bounded users at merged places (`safeguards.protect`).

`rare` counts the places in the released traces that fewer than five training users visited.
Printed are means over the seeds and, behind ±, half the spread (maximum − minimum).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import doppeltrace as dt
from doppeltrace.safeguards.protect import Protected, protect
from doppeltrace.safeguards.rare_places import MIN_USERS, users_per_place
from doppeltrace.synthesizers import MODELS

COLUMNS = ("tp_tv", "tp_tv_top50", "vf_tv", "tm_emd_x", "tm_emd_y", "pass", "rare")


def one(
    name: str, fitted: dt.Traces, traces_per_user: int, seed: int
) -> tuple[dt.SyntheticTraces, float]:
    """Return the released traces of one training, and the share that passed the test."""
    model = MODELS[name](seed=seed)
    synthetic = model.fit(fitted).sample(traces_per_user, seed=seed)
    tested = dt.deniability_test(model, synthetic, k=10, eta=1.0, count_all=False)
    return synthetic.select(tested.passed), tested.pass_rate


def merge(released: dt.SyntheticTraces, guarded: Protected) -> dt.SyntheticTraces:
    """Return the traces with their places merged afterwards."""
    return dt.SyntheticTraces(
        guarded.place_of[released.locations],
        released.owner,
        released.replicate,
        guarded.train.places,
        guarded.train.clock,
    )


def figures(
    data: dt.Dataset, name: str, traces_per_user: int, seed: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the rows of one seed."""
    assert data.test is not None
    guarded = protect(data.train, data.test, seed=seed)
    rare = data.train.places.labels[users_per_place(data.train) < MIN_USERS]

    def score(
        train: dt.Traces, test: dt.Traces | None, released: dt.SyntheticTraces, rate: float
    ) -> dict[str, float]:
        card = dt.evaluate(train=train, test=test, synthetic=released)
        shown = released.places.labels[np.unique(released.locations)]
        own = {"pass": rate, "rare": float(np.isin(shown, rare).sum())}
        return {**{c: card[c] for c in COLUMNS if c not in own}, **own}

    before, rate = one(name, data.train, traces_per_user, seed)
    yield "before", score(data.train, data.test, before, rate)
    yield "before, merged", score(guarded.train, guarded.test, merge(before, guarded), rate)
    after, rate = one(name, guarded.fitted, traces_per_user, seed)
    yield "after", score(guarded.train, guarded.test, after, rate)


def main() -> None:
    """Print a table per data set."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", nargs="+", default=["doppel", "ppmtf"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    arguments = parser.parse_args()
    for folder, traces_per_user in (("people_flow", 10), ("nyc_checkins", 5)):
        data = dt.read(arguments.data / folder)
        print(f"\n{folder}")
        for sentence in protect(data.train, data.test, seed=0).words:
            print(f"  {sentence}")
        print(" " * 24 + "".join(f"{column:>16}" for column in COLUMNS))
        for name in arguments.models:
            rows: dict[str, list[dict[str, float]]] = {}
            for seed in arguments.seeds:
                for label, row in figures(data, name, traces_per_user, seed):
                    rows.setdefault(label, []).append(row)
            for label, several in rows.items():
                values = [[row[column] for row in several] for column in COLUMNS]
                cells = (f"{np.mean(v):.3f} ±{(max(v) - min(v)) / 2:.3f}" for v in values)
                print(f"{name:<8}{label:<16}" + "".join(f"{c:>16}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
