"""TSMC2014, Gowalla/Brightkite and YJMob100K: tiny files with known answers."""

import gzip

import pytest

import doppeltrace as dt
from doppeltrace import InputError
from doppeltrace.io.yjmob import SIDE

TSMC = [
    "470\tv2\tc1\tArts & Crafts Store\t40.72\t-74.00\t-240\tTue Apr 03 18:00:09 +0000 2012",
    "470\tv1\tc2\tCaf\xe9\t40.60\t-74.04\t-240\tTue Apr 03 19:00:25 +0000 2012",
    "979\tv1\tc2\tCaf\xe9\t40.61\t-74.05\t-240\tTue Apr 03 19:02:24 +0000 2012",
    "979\tv3\t\t\t45.60\t-74.04\t-240\tTue Apr 03 20:02:24 +0000 2012",
]
HEADER = (
    "userId,venueId,venueCategoryId,venueCategory,latitude,longitude,timezoneOffset,utcTimestamp"
)
SNAP = [
    "0\t2010-10-19T23:55:27Z\t30.23\t-97.79\t22847",
    "0\t2010-10-19T22:17:43Z\t30.26\t-97.76\t420315",
    "1\t2010-10-19T22:20:00Z\t30.26\t-97.76\t420315",
    "1\t\t\t\t",
    "1\t2010-10-19T23:20:00Z\t0.0\t0.0\t00000000",
    "2\t2010-10-19T23:20:00Z\t130.0\t0.0\t5",
    "2\t9999-12-31T23:20:00Z\t30.26\t-97.76\t420315",
    "",
]


def dropped(data):
    return {f.reason: (f.count, f.rows) for f in data.validation.dropped}


@pytest.mark.parametrize("kind", ["tsv", "csv", "gz"])
def test_tsmc2014(tmp_path, kind):
    path = tmp_path / "dataset.txt"
    text = "\n".join(TSMC) + "\n"
    first = 1
    if kind == "csv":
        text = HEADER + "\n" + text.replace("\t", ",").replace("Caf\xe9", '"Caf\xe9"')
        first = 2
    raw = text.encode("iso-8859-1")
    path.write_bytes(gzip.compress(raw) if kind == "gz" else raw)
    data = dt.read(path, bounds=(40, -75, 41, -73))
    traces = data.train
    assert traces.places.labels.tolist() == ["v1", "v2"]
    assert traces.places.lat.tolist() == [40.60, 40.72]  # of the first row
    assert traces.places.category.tolist() == ["Café", "Arts & Crafts Store"]
    assert traces.instant.tolist() == [14, 15, 15]  # UTC − 4 hours
    assert traces.location.tolist() == [1, 0, 0]
    assert dropped(data) == {"outside the bounds": (1, (3 + first,))}
    assert dt.read(path, timezone="Asia/Tokyo", top_places=2).train.instant.min() == 3


def test_rows_outside_the_box_at_a_place_inside(tmp_path):
    path = tmp_path / "dataset.txt"
    stray = TSMC[0].replace("40.72", "50.72").replace("18:00:09", "21:00:09")
    path.write_bytes("\n".join([*TSMC, stray]).encode("iso-8859-1"))
    data = dt.read(path, bounds=(40, -75, 41, -73))
    assert dropped(data) == {"outside the bounds": (2, (4, 5))}
    assert data.train.n_events == 3


def test_tsmc2014_keeps_a_place_without_category(tmp_path):
    path = tmp_path / "dataset.txt"
    path.write_bytes("\n".join(TSMC).encode("iso-8859-1"))
    assert dt.read(path, "tsmc2014").train.places.category.tolist()[-1] == ""
    path.write_bytes((HEADER + '\n1,v,2,3,4,5,6,7\n1,"v,2,3,4,5,6,7\n').encode())
    with pytest.raises(InputError, match="row 3: a quoted field does not end on its line"):
        dt.read(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("v1 ", "blanks around the place's name"),
        ("  ", "blanks around the place's name, or nothing else"),
        ("x" * 100_000, "longer than 200 characters"),
    ],
)
def test_place_names_that_are_none(tmp_path, name, reason):
    """A label has no blanks around it, so two places would share one."""
    path = tmp_path / "dataset.txt"
    stray = TSMC[1].replace("v1", name).replace("19:00:25", "20:00:25")
    path.write_bytes("\n".join([*TSMC, stray]).encode("iso-8859-1"))
    data = dt.read(path)
    ((found, rest),) = dropped(data).items()
    assert reason in found and rest == (1, (5,))
    assert data.train.places.labels.tolist() == ["v1", "v2", "v3"]


def test_a_long_category_is_cut(tmp_path):
    path = tmp_path / "dataset.txt"
    rows = [row.replace("Caf\xe9", "x" * 100_000) for row in TSMC]
    path.write_bytes("\n".join(rows).encode("iso-8859-1"))
    category = dt.read(path).train.places.category
    assert [len(name) for name in category] == [200, len("Arts & Crafts Store"), 0]


def test_gowalla(tmp_path):
    path = tmp_path / "Gowalla_totalCheckins.txt"
    path.write_text("\n".join(SNAP) + "\n")
    data = dt.read(path, timezone="America/Chicago")
    traces = data.train
    assert traces.places.labels.tolist() == [22847, 420315]
    assert traces.users.tolist() == [0, 1]
    assert traces.location.tolist() == [1, 0, 1]
    assert traces.instant.tolist() == [17, 18, 17]  # UTC − 5 hours
    assert (data.validation.rows_read, data.validation.rows_kept) == (8, 3)
    assert dropped(data) == {
        "blank, or not its 5 fields": (2, (4, 8)),
        "coordinates are not degrees": (1, (6,)),
        "at 0° N 0° E: position unknown": (1, (5,)),
        "time is not like 2010-10-19T23:55:27Z, from 1990 to 2099": (1, (7,)),
    }
    assert not data.validation.warnings
    (warning,) = dt.read(path).validation.warnings
    assert "UTC" in warning and "timezone=…" in warning


def test_gowalla_without_a_zone_stays_utc(tmp_path):
    path = tmp_path / "checkins.txt"
    rows = ["0\t2010-10-19T23:55:27+02:00\t30.2\t-97.7\t7", *SNAP[:3]]
    path.write_text("\n".join(rows))
    assert dt.read(path, "gowalla").train.instant.tolist() == [21, 22, 23, 22]


def test_brightkite_has_hexadecimal_places(tmp_path):
    path = tmp_path / "checkins.txt"
    path.write_text("\n".join(SNAP).replace("420315", "ee8b88dea22411").replace("22847", "7a"))
    assert dt.read(path).train.places.labels.tolist() == ["7a", "ee8b88dea22411"]


def test_yjmob(tmp_path):
    path = tmp_path / "yjmob100k.csv"
    path.write_text(
        "uid,d,t,x,y\n5,0,1,1,1\n5,0,2,3,1\n8,1,47,200,200\n8,2,0,1,1\n8,2,1,999,999\n"
        "8,2,2,201,5\n8,2,48,5,5\n8,-1,4,5,5\n8,1,x,5,5\n8,1,1,5\n"
    )
    data = dt.read(path)
    traces = data.train
    assert traces.places.labels.tolist() == [0, 2, 39_999]
    assert traces.places.lng.tolist() == pytest.approx([0.5 * SIDE, 2.5 * SIDE, 199.5 * SIDE])
    assert traces.places.lat.tolist() == pytest.approx([0.5 * SIDE, 0.5 * SIDE, 199.5 * SIDE])
    assert traces.instant.tolist() == [1, 2, 95, 96]
    assert traces.location.tolist() == [0, 1, 2, 0]
    assert traces.clock.instant_seconds == 1800
    assert "2000-01-01" in data.validation.warnings[0]
    assert dropped(data) == {
        "blank, or not its 5 fields": (1, (11,)),
        "a field is not an integer": (1, (10,)),
        "position is masked (999)": (1, (6,)),
        "x or y is not from 1 to 200": (1, (7,)),
        "d is not a day from 0 on, or t not from 0 to 47": (2, (8, 9)),
    }
    bare = tmp_path / "bare.csv"
    bare.write_text(path.read_text().partition("\n")[2])
    assert dt.read(bare, "yjmob").train.instant.tolist() == [1, 2, 95, 96]  # no row is a header
    assert dt.read(path, "yjmob", top_places=2).train.places.labels.tolist() == [0, 2]
    path.write_text("uid,d,t,x,y\n1,2,3,4,999\n")
    with pytest.raises(InputError, match="no row can be used: 1 × position is masked"):
        dt.read(path)
