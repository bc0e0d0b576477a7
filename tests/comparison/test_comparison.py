"""`compare`: rows, labels, tables and JSON."""

import io
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import doppeltrace as dt
from doppeltrace.comparison import paper_grid
from doppeltrace.comparison.memory import peak_memory


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
    assert row.score.to_dict() == score.to_dict()
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


def test_json_has_the_yardsticks(found):
    told = json.loads(found.to_json())["yardsticks"]
    assert list(told) == ["training", "frozen", "independent", "uniform"]
    assert told["frozen"]["tp_tv"] == found.rows[0].score["tp_tv_frozen"]
    assert told["training"]["summary_mean"] == 1.0


def test_table_fits_80_columns(found):
    console = Console(width=80, file=io.StringIO())
    console.print(found.to_table())
    text = console.file.getvalue()
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "…" not in text
    for piece in ("Training", "Frozen", "Independent", "Uniform", "summary, mean", "100 %"):
        assert piece in text
    assert f"{found.rows[0].score['tp_tv']:.3f}" in text
    assert text.count("TP-TV-Top50") == 2  # nine columns take two blocks


def test_markdown_has_a_column_per_model_and_yardstick(found):
    lines = [x for x in found.to_markdown().splitlines() if x.startswith("|")]
    assert len({line.replace("\\*", "").count("|") for line in lines}) == 1
    assert lines[0].count("|") == 2 + 5 + 4
    assert lines[0].endswith("| nothing | Training | Frozen | Independent | Uniform |")
    (line,) = (x for x in lines if x.startswith(("| TP-TV |", "| TP-TV \\*")))
    assert f"| {found.rows[0].score['tp_tv']:.3f} |" in line
    assert f"| {found.rows[0].score['tp_tv_training']:.3f} |" in line
    assert any(x.startswith("| pass the test |") for x in lines)


def test_frame_and_notebook(found):
    frame = found.to_pandas()
    assert list(frame.index[-4:]) == ["Training", "Frozen", "Independent", "Uniform"]
    assert frame.loc["Training", "summary_mean"] == 1.0
    assert "<td>TP-TV" in found._repr_html_().replace("<td> ", "<td>")
    assert "nothing" in repr(found)


def test_pass_rate_and_guarantee(city):
    train, test = city
    wanted = {
        "ours": dt.Doppel(iterations=20, seed=1),
        "nothing": dt.Uniform(),
        "sglt": dt.SGLT(clusters=8),
    }
    rows = dt.compare(train, test, wanted, traces_per_user=2, seed=1, attacks=False, k=3).rows
    model = dt.Doppel(iterations=20, seed=1).fit(train)
    made = model.sample(2, seed=1)
    tested = dt.deniability_test(model, made.select(made.replicate == 0), k=3, eta=1.0, seed=1)
    assert rows[0].pass_rate == pytest.approx(tested.pass_rate)
    assert [row.guarantee for row in rows] == ["(3, 1)-PD", "none", "none"]
    assert rows[1].pass_rate is None and rows[2].pass_rate is None


@pytest.mark.parametrize("style", ["dense", "checkins"])
def test_json_of_ordinary_check_ins(style):
    """Sparse traces leave figures undefined, which JSON calls null."""
    train, test = dt.simulate_city(users=60, places=30, seed=1, style=style).split()
    found = dt.compare(
        train, test, {"sgd": dt.SGD(), "training": dt.Training()}, traces_per_user=1
    )
    json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(name))


def test_lira_comes_from_the_audit(city, monkeypatch):
    heard = {}

    def audit(train, model, *, runs, levels, **more):
        heard.update(runs=runs, levels=levels, model=model.name)
        return SimpleNamespace(lira=SimpleNamespace(advantage=0.125))

    room = ModuleType("doppeltrace.audit.run")
    room.audit = audit
    monkeypatch.setitem(sys.modules, "doppeltrace.audit.run", room)
    monkeypatch.setitem(sys.modules, "doppeltrace.audit", ModuleType("doppeltrace.audit"))
    found = dt.compare(*city, {"a": dt.SGD()}, traces_per_user=1, attacks=False, audit_runs=4)
    assert heard == {"runs": 4, "levels": (1,), "model": "sgd"}
    assert found["a"].lira_advantage == 0.125
    assert found.to_dict()["rows"][0]["lira_advantage"] == 0.125
    panel = dt.plot_summary(found).axes[0]
    assert panel.get_xlabel() == "LiRA advantage"
    assert list(panel.lines[0].get_xdata()) == [0.125]


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
