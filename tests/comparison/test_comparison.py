"""`compare`: rows, labels, tables and JSON."""

import json

import numpy as np
import pytest
from rich.console import Console

import doppeltrace as dt
from doppeltrace.comparison import paper_grid
from doppeltrace.comparison.memory import peak_memory
from doppeltrace.comparison.result import SCORES


@pytest.fixture(scope="module")
def city():
    traces = dt.simulate_city(users=80, places=25, seed=1).traces
    return traces.select(np.arange(40)), traces.select(np.arange(40, 80))


@pytest.fixture(scope="module")
def found(city):
    train, test = city
    wanted = {
        "SGD": [dt.SGD(copied=0), dt.SGD(copied=3)],
        "SGLT": [dt.SGLT(clusters=8, removal=r, merging=m) for r, m in ((0.0, 0.5), (1.0, 0.25))],
        "nothing": dt.Uniform(),
    }
    return dt.compare(train, test, wanted, traces_per_user=3, seed=1)


def test_rows_and_labels(found):
    assert [row.label for row in found.rows] == [
        "SGD copied=0",
        "SGD copied=3",
        "SGLT removal=0, merging=0.5",
        "SGLT removal=1, merging=0.25",
        "nothing",
    ]
    assert [row.model for row in found.rows] == ["sgd", "sgd", "sglt", "sglt", "uniform"]
    assert found["SGLT removal=1, merging=0.25"].settings["clusters"] == 8
    with pytest.raises(KeyError, match="SGD copied=0"):
        found["missing"]


def test_scores_are_those_of_evaluate(city, found):
    train, test = city
    made = dt.SGD(copied=3).fit(train).sample(3, seed=1)
    score = dt.evaluate(train=train, test=test, synthetic=made, seed=1)
    row = found["SGD copied=3"]
    for name in SCORES:
        assert row.score[name] == score[name]
    assert (
        row.score["reidentification_rate"] > found["SGD copied=0"].score["reidentification_rate"]
    )


def test_time_and_memory(found):
    for row in found.rows:
        assert min(row.fit_seconds, row.sample_seconds, row.score_seconds) > 0
        assert 10 < row.peak_memory_mb < 100_000


def test_peak_memory_of_a_stretch():
    with peak_memory() as small:
        pass
    with peak_memory() as large:
        block = np.ones(40_000_000, np.uint8)
        del block
    with peak_memory() as after:
        pass
    assert large.mb > small.mb + 30
    assert after.mb < large.mb - 30


def test_json(found):
    content = json.loads(found.to_json())
    assert content["traces_per_user"] == 3
    first = content["rows"][0]
    assert first["label"] == "SGD copied=0"
    assert first["settings"] == {"copied": 0}
    assert first["tp_tv"] == found.rows[0].score["tp_tv"]
    assert "seed" not in first


def test_table_and_markdown(found):
    console = Console(width=200, record=True, quiet=True)
    console.print(found.to_table())
    lines = found.to_markdown().splitlines()
    assert len(lines) == 2 + 5 + 2 + 2
    assert len({line.count("|") for line in lines[:9]}) == 1
    assert lines[2].startswith(f"| SGD copied=0 | {found.rows[0].score['tp_tv']:.4f} |")
    assert lines[7].startswith(
        f"| Training (exact) | {found.rows[0].score['tp_tv_training']:.4f} |"
    )


def test_same_seed_same_scores(city, found):
    again = dt.compare(*city, {"SGD": [dt.SGD(), dt.SGD(copied=3)]}, traces_per_user=3, seed=1)
    for row in again.rows:
        assert row.score.to_dict() == found[row.label].score.to_dict()


def test_equal_models_are_numbered(city):
    rows = dt.compare(*city, {"a": [dt.SGD(), dt.SGD()]}, traces_per_user=1, attacks=False).rows
    assert [row.label for row in rows] == ["a #1", "a #2"]
    assert rows[0].score["reidentification_rate"] is None


def test_progress(city):
    steps = []
    dt.compare(*city, {"a": dt.SGD(), "b": dt.Uniform()}, traces_per_user=1, callback=steps.append)
    outer = [(s.done, s.total) for s in steps if s.phase == "comparison"]
    assert outer == [(0, 2), (1, 2), (2, 2)]
    assert {s.phase for s in steps} == {"comparison", "training", "synthesis"}


def test_nothing_to_compare(city):
    with pytest.raises(dt.SettingsError, match="no synthesizers"):
        dt.compare(*city, {})
    with pytest.raises(dt.SettingsError, match="traces_per_user"):
        dt.compare(*city, {"a": dt.SGD()}, traces_per_user=0)


def test_paper_grid():
    grid = paper_grid(seed=1)
    assert {name: len(models) for name, models in grid.items()} == {
        "PPMTF": 12,
        "SGD": 6,
        "SGLT 50": 10,
        "SGLT 100": 10,
        "SGLT 150": 10,
        "SGLT 200": 10,
    }
