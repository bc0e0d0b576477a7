"""The documents name things that exist."""

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import doppeltrace as dt
from doppeltrace.cli.program import COMMANDS, app, load

ROOT = Path(__file__).resolve().parents[1]
MODULES = "|".join(
    sorted(path.stem for path in Path(dt.__file__).parent.iterdir() if path.stem[0] != "_")
)
NAMES = sorted(
    set(re.findall(rf"`((?:{MODULES})\.[\w.]+)`", (ROOT / "docs/paper.md").read_text()))
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


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def typed_commands():
    """Yield page, command and options of every command line in the documents."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        lines += re.findall(r"^    (doppeltrace .*)$", text, flags=re.MULTILINE)
        lines += re.findall(r"`(doppeltrace [a-z]+ [^`]*)`", text)
        for line in lines:
            program, *words = shlex.split(line, comments=True)
            if program == "doppeltrace" and words and words[0] in COMMANDS:
                yield page.name, words[0], [w for w in words[1:] if w.startswith("--")]


def test_documents_name_only_options_that_exist():
    known = {}
    for name in COMMANDS:
        found = load(name).params
        known[name] = {"--help", *(word for p in found for word in (*p.opts, *p.secondary_opts))}
    typed = list(typed_commands())
    assert len(typed) > 20
    wrong = [
        (page, name, option)
        for page, name, options in typed
        for option in options
        if option not in known[name]
    ]
    assert not wrong


def test_the_page_of_commands_has_them_all():
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE) == list(COMMANDS)


def test_the_how_to_for_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    city = dt.simulate_city(users=100, places=16, seed=7)
    dt.to_pandas(city.traces).drop(columns="tid").to_csv("checkins.csv", index=False)
    for example in examples(ROOT / "docs/howto/python.md"):
        quick = example.replace("Doppel(", "Doppel(iterations=5, ")
        exec(compile(quick, "python.md", "exec"), {})
    assert (tmp_path / "run/public/traces.csv").exists()


@pytest.mark.parametrize(
    "module", ["cities", "traces", "guarantee", "io.dataset", "pipeline.synthesis"]
)
def test_examples_in_docstrings(module):
    found = doctest.testmod(importlib.import_module(f"doppeltrace.{module}"))
    assert found.attempted > 0 and found.failed == 0


def test_the_site_builds_without_a_network(tmp_path):
    """Wrong links stop the build; nothing is fetched from elsewhere when a page is read."""
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?https?://", text)
        assert not fetched, page
    reference = (tmp_path / "api/index.html").read_text(encoding="utf-8")
    assert "number of factors" in reference and "----------" not in reference
