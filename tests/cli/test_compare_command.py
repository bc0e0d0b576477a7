"""`doppeltrace compare`: lists of models, files, and what is refused."""

import json

import pytest

import doppeltrace as dt
from doppeltrace.cli.compare import parse_models


def test_models_with_settings_and_curves():
    wanted = parse_models("uniform, sglt:clusters=50:removal=0/0.5 ,sgd:copied=2", 3, 1)
    assert list(wanted) == ["uniform", "sglt:clusters=50:removal=0/0.5", "sgd:copied=2"]
    curve = wanted["sglt:clusters=50:removal=0/0.5"]
    assert [(m.clusters, m.removal) for m in curve] == [(50, 0), (50, 0.5)]
    assert all((m.seed, m.threads) == (3, 1) for m in curve)


def test_the_grid_of_the_paper():
    assert sum(len(models) for models in parse_models("paper", 1, None).values()) == 58


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sgd,,ppmtf", "missing"),
        ("sgd,sgd", "twice"),
        ("nosuch", "not known"),
        ("sgd:copied", "NAME=VALUE"),
        ("sgd:alpha=2", "does not apply"),
        ("sgd:copied=-1", "copied"),
    ],
)
def test_lists_that_cannot_be_read(text, message):
    with pytest.raises(dt.SettingsError, match=message):
        parse_models(text, 1, None)


def test_compare_writes_what_is_asked_for(run, people_flow_folder, tmp_path):
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "md", "svg")}
    done = run(
        "compare", "--data", people_flow_folder, "--models", "sgd:copied=0/1,uniform",
        "--traces-per-user", 1, "--seed", 1, "--json", files["json"],
        "--markdown", files["md"], "--plot", files["svg"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    rows = json.loads(files["json"].read_text())["rows"]
    labels = [row["label"] for row in rows]
    assert labels == ["sgd:copied=0/1 copied=0", "sgd:copied=0/1 copied=1", "uniform"]
    assert abs(rows[0]["tp_tv"] - 0.457) < 0.02
    assert "TP-TV" in files["md"].read_text()
    assert "<svg" in files["svg"].read_text()


def test_nothing_runs_if_the_plot_cannot_be_written(run, people_flow_folder, tmp_path):
    done = run(
        "compare", "--data", people_flow_folder, "--models", "sgd", "--plot", tmp_path / "a.gif"
    )  # fmt: skip
    assert done.exit_code == 2
    assert "svg" in done.output
    assert list(tmp_path.iterdir()) == []
