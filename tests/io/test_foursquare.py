"""Foursquare's raw files: two passes, a box or a city, and what is dropped on the way."""

import gzip

import numpy as np
import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace import InputError, SettingsError
from doppeltrace.io import _blocks
from doppeltrace.io.foursquare import CITIES, city_bounds, read_foursquare

POIS = (
    "cafe\t41.00\t29.00\tCaf\xe9\tTR\n"
    "home\t41.01\t29.01\tHome (private)\tTR\n"
    "work\t41.02\t29.02\tOffice\tTR\n"
    "port\t41.03\t29.03\tHarbor\n"  # no country
    "louvre\t48.86\t2.34\tMuseum\tFR\n"
)
ROWS = [
    "7\thome\tTue Apr 03 18:00:06 +0000 2012\t180",  # 21:00 local
    "7\tcafe\tTue Apr 03 19:59:59 +0000 2012\t180",
    "9\twork\tTue Apr 03 21:30:00 +0000 2012\t180",  # 0:30 on the next day
    "9\tcafe\tTue Apr 03 22:30:00 +0000 2012\t180",
    "9\thome\tTue Apr 03 23:30:00 +0000 2012\t180",
    "9\tlouvre\tWed Apr 04 23:30:00 +0000 2012\t120",
    "7\tport\tTue Apr 03 20:59:59 +0000 2012\t180",
    "7\thome\tTue Apr 03 18:00:06 +0000 2012\t180",
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "raw_POIs.txt").write_bytes(POIS.encode("iso-8859-1"))
    (tmp_path / "raw_Checkins_anonymized.txt").write_text("\n".join(ROWS) + "\n")
    (tmp_path / "dataset_WWW_Checkins_anonymized.txt").write_text("not to be read")
    return tmp_path


def dropped(data):
    return {f.reason: (f.count, f.rows) for f in data.validation.dropped}


def test_events_of_a_city(folder):
    data = dt.read(folder, city="Istanbul", instants_per_slot=2)
    traces = data.train
    assert traces.places.labels.tolist() == ["cafe", "home", "port", "work"]
    assert traces.places.category.tolist() == ["Café", "Home (private)", "Harbor", "Office"]
    assert traces.places.bounds == CITIES["Istanbul"]
    assert traces.users.tolist() == [7, 9]
    assert traces.places.labels[traces.location].tolist() == [
        "home", "cafe", "port", "work", "cafe", "home",
    ]  # fmt: skip
    assert traces.instant.tolist() == [21, 22, 23, 24, 25, 26]  # hours since April 3, local
    assert traces.slot.tolist() == [10, 11, 11, 0, 0, 1]
    assert (data.validation.rows_read, data.validation.rows_kept) == (8, 6)
    assert dropped(data) == {
        "venue not in raw_POIs.txt inside the bounds": (1, (6,)),
        "exact duplicate": (1, (8,)),
    }
    assert data.validation.unsorted == 0  # the last row is the copy of the first


def test_the_most_visited_places(folder):
    data = read_foursquare(folder, city="ist", top_places=2)
    assert data.train.places.labels.tolist() == ["cafe", "home"]  # 2 and 3 rows
    assert dropped(data)["not at one of the 2 most visited places"] == (2, (3, 7))
    assert data.validation.rows_kept == 4


def test_a_box_a_time_zone_and_the_files_by_name(folder, tmp_path):
    pois = tmp_path / "elsewhere.tsv"
    (folder / "raw_POIs.txt").rename(pois)
    data = read_foursquare(
        folder / "raw_Checkins_anonymized.txt",
        places=pois,
        bounds=(40.9, 28.9, 41.1, 29.1),
        timezone="UTC",
    )
    assert data.train.instant.tolist() == [18, 19, 20, 21, 22, 23]
    with pytest.raises(InputError, match=r"no file \*pois\*.*places=…"):
        dt.read(folder / "raw_Checkins_anonymized.txt")


def test_gz_and_small_blocks_give_the_same(folder, monkeypatch):
    plain = read_foursquare(folder, city="Istanbul", top_places=3)
    for name in ("raw_POIs.txt", "raw_Checkins_anonymized.txt"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 100)
    blocks = read_foursquare(folder, city="Istanbul", top_places=3)
    assert blocks.train.location.tolist() == plain.train.location.tolist()
    assert blocks.train.instant.tolist() == plain.train.instant.tolist()
    counts = [(f.count, f.rows) for f in plain.validation.dropped]
    assert [(f.count, f.rows) for f in blocks.validation.dropped] == counts


def test_the_same_as_the_general_reader(tmp_path):
    """Both readers agree on random check-ins without faults."""
    rng = np.random.default_rng(0)
    n, venues = 3000, [f"v{i:03d}" for i in range(60)]
    venue = rng.choice(venues, n, p=np.arange(1, 61) / 1830)
    user = rng.integers(0, 20, n)
    second = rng.choice(40 * 86_400, n, replace=False)
    moment = np.datetime64("2012-04-03T00:00:00", "us") + second.astype("timedelta64[s]")
    lat, lng = 41 + np.arange(60) / 1000, 29 + np.arange(60) / 1000
    pl.DataFrame({"venue": venues, "lat": lat, "lng": lng}).write_csv(tmp_path / "venues.csv")
    frame = pl.DataFrame({"uid": user, "venue": venue, "utc_time": moment})
    frame = frame.with_columns(tz_offset_minutes=pl.lit(180))
    written = frame.with_columns(pl.col("utc_time").dt.strftime("%a %b %d %H:%M:%S +0000 %Y"))
    written.write_csv(tmp_path / "checkins.txt", separator="\t", include_header=False)
    (tmp_path / "pois.txt").write_text(
        "".join(f"{v}\t{y}\t{x}\tc\tTR\n" for v, y, x in zip(venues, lat, lng, strict=True))
    )
    expected = dt.read_table(frame, places=tmp_path / "venues.csv", top_places=25).train
    data = dt.read(tmp_path, "foursquare", top_places=25, split=0.25, split_seed=3)
    assert (data.train.n_users, data.test.n_users) == (15, 5)
    got = dt.read(tmp_path, "foursquare", top_places=25).train
    for column in ("users", "offsets", "location", "instant"):
        assert getattr(got, column).tolist() == getattr(expected, column).tolist()
    assert got.places.same_as(expected.places)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("7\thome\tTue Apr 33 18:00:06 +0000 2012\t180", "time is not like"),
        ("7\thome\tTue Apr 03 18:00:06 +0000 9999\t180", "from 1990 to 2099"),
        ("7\thome\t-5\t180", "time is not like"),
        ("7\thome\tTue Apr 03 18:00:06 +0000 2012\t9999", "offset is not within"),
        ("x\thome\tTue Apr 03 18:00:06 +0000 2012\t180", "user is not an integer"),
        ("7\thome\tTue Apr 03 18:00:06 +0000 2012", "not its 4 fields"),
        ("7\thome\tTue Apr 03 18:00:06 +0000 2012\t180\tmore", "not its 4 fields"),
        ("", "blank"),
        ("7" * 100_000, "not its 4 fields"),
        ("7\tho\x00me\tTue Apr 03 18:00:06 +0000 2012\t180", "venue not in"),
    ],
)
def test_a_faulty_row_is_dropped_and_counted(folder, row, reason):
    path = folder / "raw_Checkins_anonymized.txt"
    path.write_text("\n".join([*ROWS[:2], row, *ROWS[2:5]]) + "\n")
    data = read_foursquare(folder, city="Istanbul")
    (finding,) = data.validation.dropped
    assert reason in finding.reason
    assert (finding.count, finding.rows) == (1, (3,))
    assert (data.validation.rows_read, data.train.n_events) == (6, 5)


def test_cities_by_name():
    assert list(CITIES) == [
        "Istanbul", "Jakarta", "New York City", "Kuala Lumpur", "San Paulo", "Tokyo",
    ]  # fmt: skip
    assert city_bounds("new-york city") == CITIES["New York City"]
    assert city_bounds("São Paulo") == city_bounds("SP") == CITIES["San Paulo"]
    with pytest.raises(SettingsError, match="Paris.*Istanbul, Jakarta.*bounds=…"):
        city_bounds("Paris")


def test_what_cannot_be_read(folder):
    with pytest.raises(InputError, match="no venue lies inside the bounds"):
        read_foursquare(folder, city="Tokyo")
    with pytest.raises(SettingsError, match="exclude each other"):
        read_foursquare(folder, city="Tokyo", bounds=(0, 0, 1, 1))
    with pytest.raises(SettingsError, match="IANA"):
        read_foursquare(folder, timezone="Tokio")
    with pytest.raises(SettingsError, match="instant_minutes"):
        read_foursquare(folder, instant_minutes=7)
    with pytest.raises(TypeError, match="nonsense"):
        read_foursquare(folder, nonsense=1)
    checkins = folder / "raw_Checkins_anonymized.txt"
    text = "\n".join(ROWS)
    checkins.write_bytes(gzip.compress(text.encode())[:-20])
    with pytest.raises(InputError, match="near row 1: the gz file is damaged or ends too early"):
        read_foursquare(folder)
    checkins.write_text("")
    with pytest.raises(InputError, match="there are no rows"):
        read_foursquare(folder)
    checkins.write_text(text.replace("home", "x").replace("cafe", "y").replace("work", "z"))
    with pytest.raises(InputError, match=r"no row can be used: 8 × venue not in raw_POIs.txt"):
        read_foursquare(folder, bounds=(40.9, 28.9, 41.025, 29.1))
    (folder / "raw_POIs.txt").write_text("a,b,c\n")
    with pytest.raises(InputError, match=r"raw_POIs.txt: no row can be used: 1 × not venue"):
        read_foursquare(folder)
