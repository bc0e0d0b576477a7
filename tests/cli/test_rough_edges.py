"""Rough edges that users met: each stays smooth."""

import inspect
import json

import pytest

import doppeltrace as dt
from doppeltrace.cli import reading, wording
from doppeltrace.cli.wording import remark, told
from doppeltrace.errors import InputError
from doppeltrace.pipeline import estimate

TABLE_OPTIONS = ("--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20)


def only_error(result):
    """Return the one line of an error, which is the last thing said."""
    assert result.exit_code == 2, result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and result.stderr.rstrip().endswith(errors[0])
    return errors[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("--set", "smoothing=abc"), "smoothing must be a number, not 'abc'"),
        (("--set", "factors=2.5"), "factors must be a whole number, not 2.5"),
        (("--set", "rhythm=[1]"), "rhythm must be True or False or None, not [1]"),
        (("--set", "min_users=__import__('os')"), "min_users must be a whole number"),
        (("--eta", "1e9"), "--eta must be a number greater than 0, and at most 100"),
    ],
)
def test_wrong_settings_are_told_in_our_words(run, table, tmp_path, settings, said):
    result = run("synthesize", table, *TABLE_OPTIONS, *settings, "--out", tmp_path / "run")
    assert said in only_error(result)
    assert list(tmp_path.iterdir()) == []


def test_settings_that_cannot_work_are_refused_before_anything_runs(run, table, tmp_path):
    out = tmp_path / "run"
    result = run("synthesize", table, *TABLE_OPTIONS, "--factors", 100, "--k", 2, "--out", out)
    assert "--factors 100 exceeds the number of places" in only_error(result)
    assert "kernels" not in result.stderr and "training …" not in result.stderr


@pytest.mark.parametrize(
    ("free", "largest", "advice"),
    [
        (1e6, "traces", "make fewer traces (--traces-per-user, --traces)"),
        (1e6, "model", "take fewer places (larger cells, or --top-places) or lower --factors"),
        (2e6, "others", "close other programs"),
    ],
)
def test_a_run_that_cannot_fit_does_not_start(
    run, table, tmp_path, monkeypatch, free, largest, advice
):
    real = estimate.estimate

    def guess(*arguments):
        return real(*arguments).__class__(
            1.0, 1.0, 1.0,
            model_memory=9e15 if largest == "model" else 1e6,
            traces_memory=9e15 if largest == "traces" else 1e6,
        )  # fmt: skip

    monkeypatch.setattr(estimate, "estimate", guess)
    monkeypatch.setattr(estimate, "available_memory", lambda: free)
    command = (
        "synthesize", table, *TABLE_OPTIONS, "--iterations", 1, "--factors", 2, "--k", 1,
        "--out", tmp_path / "run",
    )  # fmt: skip
    line = only_error(run(*command))
    assert f"MB are free: {advice}; to start it all the same, add --anyway" in line
    assert list(tmp_path.iterdir()) == []
    if largest == "others":
        started = run(*command, "--anyway")
        assert started.exit_code == 0, started.output
        assert "warning: this run may need" in started.stderr


def test_python_is_told_to_use_python_s_options(monkeypatch, city):
    monkeypatch.setattr(estimate, "available_memory", lambda: 1e6)
    with pytest.raises(dt.SettingsError, match=r"add anyway=True$"):
        dt.synthesize(city, dt.Doppel(iterations=1), k=1)


def test_readers_name_python_s_options_and_the_command_line_its_own(run, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("who,datetime,lat,lng\n1,2024-01-01T08:00:00,1,2\n")
    with pytest.raises(InputError) as caught:
        dt.read(path)
    assert "columns={'user': …}" in str(caught.value) and "--" not in str(caught.value)
    assert "--columns user=NAME" in only_error(run("validate", path))


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("widen them (bounds=…)", "widen them (--bounds)"),
        ("give timezone=… if they are not", "give --timezone if they are not"),
        ("leave them out with drop_invalid=True", "leave them out with --drop-invalid"),
        ("any other table (format='table')", "any other table (--format table)"),
        (
            "swapped (columns={'lat': 'my x', 'lng': 'y'})",
            "swapped (--columns lat='my x' --columns lng=y)",
        ),
        ("a file my_bounds=…", "a file my_bounds=…"),
    ],
)
def test_options_of_readers(python, typed):
    assert remark(python) == typed
    assert told(InputError(python)) == typed


def test_every_reading_option_is_known_to_the_wording():
    assert set(wording.READING) == set(inspect.signature(reading._reading).parameters)


def test_validate_shows_the_split(run, table):
    result = run("validate", table, *TABLE_OPTIONS, "--split", 0.25)
    assert "30 training users, 10 testing users" in result.stdout


@pytest.mark.parametrize(
    ("command", "name"),
    [("synthesize", "INPUT"), ("report", "RUN_DIR"), ("sample", "MODEL_FILE")],
)
def test_usage_names_arguments_as_the_text_does(run, command, name):
    assert name in run(command, "--help").stdout.split("\n\n")[0]


def test_a_default_release_of_merged_places_can_be_scored(run, table, tmp_path):
    """`evaluate` merges the places as the run did: its scores are those of the run."""
    reading = (*TABLE_OPTIONS, "--split", 0.5)
    out, target = tmp_path / "run", tmp_path / "score.json"
    made = run("synthesize", table, *reading, "--model", "uniform", "--k", 2, "--out", out)
    assert made.exit_code == 0, made.output
    manifest = json.loads((out / "internal/manifest.json").read_text())
    merged = manifest["safeguards"]["rare_places"]
    assert merged["min_users"] == 5 and merged["places_kept"] < merged["places"]
    scored = run("evaluate", "--data", table, *reading, "--synthetic", out, "--json", target)
    assert scored.exit_code == 0, scored.output
    score = json.loads(target.read_text())
    for name in ("tp_tv", "tm_emd_x", "vf_tv"):
        assert score[name] == pytest.approx(manifest["score"][name])
