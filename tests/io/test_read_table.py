"""Tables of events: columns, places, times, order of rows, validation."""

import datetime
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doppeltrace as dt
from doppeltrace import InputError, SettingsError
from doppeltrace.discretize.where import Grid

HEADER = "uid,datetime,lat,lng,location"
ROWS = [
    "anna,2020-01-01T09:10:00+09:00,35.2,139.2,home",
    "anna,2020-01-01T10:20:00+09:00,35.8,139.8,work",
    "anna,2020-01-02T09:00:00+09:00,35.2,139.2,home",
    "ben,2020-01-01T23:59:00+09:00,35.8,139.8,work",
    "ben,2020-01-02T00:00:00+09:00,35.2,139.8,bar",
]


def table(tmp_path, *rows, header=HEADER, name="events.csv"):
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def content(traces):
    """Return everything that traces hold, ready to be compared."""
    places = traces.places
    return (
        traces.users.tolist(),
        traces.offsets.tolist(),
        traces.location.tolist(),
        traces.instant.tolist(),
        (places.labels.tolist(), places.lat.tolist(), places.lng.tolist(), places.bounds),
        (traces.clock.slot_of.tolist(), traces.clock.start, traces.clock.cycle),
    )


def test_rows_that_name_their_places(tmp_path):
    data = dt.read_table(table(tmp_path, *ROWS))
    traces = data.train
    assert data.test is None
    assert traces.users.tolist() == ["anna", "ben"]
    assert traces.places.labels.tolist() == ["bar", "home", "work"]
    assert traces.places.lat.tolist() == [35.2, 35.2, 35.8]
    assert traces.location.tolist() == [1, 2, 1, 2, 0]
    assert traces.instant.tolist() == [9, 10, 33, 23, 24]
    assert traces.clock.start == datetime.datetime(2020, 1, 1)
    assert [t.tolist() for t in traces.transitions()] == [[0, 1], [1, 2], [2, 0], [10, 0]]


def test_the_validation_report(tmp_path):
    report = dt.read_table(table(tmp_path, *ROWS)).validation
    assert (report.rows_read, report.rows_kept, report.dropped, report.warnings) == (5, 5, (), ())
    assert (report.users, report.places, report.events, report.transitions) == (2, 3, 5, 2)
    assert (report.first, report.last) == ("2020-01-01T09:00:00", "2020-01-02T09:00:00")
    assert json.loads(json.dumps(report.to_dict()))["events"] == 5
    assert "5 of 5 rows kept" in str(report)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (".tsv", lambda frame, path: frame.write_csv(path, separator="\t")),
        (".parquet", lambda frame, path: frame.write_parquet(path)),
        (".csv.gz", lambda frame, path: _gzip(frame.write_csv(), path)),
    ],
)
def test_every_kind_of_file_and_frame_gives_the_same(tmp_path, suffix, write):
    path = table(tmp_path, *ROWS)
    frame = pl.read_csv(path)
    other = tmp_path / f"other{suffix}"
    write(frame, other)
    expected = content(dt.read_table(path).train)
    assert content(dt.read_table(other).train) == expected
    assert content(dt.read_table(frame).train) == expected
    assert content(dt.read_table(frame.lazy()).train) == expected
    typed = frame.with_columns(pl.col("datetime").str.to_datetime(time_zone="Asia/Tokyo"))
    assert content(dt.read_table(typed).train) == expected


def _gzip(text, path):
    import gzip

    path.write_bytes(gzip.compress(text.encode()))


def test_pandas_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = table(tmp_path, *ROWS)
    assert content(dt.read_table(pandas.read_csv(path)).train) == content(
        dt.read_table(path).train
    )


def test_columns_of_other_names(tmp_path):
    path = table(tmp_path, *ROWS, header="Who,When,y,x,stop")
    given = {"user": "Who", "time": "When", "location": "stop"}
    assert dt.read_table(path, columns=given).train.n_events == 5
    with pytest.raises(InputError, match="no user column .* Who, When, y, x, stop: .*columns="):
        dt.read_table(path)
    with pytest.raises(InputError, match="no column 'Wo' for user; the columns are Who"):
        dt.read_table(path, columns={"user": "Wo"})
    with pytest.raises(SettingsError, match="'person' is none of the roles user, time"):
        dt.read_table(path, columns={"person": "Who"})


def test_integer_labels_sort_as_numbers_and_blanks_do_not_matter(tmp_path):
    rows = ["10, 2020-01-01T09:00:00+01:00 , 1.0,2.0 , 9", " 9,2020-01-01T09:00:00+01:00,1,3,10"]
    rows += ["9,2020-01-01T10:00:00+01:00,1,2,9", "", "9,2020-01-01T10:00:01+01:00,1,2,9"]
    traces = dt.read_table(table(tmp_path, *rows)).train
    assert traces.users.tolist() == [9, 10]
    assert traces.places.labels.tolist() == [9, 10]
    assert traces.location.tolist() == [1, 0, 0, 0]


def test_a_table_of_places_keeps_its_order(tmp_path):
    places = table(
        tmp_path,
        "work,1,2",
        "home,3,4",
        "bar,5,6",
        "unvisited,7,8",
        header="venue,lat,lng",
        name="venues.csv",
    )
    path = table(tmp_path, *ROWS)
    traces = dt.read_table(path, places=places).train
    assert traces.places.labels.tolist() == ["work", "home", "bar", "unvisited"]
    assert traces.places.lat.tolist() == [1, 3, 5, 7]
    assert traces.location.tolist() == [1, 0, 1, 0, 2]
    again = dt.read_table(path, places=traces.places)
    assert content(again.train) == content(traces)
    top = dt.read_table(path, places=places, top_places=2, rank_by="events")
    assert top.train.places.labels.tolist() == ["work", "home"]
    by_users = dt.read_table(path, places=places, top_places=2)  # home's rows are one user's
    assert by_users.train.places.labels.tolist() == ["work", "bar"]
    assert top.validation.dropped[0].rows == (6,)
    near = dt.read_table(path, places=places, bounds=(0, 0, 4.5, 9))
    assert near.train.places.labels.tolist() == ["work", "home"]
    assert near.train.places.bounds == dt.Bounds(0, 0, 4.5, 9)
    assert str(near.validation.dropped[0]) == "1 × outside the bounds (row 6)"


def test_a_grid(tmp_path):
    data = dt.read_table(table(tmp_path, *ROWS), grid=(2, 2), bounds=(35, 139, 36, 140))
    assert data.train.location.tolist() == [0, 3, 0, 3, 1]
    assert len(data.train.places) == 4
    assert data.train.places.bounds == dt.Bounds(35, 139, 36, 140)
    without = dt.read_table(table(tmp_path, *ROWS), grid=(2, 2))
    assert without.train.location.tolist() == [0, 3, 0, 3, 1]


def test_outside_bounds_and_clock_is_dropped_and_counted(tmp_path):
    rows = [*ROWS, "ben,2020-01-02T01:00:00+09:00,36.5,139.8,far"]
    data = dt.read_table(
        table(tmp_path, *rows), bounds=(35, 139, 36, 140), first_hour=9, last_hour=24
    )
    assert data.train.places.labels.tolist() == ["bar", "home", "work"]
    assert data.train.clock.n_instants == 15
    found = [(f.reason, f.count, f.rows) for f in data.validation.dropped]
    assert found == [("outside the bounds", 1, (7,)), ("outside the clock", 1, (6,))]
    assert data.validation.rows_read == 6
    assert data.validation.rows_kept == 4


def test_duplicate_and_unsorted_rows_are_handled_and_counted(tmp_path):
    clean = dt.read_table(table(tmp_path, *ROWS))
    messy = dt.read_table(table(tmp_path, *ROWS[::-1], ROWS[0], ROWS[4]))
    assert content(messy.train) == content(clean.train)
    assert messy.validation.dropped[0].reason == "exact duplicate"
    assert (messy.validation.dropped[0].count, messy.validation.dropped[0].rows) == (2, (7, 8))
    assert messy.validation.unsorted == 3
    assert "sorted" in str(messy.validation)


event = st.tuples(
    st.integers(0, 3), st.integers(0, 60 * 30), st.integers(0, 4)
)  # user, minute, place


@settings(max_examples=60)
@given(data=st.data(), events=st.lists(event, min_size=4, max_size=40))
def test_the_order_of_rows_never_matters(data, events):
    events += [(0, 0, 0), (0, 60, 1), (1, 0, 0)]  # so that there is something to learn
    frame = pl.DataFrame(
        {
            "uid": [u for u, _, _ in events],
            "time": [
                datetime.datetime(2020, 1, 1) + datetime.timedelta(minutes=m) for _, m, _ in events
            ],
            "location": [f"p{x}" for _, _, x in events],
            "lat": [10.0 + x for _, _, x in events],
            "lng": [20.0 + x + 0.001 * (m % 7) for _, m, x in events],
        }
    )
    order = data.draw(st.permutations(range(len(events))))
    first, second = dt.read_table(frame), dt.read_table(frame[order])
    assert content(first.train) == content(second.train)
    distinct = sorted({(u, m, x) for u, m, x in events})
    assert first.train.n_events == len(distinct)
    labels = first.train.places.labels
    got = list(
        zip(
            first.train.users[first.train.user].tolist(),
            first.train.instant.tolist(),
            labels[first.train.location].tolist(),
            strict=True,
        )
    )
    assert got == [(u, m // 60, f"p{x}") for u, m, x in distinct]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(35, 36), st.floats(139, 141)), min_size=3, max_size=30))
def test_grid_cells_of_a_table_are_those_of_the_grid(points):
    points = [(35.0, 139.0), (36.0, 141.0), *points]
    start = datetime.datetime(2020, 1, 1)
    n = len(points)
    frame = pl.DataFrame(
        {
            "user": [0] * n + [1],
            "timestamp": [start + datetime.timedelta(hours=h) for h in range(n)] + [start],
            "latitude": [y for y, _ in points] + [35.5],
            "longitude": [x for _, x in points] + [140.0],
        }
    )
    box = dt.Bounds(35, 139, 36, 141)
    traces = dt.read_table(frame, grid=(3, 5), bounds=box).train
    expected = Grid(3, 5, box).cell(*zip(*points, strict=True))
    np.testing.assert_array_equal(traces.location[: len(points)], expected)


def test_events_of_one_instant_stand_in_order_of_exact_time(tmp_path):
    # The clocks go back at 6:00 UTC: 1:50 summer time is before 1:10 winter time.
    rows = [
        "1,2020-11-01T06:10:00Z,1,1,second",
        "1,2020-11-01T05:50:00Z,1,2,first",
        "1,2020-11-01T07:00:00Z,1,3,third",
        "2,2020-11-01T07:00:00Z,1,3,third",
    ]
    data = dt.read_table(table(tmp_path, *rows), timezone="America/New_York")
    labels = data.train.places.labels[data.train.location].tolist()
    assert labels == ["first", "second", "third", "third"]
    assert data.train.instant.tolist() == [1, 1, 2, 2]
    assert data.validation.unsorted == 1


def test_time_zones(tmp_path):
    rows = ["1,2020-07-01T12:00:00,1,1,a,-240", "1,2020-07-01T13:00:00,1,2,b,-240"]
    rows += ["2,2020-07-01T13:00:00,1,2,b,-180"]
    header = "uid,utc_datetime,lat,lng,location,tz_offset_minutes"
    path = table(tmp_path, *rows, header=header)
    assert dt.read_table(path).train.instant.tolist() == [8, 9, 10]
    tokyo = dt.read_table(path, timezone="Asia/Tokyo")
    assert tokyo.train.instant.tolist() == [21, 22, 22]
    plain = table(tmp_path, *rows, header=header.replace("utc_datetime", "time"), name="b.csv")
    assert dt.read_table(plain, timezone="Asia/Tokyo").train.instant.tolist() == [12, 13, 13]
    with pytest.raises(SettingsError, match="exclude each other"):
        dt.read_table(path, timezone="Asia/Tokyo", columns={"offset": "tz_offset_minutes"})


def test_times_without_a_zone_bring_a_warning(tmp_path):
    rows = [row.replace("+09:00", "") for row in ROWS]
    report = dt.read_table(table(tmp_path, *rows)).validation
    assert report.warnings == ("5 times name no time zone and are taken as local time",)
    assert "warning: 5 times" in str(report)


def test_several_traces_of_a_user_are_joined_with_missing_events_between(tmp_path):
    rows = [f"{row},{n}" for row, n in zip(ROWS, [0, 0, 1, 0, 1], strict=True)]
    data = dt.read_table(table(tmp_path, *rows, header=HEADER + ",tid"))
    assert content(data.train) == content(dt.read_table(table(tmp_path, *ROWS)).train)


def test_instants_slots_and_days(tmp_path):
    path = table(tmp_path, *ROWS)
    clock = dt.read_table(path, instant_minutes=30, instants_per_slot=4).train.clock
    assert (clock.n_instants, clock.n_slots, clock.cycle) == (48, 12, 48)
    clock = dt.read_table(path, daily=False).train.clock
    assert (clock.n_instants, clock.n_slots, clock.cycle) == (48, 48, None)
    own = dt.Clock.from_slots(
        [[0, 2], [1, 3]], instant_seconds=6 * 3600, start=datetime.datetime(2020, 1, 1), cycle=4
    )
    traces = dt.read_table(path, clock=own).train
    assert traces.clock is own
    assert traces.instant.tolist() == [1, 1, 5, 3, 4]
    with pytest.raises(SettingsError, match="instant_minutes must divide a day"):
        dt.read_table(path, instant_minutes=7)


def test_new_york_protocol(nyc):
    train, test, report = nyc.train, nyc.test, nyc.validation
    assert (train.n_users, test.n_users, len(train.places)) == (862, 216, 1000)
    assert (train.clock.n_instants, train.clock.n_slots, train.clock.cycle) == (24, 12, 24)
    assert train.places.bounds == dt.Bounds(40.5, -74.28, 41.0, -73.68)
    assert test.places is train.places
    reasons = {f.reason: f.count for f in report.dropped}
    assert reasons["exact duplicate"] == 458
    assert report.rows_read == 147_938 == report.rows_kept + sum(reasons.values())
    assert train.n_events + test.n_events == report.events


def test_new_york_local_times_and_venues_by_hand(nyc, nyc_folder):
    raw = pl.read_csv(nyc_folder / "checkins.csv.gz").unique()
    visits = raw.group_by("venue").len().sort(["len", "venue"], descending=[True, False])
    top = set(visits["venue"].head(1000).to_list())
    labels = nyc.train.places.labels
    assert set(labels.tolist()) == top
    number = {label: n for n, label in enumerate(labels.tolist())}
    first_user = nyc.train.users[0]
    mine = raw.filter(pl.col("uid") == first_user).rows(named=True)
    expected = []
    for row in mine:
        if row["venue"] in top:
            utc = datetime.datetime.fromisoformat(row["utc_datetime"]).replace(tzinfo=None)
            when = utc + datetime.timedelta(minutes=row["tz_offset_minutes"])
            expected.append((utc, when.hour // 2, number[row["venue"]]))
    expected.sort()
    events = slice(0, nyc.train.offsets[1])
    assert nyc.train.slot[events].tolist() == [slot for _, slot, _ in expected]
    assert nyc.train.location[events].tolist() == [place for _, _, place in expected]
