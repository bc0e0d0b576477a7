"""Output folders are complete or absent, whatever happens."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from doppeltrace import files as atomic
from doppeltrace.errors import OutputError
from doppeltrace.files import atomic_folder, check_destination


def write_run(destination: Path, text: str, **options) -> None:
    with atomic_folder(destination, **options) as folder:
        (folder / "traces.csv").write_text(text)
        (folder / "internal").mkdir()
        (folder / "internal/manifest.json").write_text(
            json.dumps({"doppeltrace": "0", "text": text})
        )


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_appears_at_the_end_only(tmp_path):
    out = tmp_path / "run"
    with atomic_folder(out) as folder:
        (folder / "a").write_text("1")
        assert not out.exists()
    assert content(out) == {"a": "1"}
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_nothing_is_left_after_an_error(tmp_path, error):
    with pytest.raises(error), atomic_folder(tmp_path / "deep" / "er" / "run") as folder:
        (folder / "a").write_text("1")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_run_is_replaced_only_on_request(tmp_path):
    out = tmp_path / "run"
    write_run(out, "one")
    with pytest.raises(OutputError, match="overwrite=True"):
        write_run(out, "two")
    with pytest.raises(OutputError, match="overwrite=True"):
        check_destination(out)
    assert content(out)["traces.csv"] == "one"
    check_destination(out, overwrite=True)
    write_run(out, "two", overwrite=True)
    assert content(out)["traces.csv"] == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_two_renames_where_the_system_cannot_swap(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_exchange", lambda one, two: False)
    out = tmp_path / "run"
    write_run(out, "one")
    write_run(out, "two", overwrite=True)
    assert content(out)["traces.csv"] == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_process_killed_between_the_two_renames_loses_nothing(tmp_path, monkeypatch):
    out = tmp_path / "run"
    write_run(out, "one")
    os.rename(out, tmp_path / ".run.0123.earlier")  # the state between the renames
    check_destination(out, overwrite=True)
    assert content(out)["traces.csv"] == "one"


def test_an_empty_folder_is_free(tmp_path):
    (tmp_path / "run").mkdir()
    write_run(tmp_path / "run", "one")
    assert content(tmp_path / "run")["traces.csv"] == "one"


def test_something_else_is_never_overwritten(tmp_path):
    out = tmp_path / "home"
    out.mkdir()
    (out / "thesis.txt").write_text("years")
    (out / "internal").mkdir()
    (out / "internal/manifest.json").write_text('{"name": "another program"}')
    with pytest.raises(OutputError, match="something other than an earlier run"):
        write_run(out, "one", overwrite=True)
    assert content(out)["thesis.txt"] == "years"


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(OutputError) as caught:
            check_destination(out)
        assert str(out) in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_that_may_not_be_written(tmp_path, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(OutputError, match="Permission denied; choose a folder"):
        check_destination(tmp_path / "run")


def test_disk_full(tmp_path):
    out = tmp_path / "run"
    write_run(out, "one")
    with pytest.raises(OutputError, match="No space left on device; free some space"):
        with atomic_folder(out, overwrite=True) as folder:
            (folder / "traces.csv").write_text("tw")
            Path("/dev/full").write_text("o")
    assert content(out)["traces.csv"] == "one"
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_leftovers_of_killed_runs_are_swept_but_not_those_of_live_ones(tmp_path):
    dead, live, other = (tmp_path / n for n in (".run.1.partial", ".run.2.partial", ".x.partial"))
    for folder in (dead, live, other):
        folder.mkdir()
        (folder / "half").write_text("")
    lock = os.open(live, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_run(tmp_path / "run", "one")
    finally:
        os.close(lock)
    assert {p.name for p in tmp_path.iterdir()} == {"run", live.name, other.name}


WRITER = """
import itertools, json, sys
from doppeltrace.files import atomic_folder
print("ready", flush=True)
for version in itertools.count():
    with atomic_folder(sys.argv[1], overwrite=True) as folder:
        for name in ("a", "b", "c"):
            (folder / name).write_text(str(version) * 2000)
        (folder / "internal").mkdir()
        told = json.dumps({"doppeltrace": str(version) * 2000})
        (folder / "internal/manifest.json").write_text(told)
"""


@pytest.mark.parametrize("delay", [0.02, 0.0531, 0.1377])
def test_kill_at_any_moment_leaves_a_complete_run(tmp_path, delay):
    out = tmp_path / "run"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, out], stdout=subprocess.PIPE)
    with writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while not out.exists():
            time.sleep(0.001)
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
    found = content(out)
    found["manifest.json"] = json.loads(found["manifest.json"])["doppeltrace"]
    assert set(found) == {"a", "b", "c", "manifest.json"}
    assert len(set(found.values())) == 1
    write_run(out, "next", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
