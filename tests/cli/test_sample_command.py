"""`doppeltrace sample`: traces from a kept model, without the traces it learned from."""

import json

import polars as pl
import pytest

TABLE_OPTIONS = ("--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20)


@pytest.fixture
def kept(run, table, tmp_path):
    file = tmp_path / "model.safetensors"
    done = run(
        "synthesize", table, *TABLE_OPTIONS, "--iterations", 2, "--factors", 3, "--k", 1,
        "--keep-model", file, "--out", tmp_path / "first",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "39 times in 100" in " ".join(done.stderr.split())
    return file


def test_the_model_file_is_enough(run, kept, tmp_path):
    out = tmp_path / "more"
    done = run("sample", kept, "--traces", 50, "--seed", 4, "--out", out)
    assert done.exit_code == 0, done.output
    assert "not tested" in done.stderr
    frame = pl.read_csv(out / "public/traces.csv")
    assert frame["uid"].n_unique() == 50 and len(frame) == 50 * 36
    manifest = json.loads((out / "internal/manifest.json").read_text())
    assert manifest["guarantee"]["kind"] == "none" and manifest["seed"] == 4
    assert manifest["sampling"]["n_traces"] == 50
    assert (out / "internal/manifest.json").stat().st_mode & 0o077 == 0
    page = (out / "public/datasheet.html").read_text()
    assert "without a deniability test" in page
    again = run("sample", kept, "--traces", 50, "--seed", 4, "--out", tmp_path / "again")
    assert again.exit_code == 0
    same = (tmp_path / "again/public/traces.csv").read_bytes()
    assert same == (out / "public/traces.csv").read_bytes()
    exported = run("export", out, "--to", tmp_path / "a.geojson")
    assert exported.exit_code == 0, exported.output


def test_what_goes_wrong_is_one_line(run, kept, tmp_path):
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(content)
    for file, options, said in (
        (broken, (), "damaged"),
        (tmp_path / "absent", (), "does not exist"),
        (kept, ("--traces", 0), "--traces must be at least 1"),
        (kept, ("--length", 0), "length"),
    ):
        result = run("sample", file, "--traces", 3, "--out", tmp_path / "out", *options)
        assert result.exit_code == 2 and said in result.stderr.splitlines()[-1], result.output
        assert not (tmp_path / "out").exists()
