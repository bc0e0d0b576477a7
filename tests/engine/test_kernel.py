"""The cache of compiled kernels: an edit of any kernel file empties it; it needs no home."""

import ast
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

import doppeltrace
from doppeltrace.engine import kernel as kernels

PACKAGE = Path(doppeltrace.__file__).parent


@pytest.fixture
def copy(tmp_path):
    """A copy of the package without caches."""
    target = tmp_path / "src" / "doppeltrace"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def _run(copy, program, **options):
    environment = {
        k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    environment |= {"PYTHONPATH": str(copy.parent)} | options.pop("env", {})
    return subprocess.run(
        [sys.executable, *program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        **options,
    )


# ---- who is a kernel file -------------------------------------------------------------------


@cache
def _imports(path):
    tree = ast.parse(path.read_text("utf-8"))
    return {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)} | {
        name.name for n in ast.walk(tree) if isinstance(n, ast.Import) for name in n.names
    }


def test_whatever_is_compiled_is_in_a_kernel_file():
    files = set(kernels.kernel_files())
    compiled = {
        path
        for path in PACKAGE.rglob("*.py")
        if any(name == "numba" or name.startswith("numba.") for name in _imports(path) if name)
        or "doppeltrace.engine.kernel" in _imports(path)
    }
    assert len(compiled) > 10
    assert compiled <= files


def test_kernel_files_take_from_kernel_files_only():
    """Constants and functions of another file would be compiled in without being stamped."""
    files = set(kernels.kernel_files())
    rooms = {
        ".".join(("doppeltrace", *p.relative_to(PACKAGE).with_suffix("").parts)) for p in files
    }
    packages = {module.rpartition(".")[0] for module in rooms}  # `from room import _file`
    for path in files - {PACKAGE / "engine" / "kernel.py"}:
        if path.name in ("base_chain.py", "factor_chain.py"):  # types of arrays, not code
            continue
        ours = {name for name in _imports(path) if name and name.startswith("doppeltrace")}
        assert ours <= rooms | packages, path


def test_all_kernels_are_made_by_the_decorator():
    for path in PACKAGE.rglob("*.py"):
        if path != PACKAGE / "engine" / "kernel.py":
            names = {
                n.id
                for n in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(n, ast.Name)
            }
            assert not names & {"njit", "jit", "vectorize", "guvectorize"}, path


# ---- the stamp ------------------------------------------------------------------------------

DRAW = """
import numpy as np
from doppeltrace.synthesizers._kernels import uniform_traces
out = np.zeros((1, 1, 3), np.int32)
key = np.arange(4, dtype=np.uint64)
uniform_traces(np.array([0]), key, 1000, out, 0, 1)
print(out.ravel().tolist(), sum(uniform_traces.stats.cache_hits.values()))
"""


def test_an_edit_of_an_inlined_file_is_noticed(copy):
    first, again = (_run(copy, ["-c", DRAW]).stdout for _ in range(2))
    assert first.endswith(" 0\n") and again == first.replace(" 0\n", " 1\n")
    inlined = copy / "_stream_kernels.py"
    text = inlined.read_text("utf-8")
    edited = text.replace("_WARM_UP = 12", "_WARM_UP = 13")
    assert edited != text
    inlined.write_text(edited, "utf-8")
    third = _run(copy, ["-c", DRAW]).stdout
    assert third.endswith(" 0\n") and third != first  # compiled again, and other draws
    inlined.write_text(text, "utf-8")
    assert _run(copy, ["-c", DRAW]).stdout == first


def test_every_kernel_file_counts(copy):
    before = kernels.stamp(copy)
    for path in kernels.kernel_files(copy):
        text = path.read_bytes()
        path.write_bytes(text + b"\n# edited\n")
        kernels.stamp.cache_clear()
        assert kernels.stamp(copy) != before, path
        path.write_bytes(text)
    kernels.stamp.cache_clear()
    assert kernels.stamp(copy) == before


# ---- nothing to write to --------------------------------------------------------------------


def _obey_permissions():
    """Let root write only where permissions say so: drop CAP_DAC_OVERRIDE."""
    dropped = ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)
    if os.getuid() == 0 and dropped != 0:
        os._exit(CANNOT)


PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CANNOT = 24, 1, 77


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux permissions")
def test_a_user_without_any_folder_can_work(copy, tmp_path):
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir(mode=0o555)
    temporary.mkdir()
    closed = [copy, *(path for path in copy.rglob("*") if path.is_dir())]
    for folder in closed:
        folder.chmod(0o555)
    environment = {"HOME": str(home), "TMPDIR": str(temporary)}

    def run(*program):
        done = _run(copy, program, env=environment, preexec_fn=_obey_permissions)
        if done.returncode == CANNOT:
            pytest.skip("root cannot be kept from writing here")
        return done

    try:
        assert run("-c", f"open({str(copy / 'x')!r}, 'w')").returncode != 0  # closed indeed
        asked = run("-m", "doppeltrace", "--version")
        assert (asked.returncode, asked.stderr) == (0, "")
        assert doppeltrace.__version__ in asked.stdout
        first, second = run("-c", DRAW), run("-c", DRAW)
        assert first.stdout.endswith(" 0\n"), first.stderr
        assert second.stdout == first.stdout.replace(" 0\n", " 1\n")  # kept from run to run
        for done in (first, second):
            (line,) = done.stderr.splitlines()
            assert line.startswith(f"doppeltrace: compiled kernels are kept in {temporary}")
            assert "NUMBA_CACHE_DIR" in line
        (folder,) = temporary.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        for folder in closed:
            folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users and permissions")
def test_machine_code_from_a_stranger_is_not_loaded(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    taken = tmp_path / f"doppeltrace-{os.getuid()}"
    taken.mkdir()
    taken.chmod(0o777)  # anybody may have written to it
    kernels.temporary_folder.cache_clear()
    folder = kernels.temporary_folder()
    assert folder != taken and folder.stat().st_mode & 0o077 == 0
    assert kernels.temporary_folder() == folder and len(caplog.records) == 1
    kernels.temporary_folder.cache_clear()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    taken.rmdir()
    taken.symlink_to(elsewhere)
    assert kernels.temporary_folder() != taken
    kernels.temporary_folder.cache_clear()
    taken.unlink()
    assert kernels.temporary_folder() == taken
    kernels.temporary_folder.cache_clear()


# ---- nothing is compiled twice --------------------------------------------------------------

ONCE = """
import sys
from numba.core.dispatcher import Dispatcher
import doppeltrace as dt

traces = dt.simulate_city(users=60, places=30, seed=1).traces
model = dt.Doppel(factors=3, iterations=2, seed=0).fit(traces)
dt.deniability_test(model, model.sample(1, seed=1), k=2)
found = {
    value.py_func.__qualname__: len(value.signatures)
    for name, module in list(sys.modules.items())
    if name.startswith("doppeltrace.")
    for value in vars(module).values()
    if isinstance(value, Dispatcher)
}
print(found)
"""


def test_a_run_compiles_no_kernel_twice(tmp_path):
    """An argument that is int32 here and int64 there would cost seconds of compiling."""
    done = subprocess.run(
        [sys.executable, "-c", ONCE],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},  # with a cache nothing is compiled
        capture_output=True,
        text=True,
        timeout=1200,
    )
    compiled = ast.literal_eval(done.stdout or "{}")
    assert compiled.get("sample_traces") == compiled.get("count_in_bin") == 1, done.stderr
    assert sum(compiled.values()) > 25
    assert {name: number for name, number in compiled.items() if number > 1} == {}
