"""Nothing that a reader makes public is decided by one person."""

import datetime

import numpy as np
import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace.io import _place_counts
from doppeltrace.io._place_counts import DistinctUsers

START = datetime.datetime(2020, 1, 6, 8)


def city(n_users=100, seed=0):
    """Return a frame of 20 hourly positions per user."""
    rng = np.random.default_rng(seed)
    n = 20 * n_users
    return pl.DataFrame(
        {
            "user": np.repeat(np.arange(n_users), 20),
            "time": [START + datetime.timedelta(hours=h) for h in range(20)] * n_users,
            "lat": 35.7 + rng.uniform(-0.1, 0.1, n),
            "lng": 139.7 + rng.uniform(-0.1, 0.1, n),
        }
    )


def one_more(frame, **values):
    row = frame.tail(1).with_columns(pl.lit(v).alias(k) for k, v in values.items())
    return pl.concat([frame, row.cast(dict(frame.schema))])


def test_a_grid_without_bounds_does_not_give_a_fix_away():
    plain = dt.read_table(city(), grid=(20, 20)).train.places
    victim = one_more(city(), lat=35.512345, lng=139.987654)
    data = dt.read_table(victim, grid=(20, 20))
    assert data.train.places.same_as(plain)
    assert data.train.places.bounds == plain.bounds
    (finding,) = (f for f in data.validation.dropped if f.reason.startswith("far from almost"))
    assert (finding.count, finding.rows[-1:]) == (1, (2001,))
    (warning,) = (w for w in data.validation.warnings if "far from almost all users" in w)
    assert "row 2001" in warning and "bounds=…" in warning


def test_a_fix_of_one_user_is_no_place():
    """The median of users, rounded: neither one row nor many rows of one user decide."""
    rows = city(9).with_columns(location=pl.lit("bar"))
    rows = pl.concat([rows, city(9, 1).with_columns(location=pl.lit("cafe"))])
    before = dt.read_table(rows).train.places
    heavy = [one_more(rows, lat=35.612345 + 1e-5 * i, lng=139.612345, user=0) for i in range(300)]
    after = dt.read_table(pl.concat([rows, *(h.tail(1) for h in heavy)])).train.places
    assert np.abs(after.lat - before.lat).max() < 0.03
    for places in (before, after):
        np.testing.assert_array_equal(places.lat, np.round(places.lat, 3))
        np.testing.assert_array_equal(places.lng, np.round(places.lng, 3))


def test_a_clock_that_does_not_repeat_begins_and_ends_where_several_users_do():
    stray = one_more(city(), time=datetime.datetime(2019, 12, 24, 3))
    bounds = (35.0, 139.0, 36.0, 140.0)
    data = dt.read_table(stray, grid=(50, 50), bounds=bounds, daily=False)
    assert data.train.clock.start == datetime.datetime(2020, 1, 6)
    assert data.train.clock.n_instants == 48
    assert [(f.reason, f.count) for f in data.validation.dropped] == [("outside the clock", 1)]


def test_who_is_held_out_is_not_known_without_the_seed():
    drawn = [dt.read_table(city(), grid=(5, 5), split=0.3) for _ in range(2)]
    assert drawn[0].test.users.tolist() != drawn[1].test.users.tolist()
    fixed = [dt.read_table(city(), grid=(5, 5), split=0.3, split_seed=1) for _ in range(2)]
    assert fixed[0].test.users.tolist() == fixed[1].test.users.tolist()


GOWALLA = [
    *(f"{u}\t2010-10-1{u}T0{h}:55:27Z\t35.70{u}123\t139.7\tbusy{h}"
      for u in range(1, 4) for h in range(2)),
    *(f"9\t2010-10-{d}T05:55:27Z\t35.8\t139.8\tlonely" for d in range(10, 30)),
    "9\t2010-10-10T06:55:27Z\t35.8\t139.8\tbusy0",
]  # fmt: skip
TSMC = [
    *(f"{u}\tbusy{h}\tc\tBar\t35.7\t139.7\t0\tTue Apr 0{u} 1{h}:00:06 +0000 2012"
      for u in range(1, 4) for h in range(2)),
    *(f"9\tlonely\tc\tHome\t35.8\t139.8\t0\tTue Apr {d} 18:00:06 +0000 2012"
      for d in range(10, 30)),
    "9\tbusy0\tc\tBar\t35.7\t139.7\t0\tTue Apr 10 19:00:06 +0000 2012",
]  # fmt: skip
YJMOB = [
    "uid,d,t,x,y",
    *(f"{u},{u},{t},{t + 1},1" for u in range(1, 4) for t in range(2)),
    *(f"9,{d},8,50,50" for d in range(20)),
    "9,0,9,1,1",
]


@pytest.mark.parametrize(
    ("format", "lines", "busy"),
    [
        ("gowalla", GOWALLA, ["busy0", "busy1"]),
        ("tsmc2014", TSMC, ["busy0", "busy1"]),
        ("yjmob", YJMOB, [0, 1]),
    ],
)
def test_top_places_are_ranked_by_people(tmp_path, format, lines, busy):
    path = tmp_path / "checkins.txt"
    path.write_text("\n".join(lines) + "\n")
    data = dt.read(path, format, top_places=2)
    assert data.train.places.labels.tolist() == busy
    by_rows = dt.read(path, format, top_places=2, rank_by="events")
    assert len(set(by_rows.train.places.labels.tolist()) - set(busy)) == 1


def test_top_places_of_foursquare_are_ranked_by_people(tmp_path):
    lines = [
        *(f"{u}\tbusy{h}\tTue Apr 0{u} 1{h}:00:06 +0000 2012\t0"
          for u in range(1, 4) for h in range(2)),
        *(f"9\tlonely\tTue Apr {d} 18:00:06 +0000 2012\t0" for d in range(10, 30)),
        "9\tbusy0\tTue Apr 10 19:00:06 +0000 2012\t0",
    ]  # fmt: skip
    (tmp_path / "checkins.txt").write_text("\n".join(lines) + "\n")
    pois = [f"{name}\t35.7\t139.7\tBar\tJP" for name in ("busy0", "busy1", "lonely")]
    (tmp_path / "pois.txt").write_text("\n".join(pois) + "\n")
    data = dt.read(tmp_path, "foursquare", top_places=2)
    assert data.train.places.labels.tolist() == ["busy0", "busy1"]
    rows = dt.read(tmp_path, "foursquare", top_places=2, rank_by="events")
    assert "lonely" in rows.train.places.labels.tolist()


def test_a_place_that_rows_locate_stands_at_round_degrees(tmp_path):
    path = tmp_path / "gowalla.txt"
    path.write_text("\n".join(GOWALLA) + "\n")
    places = dt.read(path, "gowalla").train.places
    np.testing.assert_array_equal(places.lat, np.round(places.lat, 3))


@pytest.mark.parametrize("limit", [1, 1 << 20])
def test_distinct_users_are_counted_over_blocks(monkeypatch, limit):
    rng = np.random.default_rng(0)
    place, user = rng.integers(20, size=5000), rng.integers(100, size=5000)
    counter = DistinctUsers()
    monkeypatch.setattr(_place_counts, "MERGED_ROWS", limit)
    for part in np.array_split(np.arange(5000), 13):
        frame = pl.DataFrame({"place": place[part], "user": user[part]})
        counter.add(frame.cast({"place": pl.UInt64}).unique())
    expected = [len(set(user[place == p])) for p in range(21)]
    np.testing.assert_array_equal(counter.count(pl.Series(range(21), dtype=pl.UInt64)), expected)


@pytest.mark.parametrize("apart", [0.01, 1.0])
def test_one_label_at_two_far_places_warns(tmp_path, apart):
    rows = city(9).with_columns(
        lat=pl.lit(35.7) + apart * (pl.col("user") % 2),
        lng=pl.lit(139.7),
        location=pl.when(pl.col("time").dt.hour() % 2 == 0).then(pl.lit("home")).otherwise(
            pl.concat_str(pl.lit("p"), "user")
        ),
    )  # fmt: skip
    warnings = " ".join(dt.read_table(rows).validation.warnings)
    assert ("'home' has rows 1.0° apart" in warnings) == (apart == 1.0)
    path = tmp_path / "gowalla.txt"
    path.write_text("\n".join([*GOWALLA, "1\t2010-10-11T09:55:27Z\t36.9\t139.7\tbusy0"]) + "\n")
    assert "'busy0' has rows" in " ".join(dt.read(path, "gowalla").validation.warnings)
