"""`doppeltrace audit`: verdict, files, exit status, and going on."""

import json
import stat

from doppeltrace.audit import run as room

SMALL = ("--runs", 4, "--k", 4, "--seed", 1, "--threads", 1)


def test_a_leaky_model_is_red_and_exits_with_3(run, table, tmp_path):
    out = tmp_path / "audit"
    done = run("audit", table, "--model", "training", "--bare", "--out", out, *SMALL)
    assert done.exit_code == 3, done.output
    assert "do not publish" in done.output
    assert [path.name for path in out.iterdir()] == ["audit.json"]  # the runs are gone
    assert stat.S_IMODE((out / "audit.json").stat().st_mode) == 0o600
    assert json.loads((out / "audit.json").read_text())["level"] == "red"


def test_amber_exits_with_0_and_writes_json(run, table, tmp_path):
    file = tmp_path / "found.json"
    done = run("audit", table, "--model", "uniform", "--json", file, *SMALL)
    assert done.exit_code == 0, done.output
    told = json.loads(file.read_text())
    assert (told["level"], told["runs"], told["level0"]["rare_places"]) == ("amber", 4, 0)


def test_a_folder_with_something_else_is_refused(run, table, tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    for options in ((), ("--resume",)):
        done = run("audit", table, "--model", "uniform", "--out", tmp_path, *options, *SMALL)
        assert done.exit_code == 2
        assert "not empty" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_resume_takes_the_seed_of_the_stopped_audit(run, table, tmp_path, monkeypatch):
    out, options = tmp_path / "audit", ("--model", "uniform", "--runs", 4, "--k", 4)

    def stopped(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(room, "_canaries", stopped)
        assert run("audit", table, "--out", out, *options).exit_code == 130
    assert len(list((out / "runs").glob("run_*.npz"))) == 4
    done = run("audit", table, "--out", out, "--resume", *options)
    assert done.exit_code == 0, done.output
    assert [path.name for path in out.iterdir()] == ["audit.json"]
    assert run("audit", table, "--resume", *options).exit_code == 2  # where from?
