"""`doppeltrace synthesize` with a quick stand-in for the model."""

import hashlib
import json

import polars as pl
import pytest

from doppeltrace.cli.options import build_model

TABLE_OPTIONS = ("--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20)


@pytest.fixture
def synthesize(run, quick_test, table):
    def call(*extra, path=table):
        return run("synthesize", path, "--model", "copycat", *TABLE_OPTIONS, *extra)

    return call


def test_release_manifest_and_report(synthesize, table, tmp_path):
    out = tmp_path / "run"
    result = synthesize("--traces-per-user", 3, "--k", 5, "--seed", 77, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert {p.name for p in (out / "public").iterdir()} == {"traces.csv", "datasheet.html"}
    internal = {"manifest.json", "report.html", "findings.json"}
    assert {p.name for p in (out / "internal").iterdir()} == internal
    assert (out / "internal").stat().st_mode & 0o777 == 0o700
    for name in ("public/traces.csv", "internal/manifest.json", "internal/report.html"):
        assert str(out / name) in result.stdout
    frame = pl.read_csv(out / "public/traces.csv")
    assert frame.columns == ["uid", "tid", "datetime", "lat", "lng", "location"]
    assert frame["uid"].n_unique() == 60 and len(frame) == 60 * 36
    manifest = json.loads((out / "internal/manifest.json").read_text())
    assert manifest["seed"] == 77
    assert manifest["input"]["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert manifest["input"]["validation"]["rows_kept"] == manifest["input"]["events"]
    assert manifest["traces"]["made"] == 120 and manifest["traces"]["released"] == 60
    tested = {name: value for name, value in manifest["deniability"].items() if value is not None}
    assert tested == {"k": 5, "eta": 1.0}
    assert manifest["guarantee"]["parameters"] == {"k": 5, "eta": 1.0}
    assert manifest["model"] == {
        "name": "copycat", "description": "Copycat: events of the user's own",
        "settings": {"alpha": 1.0, "factors": 2}, "public_settings": {"precision": 1.0},
    }  # fmt: skip
    assert manifest["safeguards"]["rare_places"]["min_users"] == 5
    assert manifest["level0"]["blocks"] is False
    assert len(manifest["public_safeguards"]) == 2
    assert set(manifest["seconds"]) >= {"reading", "training", "synthesis", "deniability test"}
    assert manifest["peak_memory_mb"] > 10
    page = (out / "internal/report.html").read_text()
    assert "60</strong> synthetic traces released, of 120" in page and "do not publish" in page
    assert "--split 0.2" in page  # without testing users it says what is missing
    assert (out / "internal/findings.json").stat().st_mode & 0o077 == 0


def test_the_seed_is_secret(synthesize, tmp_path):
    given = synthesize("--seed", 918273645, "--out", tmp_path / "a")
    assert given.stderr.count("warning: the seed was given") == 1
    drawn = synthesize("--out", tmp_path / "b")
    assert "warning: the seed" not in drawn.stderr
    seed = json.loads((tmp_path / "b" / "internal/manifest.json").read_text())["seed"]
    assert seed > 2**64  # 128 bits of the operating system
    for folder, number in (("a", 918273645), ("b", seed)):
        for name in ("public/traces.csv", "internal/report.html", "internal/findings.json"):
            assert str(number) not in (tmp_path / folder / name).read_text()
    for result in (given, drawn):
        assert "918273645" not in result.output and str(seed) not in result.output


def test_the_same_seed_gives_the_same_bytes(synthesize, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert synthesize("--seed", seed, "--out", tmp_path / name).exit_code == 0
    a, b, c = ((tmp_path / n / "public/traces.csv").read_bytes() for n in "abc")
    assert a == b != c


def test_parquet(synthesize, tmp_path):
    result = synthesize("--output-format", "parquet", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.stderr
    assert len(pl.read_parquet(tmp_path / "run" / "public/traces.parquet")) == 20 * 36


def test_without_a_test(synthesize, tmp_path):
    result = synthesize("--no-test", "--out", tmp_path / "run")
    assert result.exit_code == 0
    assert "warning: no deniability test" in result.stderr
    manifest = json.loads((tmp_path / "run" / "internal/manifest.json").read_text())
    assert manifest["deniability"] is None and manifest["traces"]["released"] == 40
    assert (
        "released without a deniability test"
        in (tmp_path / "run" / "internal/report.html").read_text()
    )


def test_overwrite(synthesize, tmp_path):
    out = tmp_path / "run"
    assert synthesize("--seed", 1, "--out", out).exit_code == 0
    before = (out / "public/traces.csv").read_bytes()
    refused = synthesize("--seed", 2, "--out", out)
    assert refused.exit_code == 2 and "--overwrite" in refused.stderr
    assert (out / "public/traces.csv").read_bytes() == before
    assert synthesize("--seed", 2, "--out", out, "--overwrite").exit_code == 0
    assert (out / "public/traces.csv").read_bytes() != before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--k", 0), "--k"),
        (("--k", 41), "--k 41 is larger than the number of users (40)"),
        (("--verifiers", 41), "--verifiers 41"),
        (("--verifiers", 8), "--verifiers 8 is too few for --k 10"),
        (("--eta", 0), "--eta"),
        (("--eta", "nan"), "--eta"),
        (("--alpha", 0), "alpha"),
        (("--traces-per-user", 0), "--traces-per-user must be at least 1"),
        (("--traces", 0), "--traces must be at least 1"),
        (("--min-users", 0), "--min-users must be at least 1"),
        (("--min-users", 1), "add --allow-rare-places"),
        (("--no-test", "--k", 5), "--no-test and --k exclude each other"),
        (("--no-test", "--randomized-test"), "--randomized-test and --no-test exclude each other"),
        (("--resume", "--no-checkpoint"), "--resume needs an --out folder"),
        (("--eta", 1e9), "--eta must be a number greater than 0, and at most 100"),
        (("--length", 0), "--length"),
        (("--seed", -1), "seed"),
        (("--threads", 0), "threads"),
        (("--model", "nonsense"), "--model nonsense"),
        (("--iterations", 5), "iterations does not apply"),
        (("--set", "copies"), "--set 'copies'"),
        (("--set", "copies=2"), "copies does not apply"),
        (("--model", "doppel", "--set", "rhythm=maybe"), "rhythm must be"),
        (("--columns", "user"), "--columns 'user'"),
        (("--columns", "user=who"), "who"),
        (("--grid", "20"), "--grid '20'"),
        (("--bounds", "1,2,3"), "--bounds '1,2,3'"),
        (("--format", "people-flow"), "does not apply"),
        (("--format", "xml"), "xml"),
        (("--timezone", "Mars/Olympus"), "Mars/Olympus"),
        (("--first-hour", 21, "--last-hour", 23), "outside the clock"),
    ],
)
def test_bad_options_give_one_line_and_write_nothing(synthesize, tmp_path, options, said):
    result = synthesize("--out", tmp_path / "run", *options)
    assert result.exit_code == 2
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and said in errors[0]
    assert result.stderr.rstrip().endswith(errors[0])  # nothing after it, such as a traceback
    assert list(tmp_path.iterdir()) == []


ROWS = ["uid,datetime,lat,lng,location"] + [
    f"{u},2024-01-01T{9 + t // 3:02}:{t % 3 * 20:02}:00,{0.01 * (u + t % 2)},0.5,p{u + t % 2}"
    for u in range(12)
    for t in range(6)
]


def edited(row, **fields):
    """Return the rows with these fields of one row replaced."""
    names = ROWS[0].split(",")
    values = ROWS[row].split(",")
    for name, value in fields.items():
        values[names.index(name)] = value
    return [*ROWS[:row], ",".join(values), *ROWS[row + 1 :]]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "empty"),
        (ROWS[:1], "no rows"),
        ([",".join(r.split(",")[:1] + r.split(",")[2:]) for r in ROWS], "time"),
        ([",".join(r.split(",")[1:]) for r in ROWS], "user"),
        (edited(7, datetime="yesterday"), "row 8"),
        (edited(7, lat="nan"), "row 8"),
        (edited(7, lat="inf"), "row 8"),
        (edited(7, lat="139.5", lng="35.6"), "swapped"),
        (edited(7, lat="190", lng="181"), "row 8"),
        (ROWS[:7], "one user"),
        ([ROWS[0]] + [",".join([*r.split(",")[:2], "0.1,0.5,p0"]) for r in ROWS[1:]], "one"),
        ([ROWS[0]] + [r for r in ROWS if ":00:00," in r], "transition"),
    ],
)
def test_bad_input_gives_one_line_and_writes_nothing(synthesize, tmp_path, rows, said):
    path = tmp_path / "input" / "events.csv"
    path.parent.mkdir()
    path.write_text("".join(f"{row}\n" for row in rows))
    result = synthesize("--k", 1, "--out", tmp_path / "run", path=path)
    assert result.exit_code == 2, result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and said in errors[0] and "events.csv" in errors[0]
    assert result.stderr.rstrip().endswith(errors[0])
    assert [p.name for p in tmp_path.iterdir()] == ["input"]


def test_duplicate_and_unsorted_rows_are_counted(synthesize, tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("\n".join([ROWS[0], *reversed(ROWS[1:]), ROWS[5], ROWS[5]]) + "\n")
    result = synthesize("--k", 1, "--min-users", 2, "--out", tmp_path / "run", path=path)
    assert result.exit_code == 0, result.stderr
    validation = json.loads((tmp_path / "run" / "internal/manifest.json").read_text())["input"][
        "validation"
    ]
    assert sum(finding["count"] for finding in validation["dropped"]) == 2
    assert validation["unsorted"] > 0


def test_unwritable_output(synthesize, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for out in (tmp_path / "file", tmp_path / "file" / "run", "/proc/run"):
        result = synthesize("--out", out)
        assert result.exit_code == 2 and result.stderr.count("error: ") == 1
        assert "training" not in result.stderr  # found before any work
    assert (tmp_path / "file").read_text() == "in the way"


def test_missing_input(synthesize, tmp_path):
    result = synthesize("--out", tmp_path / "run", path=tmp_path / "absent.csv")
    assert result.exit_code == 2 and "absent.csv does not exist" in result.stderr


def test_disk_full(synthesize, tmp_path, monkeypatch):
    from doppeltrace.release import writer

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_write_csv", full)
    result = synthesize("--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "No space left on device; free some space" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_interrupt(synthesize, tmp_path, monkeypatch):
    from doppeltrace.deniability import deterministic

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(deterministic, "deniability_test", interrupted)
    result = synthesize("--out", tmp_path / "run")
    assert result.exit_code == 130
    assert result.stderr.rstrip().endswith("error: interrupted; nothing was left half-written")
    assert list(tmp_path.iterdir()) == []


def test_words_for_the_datasheet(run, table, tmp_path, quick_test):
    out = tmp_path / "run"
    result = run(
        "synthesize", table, "--model", "copycat", "--out", out, "--title", "Our <city>",
        "--licence", "CC0", "--contact", "me@example.org",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "datasheet.html" in result.stdout
    page = (out / "public/datasheet.html").read_text()
    assert "Our &lt;city&gt;" in page and "CC0" in page and "me@example.org" in page
    assert table.name not in page
    manifest = json.loads((out / "internal/manifest.json").read_text())
    assert manifest["publication"]["title"] == "Our <city>"


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("FALSE", False), ("none", None), ("None", None)]
)
def test_settings_may_be_written_in_any_case(text, value):
    assert build_model("doppel", {}, [f"rhythm={text}"]).settings["rhythm"] is value
