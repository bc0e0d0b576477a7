"""Names of `doppeltrace` are imported when they are used: all are there, and nothing is early."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import doppeltrace as dt

HEAVY = {"matplotlib", "numba", "numpy", "pandas", "polars", "scipy"}


def _loaded_after(program):
    """Return the modules that a fresh interpreter has after the program."""
    program += "\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_type_checkers_see_the_names_that_there_are():
    tree = ast.parse(Path(dt.__file__).read_text("utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        name.asname: node.module.removeprefix("doppeltrace.")
        for node in checked.body
        for name in node.names
    }
    assert seen == dt._MODULE_OF
    assert sorted(seen) == dt.__all__


@pytest.mark.parametrize("name", dt.__all__)
def test_every_name_is_there(name):
    assert getattr(dt, name).__name__ == name
    assert name in dir(dt)


def test_there_is_no_other():
    with pytest.raises(AttributeError, match="no attribute 'Dopple'"):
        dt.Dopple  # noqa: B018


def test_the_import_loads_nothing_heavy():
    loaded = _loaded_after("import doppeltrace; doppeltrace.__version__; dir(doppeltrace)")
    assert "doppeltrace" in loaded
    assert not loaded & HEAVY
    assert not any(name.startswith("doppeltrace.") for name in loaded)


def test_errors_load_nothing_heavy():
    assert not _loaded_after("from doppeltrace import InputError") & HEAVY


def test_nothing_loads_the_statistics_of_scipy_or_draws_before_it_must():
    loaded = _loaded_after("from doppeltrace import *")
    assert "scipy.special" in loaded
    assert not loaded & {"scipy.stats", "matplotlib", "pandas", "geopandas", "h3"}


ROOMS = {path.name for path in Path(dt.__file__).parent.iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", sorted(ROOMS & set(dt.__all__)))
def test_a_function_is_not_hidden_by_the_room_of_its_name(name):
    program = f"""
import doppeltrace.{name}
import doppeltrace
from doppeltrace import {name}
assert callable({name}) and doppeltrace.{name} is {name} is getattr(doppeltrace, "{name}")
assert {name}.__name__ == "{name}"
"""
    assert f"doppeltrace.{name}" in _loaded_after(program)
