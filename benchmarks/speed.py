"""How fast the pipeline is, beside the published programs.

    python benchmarks/speed.py DATA_ROOT

times PPMTF and Doppel on people flow (500 users, 400 regions, 30 slots) and on the New York
check-ins (862 users, 1,000 venues, 12 slots): training, synthesis, and the (10, 1) deniability
test with all other users as verifiers, as `synthesize` runs it. Each figure is the best of
`--repeat` runs, with kernels already compiled; the first column of ratios is what counts on a
noisy machine. The published times are those of the authors' C++ programs, one thread, on a
2-core machine like the one these figures are meant for.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import doppeltrace as dt

PUBLISHED_SECONDS = {
    ("people flow", "training"): 121.0,
    ("people flow", "synthesis"): 1.9,  # 5,000 traces
    ("people flow", "test"): 9.5,  # 500 traces
    ("New York", "training"): 285.0,
    ("New York", "synthesis"): 23.0,  # 862 traces
    ("New York", "test"): 111.0,  # 862 traces
}


def best(action: Callable[[], object], repeat: int) -> tuple[float, object]:
    """Return the shortest wall time of an action and its last result."""
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), result


def measure(name: str, traces: dt.Traces, model: dt.PPMTF | dt.Doppel, repeat: int) -> None:
    """Time the three steps of one model on one data set and print them."""
    traces_per_user = 10 if name == "people flow" else 1
    times = {}
    # the chain is made from the factors when it is first needed, and then kept
    times["training"], _ = best(lambda: model.fit(traces).chain, repeat)
    times["synthesis"], synthetic = best(lambda: model.sample(traces_per_user, seed=1), repeat)
    assert isinstance(synthetic, dt.SyntheticTraces)
    one_each = synthetic.select(synthetic.replicate == 0)
    times["test"], tested = best(
        lambda: dt.deniability_test(model, one_each, k=10, eta=1.0, count_all=False), repeat
    )
    assert isinstance(tested, dt.Deniability)
    label = f"{model.name}, {name}"
    for phase, seconds in times.items():
        show(label, phase, seconds, PUBLISHED_SECONDS[name, phase])
    published = sum(PUBLISHED_SECONDS[name, phase] for phase in times)
    show(label, "all three", sum(times.values()), published)
    print(f"{'':<22} pass rate {tested.pass_rate:.3f} on {len(one_each)} traces\n", flush=True)


def show(label: str, phase: str, seconds: float, published: float) -> None:
    """Print one row."""
    ratio = published / seconds
    print(f"{label:<22} {phase:<10} {seconds:8.2f} s  published {published:6.1f} s  {ratio:7.1f}×")


def main() -> None:
    """Time both models on both data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with people_flow/ and nyc_checkins/")
    parser.add_argument("--repeat", type=int, default=2)
    arguments = parser.parse_args()
    flow = dt.read_people_flow(arguments.data / "people_flow").train
    check_ins = dt.read(arguments.data / "nyc_checkins").train
    few = flow.select(range(4))
    for kind in (dt.PPMTF, dt.Doppel):  # compile
        warm = kind(iterations=1, seed=0).fit(few)
        dt.deniability_test(warm, warm.sample(1, seed=0), k=2, count_all=False)
    for kind in (dt.PPMTF, dt.Doppel):
        for name, traces in (("people flow", flow), ("New York", check_ins)):
            measure(name, traces, kind(seed=0), arguments.repeat)


if __name__ == "__main__":
    main()
