"""`dt.synthesize`: what it gives back, what it refuses, and that it writes what it says."""

import json
import stat

import numpy as np
import pytest
from typer.testing import CliRunner

import doppeltrace as dt
from doppeltrace.cli.program import app
from doppeltrace.progress import QuietMonitor

READING = {"instant_minutes": 20, "first_hour": 8, "last_hour": 20}


def test_nothing_is_written_without_a_folder(city, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = dt.synthesize(city, quick, k=2)
    assert list(tmp_path.iterdir()) == []
    assert run.release is None and run.files == {}
    assert run.score["tp_tv"] < 1  # the city was split, so there are testing users
    assert run.guarantee.parameters == {"k": 2, "eta": 0.0}
    assert run.verdict.level in ("green", "amber", "red") and run.verdict.reasons
    assert (run.traces.owner == -1).all() and len(run.traces) == run.manifest.traces.released > 0
    rows = run.traces.locations.tolist()
    assert rows == sorted(rows)  # by content, whoever they were made from
    assert "do not publish" in run.report and "plausible deniability" in run.datasheet
    assert str(run.manifest.seed) == "5"
    assert "doppel" in repr(run) and "released" in run._repr_html_()


def test_the_model_that_was_given_stays_as_it_is(city, quick):
    dt.synthesize(city.traces, quick, k=1, seed=9)
    assert quick.seed == 5
    with pytest.raises(dt.NotFittedError):
        quick.sample()


def test_the_folder_holds_what_the_result_holds(city, quick, tmp_path):
    out = tmp_path / "run"
    words = {"title": "Our <city>", "licence": "CC0"}
    run = dt.synthesize(city, quick, k=2, out=out, publication=words)
    assert set(run.files) == {"traces", "datasheet", "manifest", "report", "findings"}
    assert {p for p in out.rglob("*") if p.is_file()} == set(run.files.values())
    assert json.loads(run.files["manifest"].read_text()) == run.manifest.to_dict()
    assert run.files["report"].read_text() == run.report == dt.report(run) == dt.report(out)
    page = run.files["datasheet"].read_text()
    assert page == run.datasheet == dt.datasheet(run) == dt.datasheet(out)
    assert "Our &lt;city&gt;" in page
    assert "Other" in dt.datasheet(out, title="Other") and "Other" in dt.datasheet(
        run, title="Other"
    )
    dt.report(run, to=tmp_path / "again.html")
    assert stat.S_IMODE((tmp_path / "again.html").stat().st_mode) == 0o600
    again = dt.read_synthetic(run.files["traces"], like=city.traces)
    assert len(again) == len(run.traces)
    assert stat.S_IMODE((out / "internal").stat().st_mode) == 0o700
    for path in (out / "internal").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_python_and_the_command_line_give_the_same_bytes(city, tmp_path, format):
    table = tmp_path / "events.csv"
    dt.to_pandas(city.traces).drop(columns="tid").to_csv(table, index=False)
    command = [
        "synthesize", table, "--instant-minutes", 20, "--first-hour", 8, "--last-hour", 20,
        "--split", 0.3, "--iterations", 3, "--factors", 3, "--k", 2, "--traces-per-user", 2,
        "--title", "Town", "--output-format", format, "--out", tmp_path / "typed",
    ]  # fmt: skip
    environment = {"DOPPELTRACE_SEED": "77"}
    done = CliRunner().invoke(app, [str(word) for word in command], env=environment)
    assert done.exit_code == 0, done.output
    data = dt.read_table(table, **READING, split=0.3, split_seed=77)
    run = dt.synthesize(
        data, dt.Doppel(iterations=3, factors=3), k=2, traces_per_user=2,
        publication={"title": "Town"}, output_format=format, seed=77,
        out=tmp_path / "called",
    )  # fmt: skip
    for name in (f"traces.{format}", "datasheet.html"):
        typed, called = (tmp_path / where / "public" / name for where in ("typed", "called"))
        assert typed.read_bytes() == called.read_bytes()
    assert len(run.traces) > 0
    typed = json.loads((tmp_path / "typed/internal/manifest.json").read_text())
    for name in ("score", "guarantee", "model", "safeguards", "level0", "traces", "seed"):
        assert typed[name] == run.manifest.to_dict()[name]


def test_a_seed_of_the_model_is_a_seed_of_the_run(city):
    def released(**seeds):
        model = dt.Doppel(iterations=2, factors=2, seed=seeds.get("model"))
        return dt.synthesize(city.traces, model, k=1, seed=seeds.get("run")).traces.locations

    assert np.array_equal(released(model=3), released(run=3))
    assert np.array_equal(released(model=4, run=3), released(run=3))
    assert not np.array_equal(released(), released())


def test_so_many_traces_in_all(city, quick):
    run = dt.synthesize(city.traces, quick, n_traces=17, k=1)
    assert run.manifest.traces.made == 17
    assert run.manifest.to_dict()["sampling"] == {
        "traces_per_user": None, "n_traces": 17, "length": None,
    }  # fmt: skip


def test_the_data_may_be_read_late(city, quick):
    monitor = QuietMonitor()
    run = dt.synthesize(lambda seed: city.traces, quick, k=1, monitor=monitor)
    assert len(run.traces) == 60 and "reading" in monitor.seconds

    def never(seed):
        raise AssertionError("read before the settings were checked")

    with pytest.raises(dt.SettingsError, match="eta"):
        dt.synthesize(never, quick, eta=-1)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"traces_per_user": 0}, "traces_per_user must be at least 1"),
        ({"n_traces": 2.5}, "n_traces must be at least 1, and a whole number"),
        ({"k": "ten"}, "k must be at least 1"),
        ({"k": 61}, r"k=61 is larger than the number of users \(60\)"),
        ({"eta": "1"}, "eta must be a number"),
        ({"eta": True}, "eta must be a number"),
        ({"min_users": 1}, "add allow_rare_places=True"),
        ({"verifiers": 3}, "verifiers=3 is too few for k=10"),
        ({"seed": -1}, "seed must be a non-negative integer"),
        ({"model": "magic"}, "model=magic is not known"),
        ({"model": 3}, "model must be a synthesizer"),
        ({"model": "training"}, "model=training is there to be compared with, not to be released"),
        ({"model": "sglt"}, r"without the test \(k=None\)"),
        ({"resume": True}, "resume needs an out folder"),
        ({"output_format": "xml"}, "output_format must be one of csv, parquet"),
        ({"publication": {"colour": "red"}}, "publication knows title"),
        ({"epsilon0": 1.0, "k": None}, "epsilon0 and k=None exclude each other"),
    ],
)
def test_wrong_settings_are_named_as_python_names_them(city, settings, said):
    with pytest.raises(dt.SettingsError, match=said) as error:
        dt.synthesize(city.traces, **settings)
    assert "--" not in str(error.value)


@pytest.mark.parametrize("data", [None, {"lat": [1]}, "checkins.csv", np.zeros(3)])
def test_what_is_not_traces(data):
    with pytest.raises(dt.SettingsError, match="data must be a Dataset, Traces or City"):
        dt.synthesize(data)


def test_an_earlier_run_is_kept(city, quick, tmp_path):
    out = tmp_path / "run"
    dt.synthesize(city.traces, quick, k=1, out=out)
    with pytest.raises(dt.OutputError, match="overwrite=True"):
        dt.synthesize(city.traces, quick, k=1, out=out)
    before = (out / "public/traces.csv").read_bytes()
    dt.synthesize(city.traces, quick, k=1, seed=6, out=out, overwrite=True)
    assert (out / "public/traces.csv").read_bytes() != before


def test_guarantees(city, quick):
    none = dt.synthesize(city.traces, quick, k=None)
    assert none.guarantee.kind == "none" and none.verdict.level == "red"
    assert none.manifest.deniability is None
    vacuous = dt.synthesize(city.traces, "uniform", k=2, seed=1)
    assert vacuous.guarantee.vacuous and not vacuous.guarantee
    noisy = dt.synthesize(city.traces, quick, k=12, epsilon0=1.0)
    assert noisy.guarantee.parameters["epsilon0"] == 1.0
    assert noisy.manifest.deniability.epsilon == noisy.guarantee.parameters["epsilon"]
