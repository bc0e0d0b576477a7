"""GeoLife folders and GPS tables: points in cells, one event per user and instant."""

import gzip

import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace import InputError, SettingsError
from doppeltrace.io.geolife import read_geolife

HEADER = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2\n0\n"
BOX = (39.0, 116.0, 41.0, 118.0)
WEST, EAST, NORTH = "39.5,116.5", "39.5,117.5", "40.5,117.5"  # cells 0, 1 and 3 of 2 × 2


def point(where, time, date="2008-10-23"):
    return f"{where},0,492,39744.1,{date},{time}\n"


@pytest.fixture
def folder(tmp_path):
    """User 000: 10:00 UTC west ×2, east ×1 but longest; 11 o'clock north. User 001: east."""
    files = {
        "000/Trajectory/a.plt": point(WEST, "10:00:00")
        + point(WEST, "10:05:00")
        + point(EAST, "10:10:00"),
        "000/Trajectory/b.plt": point(NORTH, "11:30:00") + point("50,117", "11:31:00"),
        "001/Trajectory/c.plt": point(EAST, "10:00:00")
        + point("x,1", "10:01:00")
        + point(EAST, "10:02:00", "9999-01-01")
        + point(EAST, "11:59:59")
        + "1,2\n",
    }
    for name, rows in files.items():
        path = tmp_path / "Data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER.replace("\n", "\r\n") + rows)
    return tmp_path


def test_majority_and_stay(folder):
    data = dt.read(folder, grid=(2, 2), bounds=BOX)
    traces = data.train
    assert traces.users.tolist() == ["000", "001"]
    assert traces.instant.tolist() == [18, 19, 18, 19]  # UTC + 8 hours
    assert traces.location.tolist() == [0, 3, 1, 1]
    assert len(traces.places) == 4
    assert (data.validation.rows_read, data.validation.rows_kept) == (10, 4)
    dropped = {f.reason.split(", first in")[0]: (f.count, f.rows) for f in data.validation.dropped}
    assert dropped == {
        "outside the bounds": (1, ()),
        "merged into one event per instant (majority)": (2, ()),
        "blank, or not its 7 fields": (1, (11,)),
        "coordinates are not degrees": (1, (8,)),
        "time is not like 2008-10-23,02:53:04, from 1990 to 2099": (1, (9,)),
    }
    assert "001/Trajectory/c.plt" in str(data.validation)
    stay = read_geolife(folder / "Data", grid=(2, 2), bounds=BOX, per_instant="stay")
    assert stay.train.location.tolist() == [1, 3, 1, 1]  # 10 minutes west, 50 east
    top = read_geolife(folder, grid=(2, 2), bounds=BOX, top_places=2, timezone="UTC")
    assert top.train.places.labels.tolist() == [0, 1]
    assert top.train.instant.tolist() == [10, 10, 11]


def test_files_in_gz_and_without_header(folder):
    plain = read_geolife(folder, grid=(2, 2), bounds=BOX)
    for file in list(folder.glob("Data/*/Trajectory/*.plt")):
        points = file.read_bytes().split(b"\n", 6)[6]
        file.with_suffix(".plt.gz").write_bytes(gzip.compress(points))
        file.unlink()
    bare = dt.read(folder, grid=(2, 2), bounds=BOX)
    assert bare.train.location.tolist() == plain.train.location.tolist()
    assert bare.validation.rows_read == plain.validation.rows_read == 10


def test_h3_cells(folder):
    h3 = pytest.importorskip("h3")
    data = read_geolife(folder, h3=4, bounds=BOX)
    expected = [h3.latlng_to_cell(*p, 4) for p in [(39.5, 116.5), (40.5, 117.5), (39.5, 117.5)]]
    labels = data.train.places.labels
    assert labels.tolist() == sorted(expected)
    assert labels[data.train.location].tolist() == [*expected, expected[-1]]
    centre = h3.cell_to_latlng(labels[0])
    assert (data.train.places.lat[0], data.train.places.lng[0]) == pytest.approx(centre)
    assert read_geolife(folder, h3=4).validation.rows_kept == 4


def test_what_geolife_needs(folder, tmp_path):
    with pytest.raises(SettingsError, match="grid=….*h3=…"):
        read_geolife(folder)
    with pytest.raises(SettingsError, match="a grid needs bounds"):
        read_geolife(folder, grid=500.0)
    with pytest.raises(SettingsError, match="exclude each other"):
        read_geolife(folder, grid=500.0, h3=3)
    with pytest.raises(SettingsError, match="choose from majority, stay"):
        read_geolife(folder, h3=3, per_instant="mean")
    with pytest.raises(SettingsError, match="resolution from 0 to 15"):
        read_geolife(folder, h3=16)
    with pytest.raises(InputError, match="no row can be used: 7 × outside the bounds"):
        read_geolife(folder, grid=(2, 2), bounds=(0, 0, 1, 1))
    with pytest.raises(InputError, match="no folders <user>/Trajectory"):
        read_geolife(folder / "Data" / "000", h3=3)


def test_a_table_of_positions(tmp_path):
    rows = pl.DataFrame(
        {
            "uid": [1, 1, 1, 1, 2],
            "datetime": [f"2020-01-01 {t}" for t in
                         ("09:00:00", "09:01:00", "09:05:00", "10:00:00", "09:00:00")],
            "lat": [0.5, 0.5, 1.5, 1.5, 0.5],
            "lng": [0.5] * 5,
        }
    )  # fmt: skip
    box = (0, 0, 2, 2)
    every = dt.read_table(rows, grid=(2, 1), bounds=box)
    assert every.train.location.tolist() == [0, 0, 1, 1, 0]
    most = dt.read_table(rows, grid=(2, 1), bounds=box, per_instant="majority")
    assert most.train.location.tolist() == [0, 1, 0]
    assert most.validation.dropped[0].rows == (2, 3)
    stay = dt.read_table(rows, grid=(2, 1), bounds=box, per_instant="stay")
    assert stay.train.location.tolist() == [1, 1, 0]
    assert len(dt.read_table(rows, grid=55_600.0, bounds=box).train.places) == 16
    pytest.importorskip("h3")
    assert len(dt.read_table(rows, h3=3, bounds=box).train.places) == 2
