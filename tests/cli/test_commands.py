"""`demo`, `validate`, `evaluate`, and the model that `synthesize` keeps."""

import json
import stat

import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace.pipeline.source import file_hash
from doppeltrace.synthesizers import MODELS

TABLE_OPTIONS = ("--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20)


def test_version_and_help(run):
    assert run("--version").stdout.strip() == dt.__version__
    page = run("--help").stdout
    for command in ("demo", "synthesize", "validate", "evaluate"):
        assert command in page
        assert run(command, "--help").exit_code == 0


def test_demo_with_the_real_model(run, tmp_path):
    result = run("demo", "--out", tmp_path / "demo", "--users", 400, "--places", 25)
    assert result.exit_code == 0, result.output
    for name in ("public/traces.csv", "internal/manifest.json", "internal/report.html"):
        assert str(tmp_path / "demo" / name) in result.stdout
    page = (tmp_path / "demo" / "internal/report.html").read_text()
    assert "Is it safe to publish?" in page and "testing users, whom the model never saw" in page
    manifest = json.loads((tmp_path / "demo" / "internal/manifest.json").read_text())
    assert manifest["score"]["tp_tv"] < 1
    assert manifest["model"]["name"] == "doppel"
    refused = run("demo", "--out", tmp_path / "demo")
    assert refused.exit_code == 2 and "--overwrite" in refused.stderr


def test_validate_reports_and_writes_nothing(run, table, tmp_path):
    result = run("validate", table, *TABLE_OPTIONS)
    assert result.exit_code == 0
    assert "rows kept" in result.stdout and "40 users" in result.stdout
    broken = tmp_path / "broken.csv"
    broken.write_text(table.read_text().replace("2024-01-01T08:00:00", "early", 1))
    refused = run("validate", broken, *TABLE_OPTIONS)
    assert refused.exit_code == 2 and "row " in refused.stderr
    allowed = run("validate", broken, *TABLE_OPTIONS, "--drop-invalid")
    assert allowed.exit_code == 0 and "dropped 1 ×" in allowed.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["broken.csv"]


def test_evaluate_a_published_file_and_a_release(run, people_flow_folder, tmp_path):
    published = people_flow_folder / "reference" / "sgd_copy0.csv.gz"
    target = tmp_path / "score.json"
    result = run(
        "evaluate", "--data", people_flow_folder, "--synthetic", published, "--json", target
    )
    assert result.exit_code == 0, result.output
    score = json.loads(target.read_text())
    assert score["tp_tv"] == pytest.approx(0.4573, abs=1e-3)
    assert "TP-TV" in result.stdout
    assert "scored as one set" not in " ".join(result.stdout.split())  # it names its owners
    out = tmp_path / "run"
    made = run("synthesize", people_flow_folder, "--model", "copycat", "--no-test", "--out", out)
    assert made.exit_code == 0, made.output
    again = run("evaluate", "--data", people_flow_folder, "--synthetic", out / "public/traces.csv")
    assert again.exit_code == 0, again.output


def test_a_release_of_a_table_can_be_scored(run, table, tmp_path):
    """Testing users by a share or by a table; the release itself names no owners."""
    users = pl.read_csv(table)["uid"].unique().sort()
    parts = tmp_path / "parts.csv"
    pl.DataFrame({"uid": users, "part": ["test" if u % 4 == 0 else "train" for u in users]}
    ).write_csv(parts)  # fmt: skip
    for split, training in ((0.5, 20), (parts, 30)):
        reading = (*TABLE_OPTIONS, "--split", split)
        out = tmp_path / f"run{training}"
        made = run(
            "synthesize", table, *reading, "--iterations", 2, "--k", 1, "--out", out,
            "--traces-per-user", 2, "--model", "doppel", "--min-users", 2,
        )  # fmt: skip
        assert made.exit_code == 0, made.output
        assert f"{training} users to learn from, {40 - training} testing users" in made.stderr
        manifest = json.loads((out / "internal/manifest.json").read_text())
        assert manifest["input"]["users"] == training
        assert manifest["score"]["reidentification_rate"] is not None
        target = tmp_path / "score.json"
        scored = run(
            "evaluate", "--data", table, *reading, "--synthetic", out, "--json", target,
        )  # fmt: skip
        assert scored.exit_code == 0, scored.output
        score = json.loads(target.read_text())
        assert score["traces"] == 2 * training and score["reidentification_rate"] is None
        # one set of traces, scored as two replicates there and as one here
        assert score["tp_tv"] == pytest.approx(manifest["score"]["tp_tv"], abs=0.1)
        assert "Re-identification is not available" in scored.stdout
        assert "not comparable with the run's own report" in " ".join(scored.stdout.split())


def test_evaluate_says_what_is_missing(run, table, tmp_path):
    result = run("evaluate", "--data", table, "--synthetic", table)
    assert result.exit_code == 2 and "no testing traces" in result.stderr
    assert "--split" in result.stderr
    result = run("evaluate", "--data", table, "--synthetic", table, "--split", "half")
    assert result.exit_code == 2 and "--split half is neither" in result.stderr
    result = run(
        "evaluate", "--data", table, "--synthetic", table, "--json", tmp_path / "no" / "score"
    )
    assert result.exit_code == 2 and "cannot write" in result.stderr


def test_the_kept_model_loads_back(run, table, city, tmp_path):
    kept = tmp_path / "model.safetensors"
    arguments = ("synthesize", table, *TABLE_OPTIONS, "--iterations", 2, "--factors", 3, "--k", 1)
    result = run(*arguments, "--keep-model", kept, "--seed", 3, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "warning: the model will be kept" in result.stderr
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    model = dt.load(kept)
    assert model.clusters_.A.shape == (40, 3) and len(model.sample(n_traces=7, seed=1)) == 7
    refused = run(*arguments, "--keep-model", kept, "--out", tmp_path / "other")
    assert refused.exit_code == 2 and "exists" in refused.stderr
    inside = run(*arguments, "--keep-model", tmp_path / "b" / "m", "--out", tmp_path / "b")
    assert inside.exit_code == 2 and "inside --out" in inside.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"run", "model.safetensors"}


def test_no_model_is_kept_without_a_release(run, table, tmp_path, monkeypatch):
    from doppeltrace.release import writer

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_write_csv", full)
    arguments = ("synthesize", table, *TABLE_OPTIONS, "--iterations", 1, "--factors", 3)
    result = run(*arguments, "--keep-model", tmp_path / "model", "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", ["doppel", "ppmtf"])
@pytest.mark.parametrize("wrong", [("--alpha", -1), ("--eta", -1), ("--factors", 26)])
def test_settings_of_the_real_models(run, table, tmp_path, model, wrong):
    result = run(
        "synthesize", table, *TABLE_OPTIONS, "--model", model, *wrong, "--out", tmp_path / "run"
    )
    assert result.exit_code == 2
    assert wrong[0].strip("-") in result.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_threads_do_not_change_a_release(run, table, tmp_path):
    for threads in (1, 2):
        result = run(
            "synthesize", table, *TABLE_OPTIONS, "--iterations", 3, "--factors", 4, "--k", 2,
            "--seed", 9, "--threads", threads, "--out", tmp_path / str(threads),
        )  # fmt: skip
        assert result.exit_code == 0, result.output
    one, two = ((tmp_path / str(n) / "public/traces.csv").read_bytes() for n in (1, 2))
    assert one == two


@pytest.mark.parametrize(
    "model", sorted(name for name, model in MODELS.items() if model.releasable and name != "sglt")
)
def test_every_model_can_be_released(run, table, tmp_path, model):
    # a model without owners promises differential privacy, and needs public places and a number
    public = ("--traces", 50, "--grid", "5x5", "--bounds", "0,0,0.09,0.09")
    options = ("--k", 2) if MODELS[model].has_owners else public
    command = ("synthesize", table, *TABLE_OPTIONS, "--model", model, "--min-users", 2)
    result = run(*command, *options, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "run" / "internal/manifest.json").read_text())
    assert manifest["model"]["name"] == model and "seed" not in manifest["model"]


def test_models_that_must_not_or_cannot(run, table, tmp_path):
    arguments = ("synthesize", table, *TABLE_OPTIONS, "--out", tmp_path / "run", "--model")
    for yardstick in ("training", "frozen", "independent"):
        itself = run(*arguments, yardstick, "--no-test")
        assert itself.exit_code == 2 and "not to be released" in itself.stderr
    untestable = run(*arguments, "sglt")
    assert untestable.exit_code == 2 and "--no-test" in untestable.stderr
    assert "training …" not in untestable.stderr
    unsaved = run(*arguments, "copycat", "--keep-model", tmp_path / "model")
    assert unsaved.exit_code == 2 and "cannot be saved" in unsaved.stderr
    assert list(tmp_path.iterdir()) == []


def test_randomized_test(run, table, tmp_path):
    arguments = (
        "synthesize", table, *TABLE_OPTIONS, "--iterations", 2, "--factors", 3, "--k", 9,
        "--randomized-test", "--out", tmp_path / "run",
    )  # fmt: skip
    refused = run(*arguments, "--delta", 1e-9)
    assert refused.exit_code == 2 and "delta" in refused.stderr
    assert run(*arguments, "--no-test").exit_code == 2
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "run" / "internal/manifest.json").read_text())
    assert manifest["traces"]["made"] == 40
    # t = ⌊9 + ln 0.001⌋ = 2: ε = 1 + ln(1 + e/2), δ = e⁻⁷
    assert manifest["deniability"]["epsilon"] == pytest.approx(1.8583, abs=1e-4)
    assert manifest["deniability"]["delta"] == pytest.approx(0.000912, abs=1e-6)
    assert "one trace alone" in manifest["deniability"]["applies_to"]


def test_hash_of_a_folder_depends_on_names_and_contents(tmp_path):
    (tmp_path / "a").write_text("1")
    before = file_hash(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    renamed = file_hash(tmp_path)
    (tmp_path / "b").write_text("2")
    assert len({before, renamed, file_hash(tmp_path)}) == 3
