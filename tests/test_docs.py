"""The documents name things that exist."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = "accounting|attacks|chain|deniability|evaluation|factorize|synthesizers|tensors|traces"
NAMES = sorted(
    set(re.findall(rf"`((?:{MODULES}|utility)\.[\w.]+)`", (ROOT / "docs/paper.md").read_text()))
)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_named_in_the_map_of_the_paper_exists(name):
    found = None
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(["doppeltrace", *parts[:depth]]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[depth:]:
            found = getattr(found, attribute)
        break
    assert found is not None


def test_the_map_names_many_functions():
    assert len(NAMES) > 30


def test_the_example_in_the_readme_runs(tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    quick = example.replace("users=1000, places=400", "users=60, places=25")
    quick = quick.replace("iterations=100", "iterations=2")
    assert quick != example
    monkeypatch.chdir(tmp_path)
    exec(compile(quick, "README.md", "exec"), {})
    assert (tmp_path / "run" / "traces.csv").exists()
