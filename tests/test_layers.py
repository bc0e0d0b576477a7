"""The order of the rooms: data flow one way, and what is public knows nothing of real data.

Imports are read from the source, those inside functions too; only those for type checkers, which
never run, do not count.
"""

import ast
import graphlib
from pathlib import Path

import pytest

import doppeltrace

SOURCE = Path(doppeltrace.__file__).parent

LAYERS = (
    # what every room speaks
    ("errors", "display", "plain", "progress"),
    ("guarantee", "arguments", "files", "accounting"),
    ("engine",),
    ("_stream_kernels", "traces"),
    ("streams",),
    # data: in, safe, and simulated
    ("discretize", "cities", "_tensor_kernels"),
    ("io", "safeguards", "tensors"),
    # models: i count, ii factorize, iii draw, iv test
    ("factorize",),
    ("chain", "crowd"),
    ("population", "deniability"),
    # yardsticks
    ("utility", "attacks"),
    ("synthesizers",),
    ("evaluation",),
    ("comparison", "tuning"),
    # what leaves, and what is said about it
    ("release",),
    ("report.figures",),
    ("report.public", "plots"),
    ("report.internal",),
    ("audit",),
    ("pipeline",),
    # doors
    ("doppeltrace",),
    ("cli",),
    ("__main__",),
)
"""From the bottom up. A room may import rooms below it, never one beside or above it."""

REAL_DATA = (
    "attacks", "audit", "cli", "comparison", "deniability", "evaluation", "io", "pipeline",
    "population", "report.internal", "safeguards", "synthesizers",
)  # fmt: skip
"""Rooms that know real traces, or what was learned from them."""


def _modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(_modules())


def _statements(node):
    """Yield every statement that may run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            yield from (part for other in child.orelse for part in ast.walk(other))
        else:
            yield child
            yield from _statements(child)


def _imports(name):
    """Return the modules of the package that a module imports."""
    found = set()
    for node in _statements(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & set(MODULES) or {node.module}
    return (found & set(MODULES)) - {name}


IMPORTS = {name: _imports(name) for name in MODULES}


def _room(module):
    _, _, inside = module.partition(".")
    if not inside:
        return module
    first, _, rest = inside.partition(".")
    return f"report.{rest.partition('.')[0]}" if first == "report" and rest else first


def _reached(start):
    """Return every module that is loaded once these are: imports, and the packages around them."""
    todo, seen = list(start), set()
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += IMPORTS[module]
            todo += [module.rpartition(".")[0]] if module.count(".") > 1 else []
    return seen


def test_no_import_cycle():
    try:
        order = list(graphlib.TopologicalSorter(IMPORTS).static_order())
    except graphlib.CycleError as error:
        pytest.fail(f"modules import each other: {' → '.join(error.args[1])}")
    assert len(order) == len(MODULES) > 150


def test_every_room_has_its_place():
    listed = [room for layer in LAYERS for room in layer]
    assert len(listed) == len(set(listed))
    assert {_room(module) for module in MODULES} - {"report"} == set(listed)


def test_rooms_import_only_what_lies_below_them():
    height = {room: number for number, layer in enumerate(LAYERS) for room in layer}
    wrong = [
        f"{module} imports {other}"
        for module, others in IMPORTS.items()
        for other in others
        if _room(module) != _room(other)
        and height.get(_room(other), 0) >= height.get(_room(module), len(LAYERS))
    ]
    assert wrong == []


def test_the_public_page_knows_nothing_of_real_data():
    public = [module for module in MODULES if _room(module) in ("report.public", "release")]
    assert len(public) > 8
    rooms = {_room(module) for module in _reached(public)}
    assert rooms & set(REAL_DATA) == set()


def test_the_pipeline_does_not_know_the_command_line():
    pipeline = [module for module in MODULES if _room(module) == "pipeline"]
    reached = _reached(pipeline)
    assert not any(_room(module) == "cli" for module in reached)
    words = [name for name in reached if "typer" in MODULES[name].read_text(encoding="utf-8")]
    assert words == []


def test_a_violation_would_be_noticed(monkeypatch):
    """The tests above can fail: with one import against the order, and with one cycle."""
    monkeypatch.setitem(IMPORTS, "doppeltrace.errors", {"doppeltrace.traces"})
    with pytest.raises(AssertionError):
        test_rooms_import_only_what_lies_below_them()
    with pytest.raises(pytest.fail.Exception, match="import each other"):
        test_no_import_cycle()
    monkeypatch.setitem(
        IMPORTS, "doppeltrace.report.public.datasheet", {"doppeltrace.evaluation.scoring"}
    )
    with pytest.raises(AssertionError):
        test_the_public_page_knows_nothing_of_real_data()
