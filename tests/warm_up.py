"""Compile the kernels that most tests need, before tests run side by side and all wait for them.

    python tests/warm_up.py

Models are fitted, sampled and tested in processes of their own, as many at a time as there are
cores. What is compiled already is only looked up.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from doppeltrace.engine.local import cores

PROGRAMS = """
model = dt.PPMTF(factors=3, iterations=1, seed=0).fit(traces)
dt.deniability_test(model, model.sample(1, seed=1), k=2)

model = dt.Doppel(factors=3, iterations=1, seed=0).fit(traces)
dt.deniability_test(model, model.sample(1, seed=1), k=2, count_all=False)

model = dt.SGD(seed=0).fit(traces)
dt.evaluate(train=traces, test=traces, synthetic=model.sample(1, seed=1))

model = dt.Crowd(epsilon=1.0).fit(traces)
model.sample(1, seed=1)

model = dt.SGLT(seed=0).fit(traces)
dt.semantic_test(model, model.sample(1, seed=1))
"""

CITY = """
import doppeltrace as dt
traces = dt.simulate_city(users=40, places=20, seed=1).traces
"""


def main() -> None:
    """Run all programs; a fault is left to the tests, which say more about it."""
    programs = [CITY + program for program in PROGRAMS.strip().split("\n\n")]
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(lambda program: subprocess.run([sys.executable, "-c", program]), programs))


if __name__ == "__main__":
    main()
