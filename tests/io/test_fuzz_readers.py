"""Whatever bytes a file holds: data, or one clear line; every row is kept or counted."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import doppeltrace as dt
from doppeltrace.errors import DoppeltraceError
from doppeltrace.io import _blocks

STAMP = "Tue Apr 03 {:02d}:00:06 +0000 2012"
GOOD = {
    "foursquare": [f"{u}\tv{v}\t{STAMP.format(9 + v)}\t60" for u in (1, 2) for v in (1, 2)],
    "tsmc2014": [
        f"{u}\tv{v}\tc\tCafé\t40.{v}\t-74\t-240\t{STAMP.format(9 + v)}"
        for u in (1, 2)
        for v in (1, 2)
    ],
    "gowalla": [f"{u}\t2010-10-19T0{v}:55:27Z\t30.{v}\t-97\t{v}" for u in (1, 2) for v in (1, 2)],
    "yjmob": ["uid,d,t,x,y", *(f"{u},0,{v},{v},1" for u in (1, 2) for v in (1, 2))],
    "table": [
        "uid,datetime,lat,lng,location",
        *(f"{u},2010-10-19T0{v}:55:27Z,30.{v},-97,v{v}" for u in (1, 2) for v in (1, 2)),
    ],
    "geolife": [
        *("header",) * 6,
        *(f"39.{v},116,0,492,39744.1,2008-10-23,0{v}:00:00" for v in (1, 2)),
    ],
}
FIELDS = [
    "", " ", "-1", "-62135596800", "9999-12-31T23:59:59Z", "9999-12-31", "0001-01-01T00:00:00Z",
    "Fri Dec 31 23:59:59 +0000 9999", "nan", "inf", "-1e309", "9" * 30, "1e5", "0", '"', "'",
    "\ufeff", "\x00", "\r", "é", "v1", "x" * 100_000, "2010-10-19T23:55:27.123456789012Z",
]  # fmt: skip
POIS = "v1\t41.0\t29.0\tCafé\tTR\nv2\t41.1\t29.1\tOffice\tTR\n"

fuzz = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


def read_bytes(folder: Path, name: str, data: bytes, pois: bytes = POIS.encode()):
    """Read the bytes as this format: it must end in data or in one line."""
    options: dict = {"table": {"drop_invalid": True}, "geolife": {"h3": 6}}.get(name, {})
    path = folder / "events.csv"
    if name == "foursquare":
        (folder / "pois.txt").write_bytes(pois)
    if name == "geolife":
        pytest.importorskip("h3")
        for user in "ab":
            path = folder / "Data" / user / "Trajectory" / "1.plt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        path = folder
    else:
        path.write_bytes(data)
    try:
        found = dt.read(path, name, **options)
    except DoppeltraceError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1000
        return None
    else:
        seen = found.validation
        assert seen.rows_read == seen.rows_kept + sum(f.count for f in seen.dropped)
        assert seen.rows_kept == found.train.n_events >= 2
        return found


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1 << 17)


@st.composite
def spoiled_lines(draw, lines):
    """Lines with fields exchanged for odd ones, left out or doubled."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.integers(0, len(lines) - 1))
        separator = "\t" if "\t" in lines[row] else ","
        fields = lines[row].split(separator)
        place = draw(st.integers(0, len(fields) - 1))
        fields[place : place + draw(st.integers(0, 2))] = [
            draw(st.sampled_from(FIELDS)) for _ in range(draw(st.integers(0, 2)))
        ]
        lines.insert(row, separator.join(fields))
    return "\n".join(lines)


@pytest.mark.parametrize("name", GOOD)
def test_the_good_file_is_read(tmp_path, name):
    data = read_bytes(tmp_path, name, "\n".join(GOOD[name]).encode())
    assert data is not None
    assert (data.train.n_users, data.train.n_events) == (2, 4)


@pytest.mark.parametrize("name", GOOD)
@fuzz
@given(data=st.data())
def test_spoiled_fields(tmp_path, name, data):
    text = data.draw(spoiled_lines(GOOD[name]))
    encoding = data.draw(st.sampled_from(["utf-8", "iso-8859-1", "utf-16"]))
    read_bytes(tmp_path, name, text.encode(encoding, errors="replace"))


@pytest.mark.parametrize("name", GOOD)
@fuzz
@given(data=st.data())
def test_spoiled_bytes(tmp_path, name, data):
    raw = bytearray("\n".join(GOOD[name]).encode())
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(raw)))
        raw[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    if data.draw(st.booleans()):
        raw = bytearray(gzip.compress(bytes(raw)))
        raw = raw[: data.draw(st.integers(0, len(raw)))]
    read_bytes(tmp_path, name, bytes(raw))


@pytest.mark.parametrize("name", GOOD)
@fuzz
@given(raw=st.binary(max_size=300))
def test_random_bytes(tmp_path, name, raw):
    read_bytes(tmp_path, name, raw)


@fuzz
@given(raw=st.binary(max_size=100))
def test_random_bytes_as_pois(tmp_path, raw):
    good = "\n".join(GOOD["foursquare"]).encode()
    read_bytes(tmp_path, "foursquare", good, raw + POIS.encode())
    read_bytes(tmp_path, "foursquare", good, raw)


@pytest.mark.parametrize("name", ["foursquare", "tsmc2014", "gowalla", "yjmob"])
def test_a_line_without_end(tmp_path, name):
    path = tmp_path / "events.csv"
    (tmp_path / "pois.txt").write_text(POIS)
    path.write_bytes("\n".join(GOOD[name]).encode() + b"\n" + b"x" * (1 << 19))
    with pytest.raises(DoppeltraceError, match=r"row \d+: a line of more than 131,072 bytes"):
        dt.read(path, name)


@fuzz
@given(raw=st.binary(max_size=200))
def test_no_bytes_upset_the_recognition(tmp_path, raw):
    path = tmp_path / "events.csv"
    path.write_bytes(raw)
    try:
        dt.read(path)
    except DoppeltraceError as error:
        assert "\n" not in str(error)
