"""Any small table with any settings: a whole release or one clear sentence, never a traceback."""

import inspect
import json

import numpy as np
import pytest

from doppeltrace.report.internal.files import FINDINGS
from doppeltrace.synthesizers import MODELS

REAL_MODELS = dict(MODELS)  # before a test adds its own
CASES = 80


def _table(draw, path):
    """Write the events of a few users at a few places, as thin or as dense as it comes."""
    users, places, days = (int(draw.integers(1, most)) for most in (24, 12, 4))
    share, spread = draw.choice([0.1, 0.5, 1.0]), draw.choice([0.0, 1e-3, 1.0])
    rows = ["uid,datetime,lat,lng,location"]
    for user in range(users):
        home = draw.integers(places)
        for hour in range(24 * days):
            if draw.random() < share:
                at = home if draw.random() < 0.5 else draw.integers(places)
                time = f"2024-03-0{hour // 24 + 1}T{hour % 24:02d}:00:00"
                rows.append(f"{user},{time},{40 + spread * at},{20 - spread * at},p{at}")
    path.write_text("\n".join(rows) + "\n")


def _options(draw):
    """Yield options of which most, not all, fit the table and one another."""
    name = draw.choice(sorted(REAL_MODELS))
    yield from ("--model", name, "--seed", draw.integers(1000))
    yield from ("--traces-per-user", draw.integers(1, 4))
    known = inspect.signature(REAL_MODELS[name]).parameters
    for option, value in (("--iterations", 3), ("--factors", draw.integers(1, 4))):
        if option.strip("-") in known:
            yield from (option, value)
    for option, value in (("--split", 0.5), ("--length", draw.integers(1, 30)), ("--eta", 0.1)):
        if draw.random() < 0.4:
            yield from (option, value)
    kind = REAL_MODELS[name]
    if not kind.has_owners and draw.random() < 0.9:
        yield from ("--traces", draw.integers(1, 60))
    least = draw.choice([1, 2, 5], p=[0.5, 0.4, 0.1])
    yield from ("--min-users", least, *(["--allow-rare-places"] if least == 1 else []))
    if draw.random() < (0.1 if kind.testable else 0.9):
        yield "--no-test"
    else:
        yield from ("--k", draw.choice([1, 2, 3, 40], p=[0.4, 0.4, 0.15, 0.05]))
    for flag, share in (("--randomized-test", 0.1), ("--count-all", 0.2), ("--no-daily", 0.2)):
        if draw.random() < share:
            yield flag


@pytest.mark.parametrize("case", range(CASES))
def test_a_run_ends_whole_or_in_one_sentence(run, case, tmp_path):
    draw = np.random.default_rng(case)
    table, out = tmp_path / "table.csv", tmp_path / "out"
    _table(draw, table)
    done = run("synthesize", table, "--out", out, *_options(draw))
    if done.exit_code == 0:
        released = json.loads((out / "internal" / FINDINGS).read_text())["run"]["released"]
        _, *rows = (out / "public/traces.csv").read_text().splitlines()
        assert {int(row.split(",")[0]) for row in rows} == set(range(released))
    else:
        assert done.exit_code == 2 and isinstance(done.exception, SystemExit), done.output
        assert done.stderr.count("error:") == 1 and not out.exists()
