"""Files that are not what their names say, and columns that are not what their roles need."""

import bz2
import gzip
import lzma
import os
import zipfile

import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace import InputError, SettingsError

HEADER = "uid,datetime,lat,lng,location"
ROWS = [f"{u},2010-10-19T0{v}:55:27,30.{v},-97,v{v}" for u in (1, 2) for v in (1, 2)]
TEXT = "\n".join([HEADER, *ROWS]) + "\n"
GOOD = {
    "uid": [1, 1, 2, 2],
    "datetime": ["2010-10-19T01:00:00", "2010-10-19T02:00:00"] * 2,
    "lat": [1.0, 2.0] * 2,
    "lng": [3.0, 4.0] * 2,
    "location": ["a", "b"] * 2,
}
FAR = [2**63 - 1, -(2**63) + 1]


def read(tmp_path, data, name="events.csv", **options):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return dt.read(path, **options)


@pytest.mark.parametrize("name", ["events.pq", "events", "events.csv", "events.PARQUET"])
def test_parquet_by_any_name(tmp_path, name):
    path = tmp_path / name
    pl.DataFrame(GOOD).write_parquet(path)
    assert dt.read(path).train.n_events == 4


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv.bz2", bz2.compress(TEXT.encode()), "bzip2: unpack it"),
        ("a.csv.xz", lzma.compress(TEXT.encode()), "xz: unpack it"),
        ("a.csv", TEXT.encode("utf-16"), "UTF-16: save it as UTF-8"),
        ("a.csv.gz", gzip.compress(TEXT.encode("utf-16")), "UTF-16: save it as UTF-8"),
    ],
)
@pytest.mark.parametrize("format", ["auto", "table", "gowalla", "yjmob"])
def test_what_we_do_not_read_is_called_by_its_name(tmp_path, name, data, message, format):
    with pytest.raises(InputError, match=f"{name} is .*{message}"):
        read(tmp_path, data, name, format=format)


def test_a_zip_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "dataset_tsmc2014.zip", "w") as archive:
        archive.writestr("dataset_TSMC2014_NYC.txt", "1\t2\n")
    with pytest.raises(InputError, match=r"tsmc2014.zip is a zip archive: unpack it"):
        dt.read(tmp_path / "dataset_tsmc2014.zip")


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_the_header_tells_the_separator(tmp_path, separator):
    data = read(tmp_path, TEXT.replace(",", separator), "events.txt")
    assert data.train.places.labels.tolist() == ["v1", "v2"]


def test_names_that_are_not_utf8_stay_apart(tmp_path):
    text = TEXT.replace("v1", "caf\xe9").replace("v2", "caf\xe8").encode("iso-8859-1")
    for data in (text, gzip.compress(text)):
        assert read(tmp_path, data).train.places.labels.tolist() == ["cafè", "café"]


def test_more_fields_than_the_header_names(tmp_path):
    text = TEXT + "2,2010-10-19T03:55:27,30.1,-97,Smith, John\n" + ROWS[0].replace("27", "28")
    with pytest.raises(
        InputError, match=r"row 6: surplus field ' John' is beyond.*drop_invalid=True"
    ):
        read(tmp_path, text)
    data = read(tmp_path, text, drop_invalid=True)
    assert [str(f) for f in data.validation.dropped] == [
        "1 × more fields than the header names (row 6)"
    ]
    assert data.train.n_events == 5
    places = tmp_path / "places.csv"
    places.write_text("location,lat,lng\nv1,1,2\nv2,1,2,3\n")
    with pytest.raises(InputError, match="places.csv, row 3: surplus field '3' is beyond"):
        read(tmp_path, TEXT, places=places)


def test_a_column_that_stands_twice(tmp_path):
    rows = "".join(f"{row},9\n" for row in ROWS)
    with pytest.raises(InputError, match="row 1: two columns are called 'lat'.*rename one"):
        read(tmp_path, f"{HEADER},lat\n{rows}")
    assert read(tmp_path, f"{HEADER},\n{rows}").train.n_events == 4  # a name nobody asks for


def test_damaged_gz_is_recognised_for_what_it_was(tmp_path):
    whole = gzip.compress(TEXT.encode())
    with pytest.raises(InputError, match="events.csv: the gz file is damaged or ends too early"):
        read(tmp_path, whole[:-6])
    snap = "".join(f"{i}\t2010-10-19T01:55:27Z\t30.1\t-97\t5\n" for i in range(9))
    with pytest.raises(InputError, match="near row 1: the gz file is damaged or ends too early"):
        read(tmp_path, gzip.compress(snap.encode())[:-6])


def test_paths_that_cannot_be(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="not readable: File name too long"):
        dt.read("x" * 300)
    with pytest.raises(InputError, match="not readable: embedded null byte"):
        dt.read("a\0b")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="events.csv: not readable: permission denied"):
        read(tmp_path, TEXT)
    with pytest.raises(InputError, match="events.csv: not readable: permission denied"):
        dt.read_table(tmp_path / "events.csv")


@pytest.mark.parametrize("column", ["uid", "lat", "location", "tz_offset_minutes"])
@pytest.mark.parametrize(
    "values", [[[1]] * 4, [{"a": 1}] * 4, [b"\xff"] * 4, pl.Series([1] * 4).cast(pl.Duration)]
)
def test_columns_of_the_wrong_type(column, values):
    frame = pl.DataFrame({**GOOD, column: values})
    with pytest.raises(InputError, match=rf"frame: the column {column} is .*, not \w+: "):
        dt.read_table(frame)


def test_users_as_pandas_keeps_them():
    """Integers with gaps are floats there: the gaps are no user, and 1.0 is user 1."""
    frame = pl.DataFrame({**GOOD, "uid": [1.0, 1.0, float("nan"), 2.0]})
    with pytest.raises(InputError, match="frame, row 3: uid missing"):
        dt.read_table(frame)
    assert dt.read_table(frame, drop_invalid=True).train.users.tolist() == [1, 2]
    big = pl.Series([2**64 - 1] * 2 + [3] * 2, dtype=pl.UInt64)
    users = dt.read_table(pl.DataFrame({**GOOD, "uid": big})).train.users
    assert users.tolist() == [str(2**64 - 1), "3"]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_datetimes_beyond_any_calendar(unit, zone):
    second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    times = pl.Series([1577869200 * second, 1577872800 * second, *FAR]).cast(
        pl.Datetime(unit, zone)
    )
    frame = pl.DataFrame({**GOOD, "datetime": times})
    frame = pl.concat([frame, frame.with_columns(pl.col("uid") + 1)])
    with pytest.raises(InputError, match=r"frame, row 3: datetime .* is not a time like"):
        dt.read_table(frame)
    data = dt.read_table(frame, drop_invalid=True)
    assert data.validation.dropped[0].rows == (3, 4, 7, 8)


def test_one_long_label_does_not_take_the_memory_of_all(tmp_path):
    row = f"{'x' * 100_000},2010-10-19T03:55:27,30.1,-97,v1\n"
    with pytest.raises(InputError, match="row 6: uid 'xxx.*is longer than 200 characters"):
        read(tmp_path, TEXT + row)
    data = read(tmp_path, TEXT + row, drop_invalid=True)
    assert data.train.users.dtype.itemsize <= 4


def test_options_that_no_input_can_meet(tmp_path):
    for options, message in (
        ({"grid": (100_000, 100_000)}, "has more than 10,000,000 cells"),
        ({"timezone": ""}, "is not an IANA name"),
        ({"split": 0.5, "split_seed": -1}, "split_seed -1 must be 0 or more"),
    ):
        with pytest.raises(SettingsError, match=message):
            read(tmp_path, TEXT, **options)


def test_a_user_in_both_parts(tmp_path):
    parts = tmp_path / "parts.csv"
    parts.write_text("uid,part\n1,train\n2,test\n1,test\n")
    with pytest.raises(InputError, match=r"parts.csv: the user 1 is in several parts: name one"):
        read(tmp_path, TEXT, split=parts)
