"""Files for other programs: what they hold, read back by other libraries."""

import json

import geopandas
import numpy as np
import polars as pl
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doppeltrace as dt
from doppeltrace.release.columns import COLUMNS
from doppeltrace.release.exports import FORMATS, files

ROWS = [  # ordered by content: (uid, time, place number)
    (0, "2020-01-01T09:00:00", 0),
    (0, "2020-01-01T09:20:00", 1),
    (0, "2020-01-01T09:40:00", 2),
    (1, "2020-01-01T09:00:00", 0),
    (1, "2020-01-01T09:20:00", 1),
    (1, "2020-01-01T09:40:00", 3),
    (2, "2020-01-01T09:00:00", 2),
    (3, "2020-01-01T09:00:00", 4),
    (3, "2020-01-01T09:20:00", 4),
    (3, "2020-01-01T09:40:00", 1),
]


def test_geojson_by_hand(synthetic, run_dir, tmp_path):
    path = dt.export(run_dir, tmp_path / "traces.geojson")
    collection = json.loads(path.read_text(encoding="utf-8"))
    assert set(collection) == {"type", "features"}
    places = synthetic.places
    assert collection["features"] == [
        {
            "type": "Feature",
            "properties": {
                "uid": uid, "tid": 0, "datetime": time, "location": str(places.labels[place]),
            },
            "geometry": {
                "type": "Point", "coordinates": [places.lng[place], places.lat[place]],
            },
        }
        for uid, time, place in ROWS
    ]  # fmt: skip


def test_geoparquet_is_read_by_geopandas(synthetic, run_dir, tmp_path):
    path = dt.export(run_dir, tmp_path / "traces.geoparquet")
    frame = geopandas.read_parquet(path)
    assert list(frame.columns) == [*COLUMNS, "geometry"]
    assert frame.crs == "OGC:CRS84"
    place = [place for *_, place in ROWS]
    assert frame.geometry.x.tolist() == synthetic.places.lng[place].tolist()
    assert frame.geometry.y.tolist() == synthetic.places.lat[place].tolist()
    assert frame["datetime"].astype("datetime64[s]").map(str).tolist() == [
        time.replace("T", " ") for _, time, _ in ROWS
    ]
    about = pyarrow.parquet.read_metadata(path).metadata
    geo = json.loads(about[b"geo"])
    assert geo["version"] == "1.1.0"
    assert geo["columns"]["geometry"]["encoding"] == "WKB"
    assert geo["columns"]["geometry"]["bbox"] == frame.total_bounds.tolist()
    assert set(about) <= {b"geo", b"ARROW:schema"}


def test_kepler_times_have_a_space(run_dir, tmp_path):
    path = dt.export(run_dir, tmp_path / "kepler.csv", format="kepler")
    frame = pl.read_csv(path, infer_schema=False)
    assert tuple(frame.columns) == COLUMNS
    assert frame["datetime"].to_list() == [time.replace("T", " ") for _, time, _ in ROWS]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_release_itself_in_either_form(run_dir, synthetic, tmp_path, format):
    path = dt.export(run_dir, tmp_path / f"again.{format}")
    frame = pl.read_parquet(path) if format == "parquet" else pl.read_csv(path)
    assert frame["location"].to_list() == [str(synthetic.places.labels[p]) for *_, p in ROWS]
    if run_dir.joinpath(f"traces.{format}").exists() and format == "csv":
        assert path.read_bytes() == (run_dir / "public/traces.csv").read_bytes()


@pytest.mark.parametrize("format", FORMATS)
def test_traces_in_memory_give_what_their_release_gives(synthetic, run_dir, tmp_path, format):
    shuffled = synthetic.select([3, 1, 0, 2])
    contents = {
        dt.export(source, tmp_path / f"{number}", format).read_bytes()
        for number, source in enumerate([synthetic, shuffled, run_dir, _file(run_dir)])
    }
    assert len(contents) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_else_of_the_folder_gets_in(run_dir, tmp_path, format):
    """A column that somebody added, and every other file of the run, stay behind."""
    file = _file(run_dir)
    frame = pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file)
    frame = frame.with_columns(owner=pl.lit("secret-owner"))
    frame.write_parquet(file) if file.suffix == ".parquet" else frame.with_columns(
        pl.col("location").cast(pl.String)
    ).write_csv(file)
    for other in run_dir.glob("*.json"):
        other.write_text("secret-seed")
    assert b"secret" not in dt.export(run_dir, tmp_path / "x", format).read_bytes()


def test_numbers_as_labels_stay_numbers(tiny, tmp_path):
    synthetic = dt.SyntheticTraces([[0, 4]], [0], [0], tiny.places, tiny.clock)
    csv = dt.export(synthetic, tmp_path / "a.csv")
    features = json.loads(dt.export(csv, tmp_path / "a.geojson").read_text())["features"]
    assert [f["properties"]["location"] for f in features] == [0, 4]


@pytest.mark.parametrize("format", FORMATS)
def test_empty_release(synthetic, tmp_path, format):
    nothing = synthetic.select(np.zeros(4, dtype=bool))
    path = dt.export(nothing, tmp_path / "x", format)
    if format == "geojson":
        assert json.loads(path.read_text()) == {"type": "FeatureCollection", "features": []}
    if format == "geoparquet":
        assert len(geopandas.read_parquet(path)) == 0


@given(
    label=st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1
    ).filter(lambda text: text.strip() == text)
)
@settings(max_examples=60)
def test_any_label_survives(label, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    clock = dt.Clock.regular(instant_minutes=60)
    places = dt.Places(np.array([label, "zz other"]), [1.0, 2.0], [3.0, 4.0])
    synthetic = dt.SyntheticTraces([[0, 1]], [0], [0], places, clock)
    csv = dt.export(synthetic, folder / "a.csv")
    for source in (synthetic, csv):
        features = json.loads(
            dt.export(source, folder / "a.geojson").read_text(encoding="utf-8"), strict=True
        )["features"]
        assert [f["properties"]["location"] for f in features] == [label, "zz other"]


def test_what_is_no_release(tmp_path, tiny):
    with pytest.raises(dt.InputError, match="not a release"):
        dt.export(tmp_path, tmp_path / "a.geojson")
    with pytest.raises(dt.InputError, match="real traces"):
        dt.export(tiny, tmp_path / "a.geojson")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(dt.InputError, match="no column uid"):
        dt.export(other, tmp_path / "a.geojson")
    other.write_text(",".join(COLUMNS) + "\n0,0,yesterday,1,2,x\n")
    with pytest.raises(dt.InputError, match="cannot be read"):
        dt.export(other, tmp_path / "a.geojson")
    broken = tmp_path / "traces.parquet"
    broken.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(dt.InputError, match="cannot be read"):
        dt.export(broken, tmp_path / "a.geojson")
    assert not (tmp_path / "a.geojson").exists()


def test_the_format_must_be_known(synthetic, tmp_path):
    with pytest.raises(dt.SettingsError, match="end in"):
        dt.export(synthetic, tmp_path / "traces.shp")
    with pytest.raises(dt.SettingsError, match="format must be one of"):
        dt.export(synthetic, tmp_path / "traces.csv", format="shapefile")


def test_the_run_is_not_touched_by_its_export(run_dir, tmp_path):
    file = _file(run_dir)
    before = file.read_bytes()
    manifest = run_dir / "internal/manifest.json"
    for target in (file, run_dir / "public/more.csv", run_dir / "internal/manifest.json"):
        with pytest.raises(dt.SettingsError, match="lies inside the run"):
            dt.export(run_dir, target, format="csv" if target.suffix == ".csv" else None)
    assert file.read_bytes() == before
    assert json.loads(manifest.read_text())["doppeltrace"] == dt.__version__
    alone = tmp_path / f"traces{file.suffix}"
    alone.write_bytes(before)
    with pytest.raises(dt.SettingsError, match="the release itself"):
        dt.export(alone, alone)
    assert alone.read_bytes() == before


def test_a_name_that_contradicts_the_format(synthetic, tmp_path):
    for name, format in (("k.geojson", "kepler"), ("a.csv", "geojson"), ("a.geoparquet", "csv")):
        with pytest.raises(dt.SettingsError, match=f"but the format is {format}"):
            dt.export(synthetic, tmp_path / name, format=format)
    for name, format in (("a.parquet", "geoparquet"), ("a.json", "geojson"), ("a", "kepler")):
        assert dt.export(synthetic, tmp_path / name, format=format).exists()


def test_an_earlier_file_stays_when_writing_fails(synthetic, tmp_path, monkeypatch):
    def full(rows, path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    path = tmp_path / "traces.geojson"
    path.write_text("earlier")
    monkeypatch.setattr(files, "WRITERS", {**files.WRITERS, "geojson": full})
    with pytest.raises(dt.OutputError, match="No space left"):
        dt.export(synthetic, path)
    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]


def _file(run_dir):
    (file,) = run_dir.glob("public/traces.*")
    return file
