"""Synthetic traces read back: published files, and releases of ours."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doppeltrace as dt
from doppeltrace import InputError

FILES = ["ppmtf_alpha200", "sgd_copy0", "sgd_copy2", "sglt_c50_removal1", "sglt_c100_removal0"]


def make_like(cycle=None, start=datetime.datetime(2020, 1, 1, 9)):
    """Two users, three places, a clock of four instants in the slots {0, 2} and {1, 3}."""
    clock = dt.Clock([0, 1, 0, 1], 3600, start, cycle)
    places = dt.Places(["a", "b", "c"], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    return dt.Traces.from_events([0, 1], [0, 1], [0, 1], places=places, clock=clock)


def release(locations, like):
    """Return the frame that a release holds for these traces (−1: no event)."""
    instants = like.clock.timeline(np.shape(locations)[1])
    rows = [
        (n, 0, str(like.clock.local_time(t)), like.places.lat[x], like.places.lng[x])
        + (like.places.labels[x],)
        for n, trace in enumerate(locations)
        for t, x in zip(instants, trace, strict=True)
        if x >= 0
    ]
    names = ["uid", "tid", "datetime", "lat", "lng", "location"]
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.mark.parametrize("name", FILES)
def test_published_files(people_flow_folder, name):
    synthetic = dt.read_synthetic(people_flow_folder / "reference" / f"{name}.csv.gz")
    assert synthetic.locations.shape == (5000, 30)
    np.testing.assert_array_equal(synthetic.owner, np.repeat(np.arange(500), 10))
    np.testing.assert_array_equal(synthetic.replicate, np.tile(np.arange(10), 500))
    assert synthetic.locations.min() >= 0


def test_a_published_file_fits_its_folder(people_flow, people_flow_folder):
    path = people_flow_folder / "reference" / "ppmtf_alpha200.csv.gz"
    alone, like = dt.read_synthetic(path), dt.read_synthetic(path, like=people_flow.train)
    np.testing.assert_array_equal(alone.locations, like.locations)
    assert alone.locations[0, :4].tolist() == [72, 196, 45, 45]
    assert alone.places.same_as(people_flow.train.places)
    assert alone.clock.same_as(people_flow.train.clock)


def published(tmp_path, *rows):
    path = tmp_path / "published.csv"
    path.write_text("user,trace_no,time_slot,time_instant,poi_index,category\n" + "\n".join(rows))
    return path


def test_instants_are_counted_inside_their_slot(tmp_path):
    rows = ["1,0,0,0,2,-", "1,0,0,1,1,-", "1,0,1,0,0,-", "1,0,1,1,2,-", "0,3,1,1,1,-"]
    synthetic = dt.read_synthetic(published(tmp_path, *rows), like=make_like())
    # slots {0, 2} and {1, 3}: slot 0's second instant stands at position 2
    np.testing.assert_array_equal(synthetic.locations, [[-1, -1, -1, 1], [2, 0, 1, 2]])
    assert (synthetic.owner.tolist(), synthetic.replicate.tolist()) == ([0, 1], [3, 0])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0,0,2,0,0,-", "row 3: time_slot '2' is not one of the clock's 2 slots"),
        ("0,0,1,2,0,-", "row 3: time_instant '2' is not an instant of its slot"),
        ("0,0,1,0,3,-", "row 3: poi_index '3' is not one of the 3 places"),
        ("0,0,1,0,,-", "row 3: poi_index missing is not an integer"),
        ("0,0,0,0,1,-", "row 3: user '0' has a second event at one instant"),
    ],
)
def test_faulty_published_rows(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        dt.read_synthetic(published(tmp_path, "0,0,0,0,0,-", row), like=make_like())


@given(
    st.lists(
        st.lists(st.integers(-1, 2), min_size=6, max_size=6).map(lambda t: [0, *t, 1]),
        min_size=1,
        max_size=12,
    )
)
def test_a_release_round_trips(tmp_path_factory, traces):
    like = make_like(cycle=24)
    path = tmp_path_factory.mktemp("release") / "traces.csv"
    frame = release(traces, like)
    frame.sample(fraction=1.0, shuffle=True, seed=3).write_csv(path)
    synthetic = dt.read_synthetic(path, like=like)
    np.testing.assert_array_equal(synthetic.locations, traces)
    assert synthetic.owner.tolist() == [-1] * len(traces)
    assert synthetic.replicate.tolist() == [0] * len(traces)


def test_a_release_as_parquet(tmp_path):
    traces = [[0, 1, 2, 0]] * 11 + [[2, 2, -1, 1]]
    release(traces, make_like()).write_parquet(tmp_path / "traces.parquet")
    synthetic = dt.read_synthetic(tmp_path / "traces.parquet", like=make_like())
    np.testing.assert_array_equal(synthetic.locations, traces)


def test_a_clock_that_repeats_may_begin_on_another_day(tmp_path):
    made = make_like(cycle=24, start=datetime.datetime(2021, 5, 5, 9))
    release([[0, 1, 2, 0, 1]], made).write_csv(tmp_path / "traces.csv")
    synthetic = dt.read_synthetic(tmp_path / "traces.csv", like=make_like(cycle=24))
    np.testing.assert_array_equal(synthetic.locations, [[0, 1, 2, 0, 1]])
    with pytest.raises(
        InputError, match=r"an instant of the clock of like=.*and 4 more such rows"
    ):
        dt.read_synthetic(tmp_path / "traces.csv", like=make_like())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,0,2020-01-01T09:00:00,0,0,z", "row 3: location 'z' is not among the places"),
        ("1,0,2020-01-01T09:10:00,0,0,a", "row 3: datetime .* is not an instant of the clock"),
        ("1,0,2020-01-01T13:00:00,0,0,a", "row 3: datetime .* is not an instant of the clock"),
        ("1,0,2020-01-01T08:00:00,0,0,a", "row 3: datetime .* is not an instant of the clock"),
        ("1,0,morning,0,0,a", "row 3: datetime 'morning' is not a local time"),
        ("0,0,2020-01-01T09:00:00,2,5,b", "row 3: uid '0' has a second event"),
        ("1,0,2020-01-01T09:00:00,2,4,b", "row 3: lng '4' is not where like= has this place"),
        ("1,0,2020-01-01T09:00:00,2.01,5,b", "row 3: lat '2.01' is not where like= has"),
        ("1,0,2020-01-01T09:00:00,,5,b", "row 3: lat .* is not where like= has"),
    ],
)
def test_faulty_released_rows(tmp_path, row, message):
    path = tmp_path / "traces.csv"
    head = "uid,tid,datetime,lat,lng,location\n0,0,2020-01-01T09:00:00,1,4,a\n"
    path.write_text(head + row + "\n")
    with pytest.raises(InputError, match=message):
        dt.read_synthetic(path, like=make_like())


def test_faulty_files(tmp_path):
    path = tmp_path / "traces.csv"
    path.write_text("")
    with pytest.raises(InputError, match="the file is empty"):
        dt.read_synthetic(path, like=make_like())
    path.write_text("uid,tid,datetime,lat,lng,location\n")
    with pytest.raises(InputError, match="no rows below the header"):
        dt.read_synthetic(path, like=make_like())
    release([[0, 1, 2, 0]], make_like()).write_csv(path)
    with pytest.raises(InputError, match="pass like="):
        dt.read_synthetic(path)
    with pytest.raises(InputError, match="not inside a people-flow folder.* pass like="):
        dt.read_synthetic(published(tmp_path, "0,0,0,0,0,-"))
    path.write_text("uid,when\n1,2\n")
    with pytest.raises(InputError, match="not a file of synthetic traces.* uid, when"):
        dt.read_synthetic(path, like=make_like())
