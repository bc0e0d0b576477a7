"""Where a seed may come from, and what is said about it."""

import json

import pytest

import doppeltrace as dt
from doppeltrace.cli.seeds import VARIABLE, choose_seed

TABLE_OPTIONS = ("--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20)


def test_nothing_is_said_without_a_seed():
    assert choose_seed(None, None, {}) == (None, None)


def test_an_option_shows_in_the_list_of_processes():
    seed, warning = choose_seed(5, None, {VARIABLE: "7"})
    assert seed == 5
    assert "list of processes" in warning and "--seed-file" in warning and VARIABLE in warning


def test_a_file(tmp_path):
    file = tmp_path / "seed"
    file.write_text(f"{2**127}\n")
    file.chmod(0o600)
    seed, warning = choose_seed(None, file, {VARIABLE: "7"})
    assert seed == 2**127 and "chmod" not in warning and "list of processes" not in warning
    file.chmod(0o644)
    assert f"chmod 600 {file}" in choose_seed(None, file, {})[1]


def test_the_environment():
    seed, warning = choose_seed(None, None, {VARIABLE: " 42 "})
    assert seed == 42 and VARIABLE in warning


@pytest.mark.parametrize("text", ["", "-1", "1.5", "my secret", "٣"])
def test_a_wrong_seed_is_not_repeated(tmp_path, text):
    file = tmp_path / "seed"
    file.write_text(text)
    for given in ((None, file, {}), (None, None, {VARIABLE: text})):
        with pytest.raises(dt.SettingsError, match="non-negative integer") as error:
            choose_seed(*given)
        assert not text or text not in str(error.value).replace(str(file), "")


def test_an_absent_file_and_two_seeds(tmp_path):
    with pytest.raises(dt.InputError, match="cannot read --seed-file"):
        choose_seed(None, tmp_path / "absent", {})
    with pytest.raises(dt.SettingsError, match="exclude each other"):
        choose_seed(1, tmp_path / "absent", {})


def test_all_of_them_make_the_same_run(run, quick_test, table, tmp_path, monkeypatch):
    file = tmp_path / "seed"
    file.write_text("918273645")
    file.chmod(0o600)
    command = ("synthesize", table, "--model", "copycat", *TABLE_OPTIONS)
    assert run(*command, "--seed", 918273645, "--out", tmp_path / "a").exit_code == 0
    assert run(*command, "--seed-file", file, "--out", tmp_path / "b").exit_code == 0
    monkeypatch.setenv(VARIABLE, "918273645")
    said = run(*command, "--out", tmp_path / "c")
    assert said.exit_code == 0 and said.stderr.count("warning: the seed was given") == 1
    assert "918273645" not in said.output
    files = {(tmp_path / name / "public/traces.csv").read_bytes() for name in "abc"}
    assert len(files) == 1
    seeds = {
        json.loads((tmp_path / n / "internal/manifest.json").read_text())["seed"] for n in "abc"
    }
    assert seeds == {918273645}
