"""What leaves: documented columns, nothing of the owners, the same bytes in any order."""

import datetime as dt_module
import json
import stat
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace.release import release
from doppeltrace.release import writer as room
from doppeltrace.release.columns import COLUMNS


@pytest.fixture
def synthetic(tiny) -> dt.SyntheticTraces:
    rng = np.random.default_rng(0)
    locations = rng.integers(0, 5, size=(40, 9))
    locations[7] = locations[3]  # identical traces, and gaps
    locations[5, 2:5] = -1
    return dt.SyntheticTraces(
        locations, rng.integers(0, 3, 40), np.arange(40), tiny.places, tiny.clock
    )


def test_content_by_hand(tiny, tmp_path):
    synthetic = dt.SyntheticTraces(
        [[2, 0, 1], [0, 4, -1], [0, 3, 3], [-1, -1, -1]], [2, 0, 1, 1], [0] * 4, tiny.places,
        tiny.clock,
    )  # fmt: skip
    done = release(synthetic, np.array([True, True, False, True]), tmp_path / "out")
    assert (done.made, done.released, done.events) == (4, 2, 5)
    assert done.traces.read_text().splitlines() == [
        "uid,tid,datetime,lat,lng,location",
        "0,0,2020-01-01T09:00:00,35.0,139.0,0",
        "0,0,2020-01-01T09:20:00,35.4,139.4,4",
        "1,0,2020-01-01T09:00:00,35.2,139.2,2",
        "1,0,2020-01-01T09:20:00,35.0,139.0,0",
        "1,0,2020-01-01T09:40:00,35.1,139.1,1",
    ]


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("rows_at_once", [20, 1_000_000])
def test_any_order_gives_the_same_bytes(synthetic, tmp_path, format, rows_at_once, monkeypatch):
    monkeypatch.setattr(room, "_ROWS_AT_ONCE", rows_at_once)
    rng = np.random.default_rng(1)
    passed = rng.random(len(synthetic)) < 0.6
    written = set()
    for number in range(4):
        order = rng.permutation(len(synthetic)) if number else np.arange(len(synthetic))
        out = tmp_path / str(number)
        done = release(synthetic.select(order), passed[order], out, format=format)
        assert done.released == passed.sum()
        written.add(done.traces.read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_exactly_the_documented_columns_and_fresh_numbers(synthetic, tmp_path, format):
    everything = np.ones(len(synthetic), dtype=bool)
    done = release(synthetic, everything, tmp_path / "out", format=format)
    read = pl.read_parquet if format == "parquet" else pl.read_csv
    frame = read(done.traces)
    assert tuple(frame.columns) == COLUMNS
    assert frame["uid"].unique().sort().to_list() == list(range(40))
    assert frame["tid"].unique().to_list() == [0]
    assert len(frame) == (synthetic.locations >= 0).sum() == done.events
    rows = frame.group_by("uid", maintain_order=True).agg("location")["location"].to_list()
    assert -1 in synthetic.locations  # a gap counts in the order, and is left out of the file
    by_content = sorted(synthetic.locations.tolist())
    assert rows == [[v for v in trace if v >= 0] for trace in by_content]


def test_labels_of_places_are_kept(tmp_path, tiny):
    places = dt.Places(np.array(["ä", "b,c", "d", "e", "f"]), tiny.places.lat, tiny.places.lng)
    synthetic = dt.SyntheticTraces([[1, 0]], [0], [0], places, tiny.clock)
    done = release(synthetic, np.array([True]), tmp_path / "out")
    assert pl.read_csv(done.traces)["location"].to_list() == ["b,c", "ä"]


def test_manifest_is_internal_and_counts(synthetic, tmp_path):
    passed = np.arange(40) < 30
    done = release(
        synthetic,
        passed,
        tmp_path / "out",
        manifest=lambda counts: {
            **room.about(counts),
            "seed": 2**127,
            "input": {"rows": np.int64(3)},
            "rate": np.nan,
        },
        internal_files={"report.html": "<p>–</p>"},
    )
    manifest = json.loads(done.manifest.read_text())
    assert manifest["doppeltrace"] == dt.__version__
    assert manifest["seed"] == 2**127
    assert manifest["input"] == {"rows": 3} and manifest["rate"] is None
    assert manifest["traces"]["made"] == 40
    assert manifest["traces"]["passed"] == manifest["traces"]["released"] == 30
    assert "numpy" in manifest["versions"]
    assert stat.S_IMODE(done.manifest.stat().st_mode) == 0o600
    assert stat.S_IMODE(done.internal.stat().st_mode) == 0o700
    assert (tmp_path / "out" / "internal/report.html").read_text() == "<p>–</p>"
    assert str(2**127) not in done.traces.read_text()


def test_no_trace_passes(synthetic, tmp_path):
    for format in ("csv", "parquet"):
        done = release(synthetic, np.zeros(40, dtype=bool), tmp_path / format, format=format)
        assert done.released == done.events == 0
    assert (tmp_path / "csv" / "public/traces.csv").read_text() == ",".join(COLUMNS) + "\n"
    assert pl.read_parquet(tmp_path / "parquet" / "public/traces.parquet").columns == list(COLUMNS)


def test_wrong_arguments(synthetic, tmp_path):
    with pytest.raises(dt.SettingsError, match="passed"):
        release(synthetic, np.ones(3, dtype=bool), tmp_path / "out")
    with pytest.raises(dt.SettingsError, match="passed"):
        release(synthetic, np.arange(40), tmp_path / "out")  # indexes would be misread
    with pytest.raises(dt.SettingsError, match="format"):
        release(synthetic, np.ones(40, dtype=bool), tmp_path / "out", format="xml")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_disk_full_while_writing_traces(format, tmp_path):
    """A limit on the size of files stands in for a full disk."""
    program = (
        "import resource, signal, sys, numpy as np, doppeltrace as dt\n"
        "from doppeltrace.release import release\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "city = dt.simulate_city(500, 100, seed=0).traces\n"
        "made = dt.Uniform(seed=0).fit(city).sample(2, seed=0)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "try:\n"
        "    release(made, np.ones(len(made), bool), sys.argv[1], format=sys.argv[2])\n"
        "except dt.OutputError as error:\n"
        "    print(error)\n"
    )
    out = tmp_path / "out"
    said = subprocess.run(
        [sys.executable, "-c", program, out, format], capture_output=True, text=True, check=True
    ).stdout
    assert (
        said == f"cannot write to {out}: File too large; free some space or choose another disk\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_public_files_are_made_of_the_written_traces(synthetic, tmp_path):
    seen = []

    def page(traces):
        seen.append(traces.read_text())
        return "für alle"

    passed = np.arange(40) < 3
    done = release(synthetic, passed, tmp_path / "out", public_files={"page.html": page})
    assert seen == [done.traces.read_text()]
    public = done.public / "page.html"
    assert public.read_text(encoding="utf-8") == "für alle"
    assert stat.S_IMODE(public.stat().st_mode) == stat.S_IMODE(done.traces.stat().st_mode)


def test_parquet_in_row_groups_is_the_frame(tmp_path, monkeypatch):
    """Streamed in small row groups, the file holds the same rows in the same order."""
    monkeypatch.setattr(room, "_ROWS_AT_ONCE", 64)
    city = dt.simulate_city(60, 25, seed=2).traces
    synthetic = dt.Uniform(seed=1).fit(city).sample(3, seed=2)
    some = np.random.default_rng(0).random(synthetic.locations.shape) < 0.2
    synthetic.locations[some] = -1
    done = release(synthetic, np.ones(len(synthetic), bool), tmp_path / "run", format="parquet")
    expected = room.released_frame(room.by_content(synthetic.locations), synthetic)
    written = pl.read_parquet(done.traces)
    assert written.schema == expected.schema
    assert written.equals(expected)


def test_a_clock_that_repeats_does_not_tell_when_the_input_began(tmp_path):
    """Two inputs that differ in their first day only give the same bytes, and read back."""
    files = []
    for day in (dt_module.date(2012, 4, 3), dt_module.date(2019, 11, 30)):
        clock = dt.Clock.regular(instant_minutes=60, instants_per_slot=2, start_day=day)
        places = dt.simulate_city(5, 9, seed=0).traces.places
        locations = np.arange(48).reshape(2, 24) % 9
        made = dt.SyntheticTraces(locations, [0, 1], [0, 0], places, clock)
        done = release(made, np.ones(2, bool), tmp_path / str(day))
        files.append(done.traces.read_bytes())
    assert files[0] == files[1]
    assert b"2000-01-01T00:00:00" in files[0] and b"2000-01-01T23:00:00" in files[0]
    like = dt.Traces(["a"], [0, 1], [0], [0], places, clock)
    again = dt.read_synthetic(done.traces, like=like)
    np.testing.assert_array_equal(np.sort(again.locations, axis=0), np.sort(locations, axis=0))
