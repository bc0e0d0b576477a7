"""`doppeltrace export`."""

import json
from pathlib import Path

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.release import release


@pytest.fixture
def run_dir(city, tmp_path) -> Path:
    rng = np.random.default_rng(0)
    locations = rng.integers(0, len(city.places), size=(6, city.clock.n_instants))
    synthetic = dt.SyntheticTraces(locations, np.arange(6), np.zeros(6), city.places, city.clock)
    return release(synthetic, np.ones(6, dtype=bool), tmp_path / "run").folder


def test_export(run, run_dir, tmp_path):
    target = tmp_path / "traces.geojson"
    result = run("export", run_dir, "--to", target)
    assert result.exit_code == 0, result.output
    assert str(target) in result.stdout
    assert len(json.loads(target.read_text())["features"]) == 6 * 36
    again = run("export", run_dir, "--to", target)
    assert again.exit_code == 2
    assert "exists" in again.stderr
    assert run("export", run_dir, "--to", target, "--overwrite").exit_code == 0


def test_kepler(run, run_dir, tmp_path):
    assert run("export", run_dir, "--format", "kepler", "--to", tmp_path / "k.csv").exit_code == 0
    assert "T" not in (tmp_path / "k.csv").read_text().splitlines()[1]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [("run", "a.shp", "let the name end in"), (".", "a.csv", "not a release"),
     ("run", "nowhere/a.csv", "cannot write"), ("run", "run", "lies inside the run"),
     ("run", "raw", "is a folder"),
     ("run", "k.geojson", "the name ends in .geojson, but the format is kepler"),
     ("run", "k.parquet", "let it end in .csv")],
)  # fmt: skip
def test_what_goes_wrong_is_one_line(run, run_dir, tmp_path, source, target, message):
    (tmp_path / "raw").mkdir()
    options = {"r": ("--format", "csv"), "k": ("--format", "kepler")}.get(target[0], ())
    result = run("export", tmp_path / source, "--to", tmp_path / target, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
