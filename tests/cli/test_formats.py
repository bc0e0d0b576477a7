"""Named formats on the command line."""

import json

import pytest

from doppeltrace.io.readers import FORMATS


@pytest.fixture
def foursquare(tmp_path):
    """Six users of Istanbul, each at two venues of three in two consecutive hours."""
    folder = tmp_path / "dataset_WWW2019"
    folder.mkdir()
    (folder / "raw_POIs.txt").write_text(
        "".join(f"v{i}\t41.0{i}\t29.0{i}\tCafé\tTR\n" for i in range(3))
    )
    rows = [
        f"{user}\tv{(user + hour) % 3}\tTue Apr 03 {10 + hour}:00:06 +0000 2012\t180\n"
        for user in range(6)
        for hour in range(2)
    ]
    (folder / "raw_Checkins_anonymized.txt").write_text("".join(rows))
    return folder


@pytest.mark.parametrize("command", ["synthesize", "validate"])
def test_help_lists_every_format(run, command):
    page = run(command, "--help").stdout
    assert [f.name for f in FORMATS if f.name not in page] == []


def test_a_city_by_name(run, foursquare, tmp_path):
    options = ("--format", "foursquare", "--city", "Istanbul", "--top-places", 2)
    result = run("validate", foursquare, *options)
    assert result.exit_code == 0, result.output
    assert "8 of 12 rows kept" in result.stdout
    assert "not at one of the 2 most visited places" in result.stdout
    out = tmp_path / "run"
    result = run(
        "synthesize",
        foursquare,
        "--city",
        "ist",
        "--model",
        "uniform",
        "--no-test",
        "--out",
        out,
        "--min-users",
        2,
    )
    assert result.exit_code == 0, result.output
    manifest = json.loads((out / "internal/manifest.json").read_text())
    assert manifest["input"]["validation"]["rows_kept"] == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--city", "Paris"), "city 'Paris' is not one of Istanbul"),
        (("--grid", "5 miles"), "--grid '5 miles' must look like"),
        (("--grid", "500m"), "--grid does not apply to the format foursquare"),
        (("--format", "table"), "is a folder"),
    ],
)
def test_one_line_on_what_is_wrong(run, foursquare, options, message):
    result = run("validate", foursquare, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_cells_for_positions(run, tmp_path):
    path = tmp_path / "gps.csv"
    rows = [f"{u},2020-01-01T0{h}:{m}0:00,35.{u},139.{h}" for u in (1, 2) for h in (1, 2)
            for m in (0, 3)]  # fmt: skip
    path.write_text("\n".join(["uid,datetime,lat,lng", *rows]))
    result = run("validate", path, "--grid", "5000m", "--per-instant", "stay")
    assert result.exit_code == 0, result.output
    assert "4 × merged into one event per instant (stay)" in result.stdout
    pytest.importorskip("h3")
    assert "4 places" in run("validate", path, "--h3", 7).stdout
