"""The documents name things that exist."""

import importlib
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import doppeltrace as dt
from doppeltrace.cli.program import app

ROOT = Path(__file__).resolve().parents[1]
MODULES = (
    "accounting|attacks|chain|deniability|evaluation|factorize|plots|synthesizers|tensors|traces"
)
NAMES = sorted(
    set(re.findall(rf"`((?:{MODULES}|utility)\.[\w.]+)`", (ROOT / "docs/paper.md").read_text()))
)


def examples(page):
    """Return the examples in Python of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


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
    """With a table of the reader's own."""
    (example,) = examples(ROOT / "README.md")
    quick = example.replace("dt.Doppel()", "dt.Doppel(iterations=5)")
    assert quick != example
    monkeypatch.chdir(tmp_path)
    city = dt.simulate_city(users=100, places=16, seed=7)
    dt.to_pandas(city.traces).drop(columns="tid").to_csv("checkins.csv", index=False)
    exec(compile(quick, "README.md", "exec"), {})
    assert (tmp_path / "run" / "public/traces.csv").exists()


def test_the_tutorial_can_be_typed_in_as_it_stands(tmp_path, monkeypatch):
    """Every command and every example, in order, with a smaller city."""
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    smaller = {
        "users=600, places=150": "users=60, places=25",
        "users=1000, places=200": "users=60, places=25",
        "dt.Doppel()": "dt.Doppel(iterations=5)",
        "plot_visit_fractions(112,": "plot_visit_fractions(3,",
        "demo --out demo-out": "demo --out demo-out --users 60 --places 25",
        "--count-all": "--count-all --iterations 5",
    }
    for old, new in smaller.items():
        assert old in text
        text = text.replace(old, new)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(sh|python)\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 8
    for language, block in blocks:
        if language == "python":
            exec(compile(block, "tutorial.md", "exec"), {})
            continue
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "doppeltrace"
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, f"{line}\n{result.output}"
    for run in ("demo-out", "run"):
        found = {str(path.relative_to(tmp_path / run)) for path in (tmp_path / run).glob("*/*")}
        assert found == {
            "public/traces.csv", "public/datasheet.html", "internal/report.html",
            "internal/findings.json", "internal/manifest.json",
        }  # fmt: skip
        assert all(f"`{name}`" in text for name in found)
    page = (tmp_path / "run/public/datasheet.html").read_text(encoding="utf-8")
    assert "People of a simulated city" in page and "CC BY 4.0" in page
    for name in ("traces.geojson", "traces.geoparquet", "kepler.csv", "population.png"):
        assert (tmp_path / name).stat().st_size > 0


def test_pictures_of_the_tutorial():
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(pictures/([^)]+)\)", text))
    kept = {path.name: path.stat().st_size for path in (ROOT / "docs/pictures").iterdir()}
    assert named == set(kept)
    assert max(kept.values()) < 200 * 1024
