"""Ctrl-C and kill, on the real program."""

import json
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.cli.progress import Reporter
from doppeltrace.deniability import deterministic
from doppeltrace.pipeline import batches
from doppeltrace.pipeline.checkpoint import RunCheckpoint
from doppeltrace.release import release

COMMAND = (
    "synthesize", "--instant-minutes", "20", "--first-hour", "8", "--last-hour", "20",
    "--factors", "4", "--set", "group=1", "--k", "2",
)  # fmt: skip


def start(table, out, *extra):
    """Start the program on the small city."""
    command = [sys.executable, "-m", "doppeltrace", *COMMAND, *extra, str(table), "--out", out]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def contents(folder):
    """Return path → bytes of every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


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
    before = contents(out)
    with start(table, out, "--iterations", "10000000", "--overwrite") as process:
        wait_for(process, "training 1/")
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in errors
    assert contents(out) == before
    left = {"run"} if number != signal.SIGKILL else {"run", "run.unfinished"}
    assert {path.name for path in tmp_path.iterdir()} == left


KEEP_ALWAYS = ("--checkpoint-seconds", "0", "--iterations", "400", "--resume")


def kill_after(process, folder, changes):
    """Kill the program once a file in the folder has come or changed so many times.

    Returns whether it was killed, and had not ended before.
    """
    seen = set()
    while process.poll() is None:
        for path in folder.glob("*"):
            with suppress(FileNotFoundError):  # replaced in this moment
                seen.add((path.name, path.stat().st_ino, path.stat().st_mtime_ns))
        if len(seen) > changes:
            process.kill()
            return True
        time.sleep(0.001)
    return False


def test_killed_ten_times_at_random_moments(run, table, tmp_path):
    """Killed without mercy and resumed, it releases what it would have released."""
    seed = ("--seed", "7")
    with start(table, tmp_path / "whole", *KEEP_ALWAYS, *seed) as process:
        process.communicate(timeout=600)
    expected = (tmp_path / "whole" / "public/traces.csv").read_bytes()
    out = tmp_path / "run"
    killed = 0
    for changes in np.random.default_rng(1).integers(2, 100, size=10):
        with start(table, out, *KEEP_ALWAYS, *seed) as process:
            killed += kill_after(process, tmp_path / "run.unfinished", changes)
            process.communicate()
        if out.exists():  # it was done before its time: begin again
            assert (out / "public/traces.csv").read_bytes() == expected
            shutil.rmtree(out)
    assert killed > 5  # most were stopped in the middle
    with start(table, out, *KEEP_ALWAYS, *seed) as process:
        _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert (out / "public/traces.csv").read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "whole"]


@pytest.fixture
def stopped(run, table, tmp_path, monkeypatch):
    """Return a function that runs a command and interrupts it in the given phase."""

    def stop(phase, *options):
        def interrupt(self, step):
            if step.phase == phase and step.done > 0:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Reporter, "__call__", interrupt)
            return run(*COMMAND, table, *options, "--out", tmp_path / "run")

    return stop


@pytest.mark.parametrize("phase", ["training", "own likelihoods", "deniability test"])
def test_ctrl_c_says_how_to_go_on(run, table, tmp_path, monkeypatch, stopped, phase):
    monkeypatch.setattr(deterministic, "BLOCK_VERIFIERS", 16)
    always = ("--checkpoint-seconds", 0)
    result = stopped(phase, *always)
    assert result.exit_code == 130
    assert "with --resume goes on from it" in " ".join(result.stderr.split())
    folder, out = tmp_path / "run.unfinished", tmp_path / "run"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "training.safetensors").stat().st_mode) == 0o600
    assert bool(list(folder.glob("traces-*"))) == (phase == "deniability test")
    command = (*COMMAND, table, *always, "--out", out)
    refused = run(*command)
    assert refused.exit_code == 2 and "go on from it with --resume" in refused.stderr
    secret = json.loads((folder / "about.json").read_text())["seed"]
    for change, named in (
        (("--k", 3), "--k (2, now 3)"),
        (("--seed", 3), "seed:"),
        (("--eta", 2), "--eta (1.0, now 2.0)"),
        (("--iterations", 7), "setting of the model ("),
    ):
        refused = run(*command, *change, "--resume")
        assert refused.exit_code == 2 and f"another {named}" in refused.stderr
        assert secret not in refused.stderr
    done = run(*command, "--resume")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]
    seed = json.loads((out / "internal/manifest.json").read_text())["seed"]
    whole = run(*COMMAND, table, "--seed", seed, "--out", tmp_path / "whole")
    assert whole.exit_code == 0
    files = [folder / "public/traces.csv" for folder in (tmp_path / "whole", out)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_stopped_run_can_be_discarded(run, table, tmp_path, stopped):
    stopped("training", "--checkpoint-seconds", 0)
    assert (tmp_path / "run.unfinished").exists()
    result = run(*COMMAND, table, "--overwrite", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_short_runs_and_no_checkpoint_keep_nothing(tmp_path, stopped):
    for options in ((), ("--no-checkpoint",)):
        assert stopped("training", *options).exit_code == 130
        assert list(tmp_path.iterdir()) == []


def test_stopped_between_release_and_clearing_up(run, table, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(RunCheckpoint, "remove", lambda self: None)
        done = run(*COMMAND, table, "--out", tmp_path / "run")
    assert done.exit_code == 0 and (tmp_path / "run.unfinished").exists()
    before = (tmp_path / "run" / "public/traces.csv").read_bytes()
    again = run(*COMMAND, table, "--resume", "--out", tmp_path / "run")
    assert again.exit_code == 0 and again.stdout == done.stdout
    assert (tmp_path / "run" / "public/traces.csv").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_of_something_else_is_left_alone(run, table, tmp_path):
    folder = tmp_path / "run.unfinished"
    folder.mkdir()
    (folder / "about.json").write_text("my diary")
    result = run(*COMMAND, table, "--resume", "--out", tmp_path / "run")
    assert result.exit_code == 2 and "not an unfinished run" in result.stderr
    assert (folder / "about.json").read_text() == "my diary"


@pytest.mark.parametrize("option", ["--resume", "--overwrite", None])
def test_two_processes_do_not_share_an_output(run, table, tmp_path, option):
    other = RunCheckpoint(tmp_path / "run")
    other.begin(1, {})
    before = (other.folder / "about.json").read_text()
    options = [option] if option else []
    result = run(*COMMAND, table, *options, "--out", tmp_path / "run")
    assert result.exit_code == 2 and "another process" in result.stderr
    assert "with --resume goes on" not in result.stderr
    assert (other.folder / "about.json").read_text() == before
    assert not (tmp_path / "run").exists()


def test_what_another_run_left_is_never_released(run, table, tmp_path, monkeypatch, stopped):
    """A kill while a folder is cleared up may leave parts without a word whose they are."""
    monkeypatch.setattr(deterministic, "BLOCK_VERIFIERS", 16)
    stopped("deniability test", "--checkpoint-seconds", 0, "--seed", 1)
    folder = tmp_path / "run.unfinished"
    kept = {path: path.read_bytes() for path in folder.glob("traces-*")}
    assert kept
    (folder / "about.json").unlink()
    command = (*COMMAND, table, "--seed", 2, "--checkpoint-seconds", 0)
    assert run(*command, "--out", tmp_path / "run", "--resume").exit_code == 0
    assert run(*command, "--out", tmp_path / "whole").exit_code == 0
    files = [(tmp_path / name / "public/traces.csv").read_bytes() for name in ("run", "whole")]
    assert files[0] == files[1]
    stopped("training", "--checkpoint-seconds", 0, "--seed", 3, "--overwrite")
    for path, content in kept.items():  # of another run, beside the word of this one
        path.write_bytes(content)
    command = (*COMMAND, table, "--seed", 3, "--checkpoint-seconds", 0, "--overwrite")
    assert run(*command, "--out", tmp_path / "run", "--resume").exit_code == 0
    assert run(*command, "--out", tmp_path / "whole").exit_code == 0
    files = [(tmp_path / name / "public/traces.csv").read_bytes() for name in ("run", "whole")]
    assert files[0] == files[1]


@pytest.mark.parametrize("events", [1, 700])
def test_parts_do_not_change_a_release(run, table, tmp_path, monkeypatch, events):
    command = (*COMMAND, table, "--traces-per-user", 2, "--seed", 5)
    assert run(*command, "--out", tmp_path / "whole").exit_code == 0
    monkeypatch.setattr(batches, "BATCH_EVENTS", events)
    assert run(*command, "--out", tmp_path / "parts").exit_code == 0
    files = [(tmp_path / name / "public/traces.csv").read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]


def test_little_memory_makes_smaller_parts(run, table, tmp_path, monkeypatch):
    command = (*COMMAND, table, "--seed", 5)
    assert run(*command, "--out", tmp_path / "whole").exit_code == 0
    sample, sizes = dt.Doppel.sample, []

    def hungry(self, *arguments, users=None, **options):
        if users is not None:
            sizes.append(len(users))
            if len(users) > 20:
                raise MemoryError
        return sample(self, *arguments, users=users, **options)

    monkeypatch.setattr(dt.Doppel, "sample", hungry)
    monkeypatch.setattr(batches, "MIN_USERS", 4)
    result = run(*command, "--out", tmp_path / "parts")
    assert result.exit_code == 0 and "memory is short" in result.stderr
    assert max(sizes) > 20 >= sizes[-1]
    files = [(tmp_path / name / "public/traces.csv").read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]
    monkeypatch.setattr(batches, "MIN_USERS", 10**6)
    result = run(*command, "--out", tmp_path / "none")
    assert result.exit_code == 2 and "not enough memory" in result.stderr
    assert not (tmp_path / "none").exists()


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
