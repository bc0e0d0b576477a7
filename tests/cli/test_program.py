"""The program around the commands: help, completion, start-up, exit statuses."""

import inspect
import os
import signal
import subprocess
import sys
from importlib import import_module

import pytest

import doppeltrace as dt
from doppeltrace.cli.program import COMMANDS

HEAVY = {"numpy", "numba", "polars", "scipy", "matplotlib"}


def python(*arguments, **options):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_help_says(name, run):
    entry = COMMANDS[name]
    function = getattr(import_module(f"doppeltrace.cli.{entry.module}"), entry.function)
    assert inspect.getdoc(function).split("\n\n")[0].replace("\n", " ") == entry.help
    page = run(name, "--help")
    assert page.exit_code == 0, page.output
    assert entry.help.split(",")[0].split(";")[0][:40] in " ".join(page.stdout.split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(option):
    done = python("-X", "importtime", "-m", "doppeltrace", option)
    assert done.returncode == 0, done.stderr
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert "typer" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("name", ["synthesize", "report", "export"])
def test_flags_have_no_type(run, name):
    page = run(name, "--help").stdout
    assert "--help" in page and "<bool>" not in page
    assert "<bool>" not in run("--help").stdout


def test_exit_statuses_are_documented(run, tmp_path):
    page = " ".join(run("--help").stdout.split())
    for status in ("0 done", "2 something", "3 the release", "130 interrupted"):
        assert status in page
    assert run("validate", tmp_path / "absent.csv").exit_code == 2


def test_a_blocked_release_has_a_status_of_its_own(run, table, tmp_path, monkeypatch):
    from doppeltrace.pipeline import course

    def blocked(*arguments):
        raise dt.ReleaseBlockedError("no: use allow_rare_places=True", "allow_rare_places")

    monkeypatch.setattr(course, "check_release", blocked)
    result = run("synthesize", table, "--model", "copycat", "--no-test", "--out", tmp_path / "run")
    assert result.exit_code == 3
    assert result.stderr.rstrip().endswith("error: no: use --allow-rare-places")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_command_and_option(run):
    assert run("synthesise").exit_code == 2
    unknown = run("report", "--colour", "red")
    assert unknown.exit_code == 2 and "Traceback" not in unknown.output


def complete(words):
    """Return what bash would be offered."""
    environment = {
        **os.environ, "_DOPPELTRACE_COMPLETE": "complete_bash", "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
    }  # fmt: skip
    program = "from doppeltrace.cli import main; main()"
    code = f"import sys; sys.argv = ['doppeltrace']; {program}"
    return set(python("-c", code, env=environment).stdout.split())


def test_shell_completion():
    assert complete("doppeltrace s") == {"synthesize", "sample"}
    offered = complete("doppeltrace synthesize --ma")
    assert offered == {"--max-events"}
    assert complete("doppeltrace export --format g") == {"geojson", "geoparquet"}


def test_the_script_for_completion_is_shown():
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    code = "import sys; sys.argv[0] = 'doppeltrace'; from doppeltrace.cli import main; main()"
    shown = python("-c", code, "--show-completion", "bash", env=environment)
    assert shown.returncode == 0, shown.stderr
    assert "_DOPPELTRACE_COMPLETE=complete_bash" in shown.stdout


@pytest.mark.parametrize("module", ["typer", "polars", "doppeltrace.files"])
def test_ctrl_c_while_loading_shows_no_frames(module):
    """The signal comes while a module is imported: before the command has begun."""
    program = (
        "import builtins, os, signal, sys\n"
        "real = builtins.__import__\n"
        "def slow(name, *rest, **more):\n"
        f"    if name == {module!r} and 'doppeltrace.cli.signals' in sys.modules:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *rest, **more)\n"
        "from doppeltrace.cli import main\n"
        "builtins.__import__ = slow\n"
        "sys.argv = ['doppeltrace', 'export', '--help']\n"
        "main()\n"
    )
    done = python("-c", program)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == "error: interrupted\n" and "Traceback" not in done.stdout
