"""The estimate of time and memory before a run."""

from dataclasses import replace

import pytest

import doppeltrace as dt
from doppeltrace.pipeline import estimate as room
from doppeltrace.pipeline.estimate import estimate, probe
from doppeltrace.pipeline.settings import RunSettings

TABLE_OPTIONS = ("--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20)


@pytest.mark.parametrize("kind", [dt.PPMTF, dt.Doppel])
def test_estimates_grow_as_the_work_does(kind, tmp_path):
    small = dt.simulate_city(50, 25, seed=0).traces
    large = dt.simulate_city(500, 25, seed=0).traces
    model, wish = kind(seed=0, threads=1), RunSettings(tmp_path, seed=0, count_all=True)
    one, ten = (estimate(model, traces, wish) for traces in (small, large))
    # places have work of their own, which more users do not add to
    assert 7 * one.training < ten.training < 10.5 * one.training
    assert ten.synthesis == pytest.approx(10 * one.synthesis)
    assert 12 * one.test < ten.test < 100 * one.test  # tables of users, and pairs of them
    assert ten.memory > one.memory
    assert estimate(model, small, wish, speed=2.0).seconds == pytest.approx(one.seconds / 2)
    twice = replace(wish, traces_per_user=2)
    assert estimate(model, small, twice).synthesis == pytest.approx(2 * one.synthesis)
    assert estimate(model, small, replace(wish, k=None)).test == 0
    fewer = replace(wish, count_all=False, verifiers=100)
    assert estimate(model, large, fewer).test < 0.8 * ten.test
    assert 0.01 < probe() < 100


@pytest.mark.parametrize("model", ["ppmtf", "doppel"])
def test_a_long_run_is_announced(run, table, tmp_path, monkeypatch, model):
    monkeypatch.setattr(room, "LONG_SECONDS", 0.0)
    result = run(
        "synthesize", table, *TABLE_OPTIONS, "--model", model, "--iterations", 1,
        "--factors", 2, "--k", 1, "--out", tmp_path / "run",
    )  # fmt: skip
    assert result.exit_code == 0 and "estimate, within a factor of two: " in result.stderr
