"""Ctrl-C and kill, on the real program."""

import json
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.cli.progress import Reporter
from doppeltrace.release import release
from doppeltrace.synthesizers.model_file import read_about

COMMAND = (
    "synthesize", "--instant-minutes", "20", "--first-hour", "8", "--last-hour", "20",
    "--factors", "4", "--k", "2",
)  # fmt: skip


def start(table, out, *extra):
    """Start the program on the small city."""
    command = [sys.executable, "-m", "doppeltrace", *COMMAND, *extra, str(table), "--out", out]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, text):
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"the program ended before {text!r}")


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_signals_while_training_leave_the_earlier_output(city, table, tmp_path, number, status):
    out = tmp_path / "run"
    earlier = dt.SyntheticTraces([[0, 1]], [0], [0], city.places, city.clock)
    release(earlier, np.array([True]), out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with start(table, out, "--iterations", "10000000", "--overwrite") as process:
        wait_for(process, "training 1/")
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in errors
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_killed_run_goes_on_from_its_checkpoint(run, table, tmp_path):
    """Killed without mercy and started again, it releases what it would have released."""
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "run"
    options = ("--iterations", "1000", "--checkpoint", str(checkpoint))
    with start(table, out, *options) as process:
        while not checkpoint.exists() and process.poll() is None:
            time.sleep(0.002)
        process.kill()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, errors
    assert f"until the run is done, {checkpoint} holds" in errors
    assert not out.exists()
    assert stat.S_IMODE(checkpoint.stat().st_mode) == 0o600
    assert 10 <= sum(read_about(checkpoint)["iterations"]) < 1000
    with start(table, out, *options) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert f"going on from {checkpoint}" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["run"]  # no checkpoint, no part of one
    seed = json.loads((out / "manifest.json").read_text())["seed"]
    whole = tmp_path / "whole"
    result = run(*COMMAND, "--iterations", 1000, table, "--seed", seed, "--out", whole)
    assert result.exit_code == 0, result.output
    assert (whole / "traces.csv").read_bytes() == (out / "traces.csv").read_bytes()


def test_ctrl_c_says_how_to_go_on(run, table, tmp_path, monkeypatch):
    def interrupt(self, step):
        if step.done == 15:
            raise KeyboardInterrupt

    monkeypatch.setattr(Reporter, "__call__", interrupt)
    checkpoint = tmp_path / "checkpoint"
    result = run(*COMMAND, table, "--checkpoint", checkpoint, "--out", tmp_path / "run")
    assert result.exit_code == 130
    assert f"will go on from {checkpoint}" in result.stderr
    assert sum(read_about(checkpoint)["iterations"]) == 10
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_a_full_disk_is_one_line(table, tmp_path):
    """A limit on the size of files stands in for a full disk."""
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
        "from doppeltrace.cli import main; sys.argv = ['doppeltrace', *sys.argv[1:]]; main()"
    )
    command = [sys.executable, "-c", program, *COMMAND, "--iterations", "1", table]
    result = subprocess.run(
        [*command, "--out", tmp_path / "run"], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 2
    assert result.stderr.rstrip().splitlines()[-1].startswith("error: cannot write to ")
    assert "File too large; free some space" in result.stderr
    assert list(tmp_path.iterdir()) == []
