"""`doppeltrace tune`."""

import json
import stat

import pytest

import doppeltrace as dt


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("tune") / "city.csv"
    city = dt.simulate_city(160, 16, seed=2)
    dt.to_pandas(city.traces).drop(columns="tid").to_csv(path, index=False)
    return path


def test_the_table_and_what_to_add(run, table, tmp_path):
    target = tmp_path / "tuning.json"
    result = run(
        "tune", table, "--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20,
        "--model", "sgd", "--folds", 2, "--k", 2, "--min-pass-rate", 0, "--json", target,
        "--seed", 3,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    told = json.loads(target.read_text())
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert told["model"] == "sgd" and len(told["trials"]) > 1
    assert "(2, 1)-plausible deniability" in result.stdout
    for name, value in told["changed"].items():
        assert f"--set {name}={value}" in result.stdout


def test_what_cannot_be_tuned(run, table):
    result = run("tune", table, "--model", "uniform")
    assert result.exit_code == 2 and "--model uniform has nothing to tune" in result.stderr
