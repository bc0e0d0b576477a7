"""Frames of other libraries."""

import datetime
import sys

import numpy as np
import pandas
import pytest

import doppeltrace as dt
from doppeltrace.release.columns import COLUMNS

LOCATIONS = [0, 1, 2, 0, 1, 3, 2, 4, 4, 1]
USERS = [0, 0, 0, 1, 1, 1, 2, 3, 3, 3]


def test_pandas(synthetic, run_dir):
    for frame in (dt.to_pandas(synthetic), dt.to_pandas(run_dir)):
        assert tuple(frame.columns) == COLUMNS
        assert frame["uid"].tolist() == USERS
        assert frame["location"].tolist() == synthetic.places.labels[LOCATIONS].tolist()
        assert frame["lat"].tolist() == synthetic.places.lat[LOCATIONS].tolist()
        assert frame["datetime"].iloc[1] == pandas.Timestamp("2020-01-01 09:20")
        assert frame["datetime"].dt.tz is None


def test_owners_and_their_order_do_not_show(synthetic):
    assert "owner" not in dt.to_pandas(synthetic)
    shuffled = dt.to_pandas(synthetic.select([2, 3, 0, 1]))
    pandas.testing.assert_frame_equal(shuffled, dt.to_pandas(synthetic))


def test_real_traces_keep_their_labels(tiny):
    users = np.array(["ann", "bob", "cy"])
    traces = dt.Traces(users, tiny.offsets, tiny.location, tiny.instant, tiny.places, tiny.clock)
    frame = dt.to_pandas(traces)
    assert tuple(frame.columns) == COLUMNS
    assert frame["uid"].tolist() == ["ann"] * 7 + ["bob"] * 5 + ["cy"] * 9
    assert frame["datetime"].iloc[3] == pandas.Timestamp("2020-01-01 10:20")  # instant 4
    # and they come back
    again = dt.read_table(frame.drop(columns=["tid"]), instant_minutes=20).train
    assert again.n_events == tiny.n_events
    assert len(dt.to_geopandas(traces)) == tiny.n_events


def test_geopandas(synthetic):
    frame = dt.to_geopandas(synthetic)
    assert frame.crs == "EPSG:4326"
    assert list(frame.columns) == [*COLUMNS, "geometry"]
    assert frame.geometry.x.tolist() == synthetic.places.lng[LOCATIONS].tolist()
    assert frame.geometry.y.tolist() == synthetic.places.lat[LOCATIONS].tolist()


def test_scikit_mobility_schema(synthetic):
    """The names and types that TrajDataFrame takes without being told, as a plain frame."""
    frame = dt.to_scikit_mobility(synthetic)
    assert type(frame) is pandas.DataFrame
    assert list(frame.columns) == ["uid", "tid", "datetime", "lat", "lng"]
    assert pandas.api.types.is_datetime64_any_dtype(frame["datetime"])
    assert frame["lat"].dtype == frame["lng"].dtype == np.float64


def test_trackintel_schema(synthetic):
    """What trackintel checks of positionfixes: columns, time zone, points, a unique index."""
    frame = dt.to_trackintel(synthetic)
    assert {"user_id", "tracked_at"} <= set(frame.columns)
    assert isinstance(frame["tracked_at"].dtype, pandas.DatetimeTZDtype)
    assert str(frame["tracked_at"].dt.tz) == "UTC"
    assert (frame.geometry.geom_type == "Point").all()
    assert frame.geometry.is_valid.all()
    assert frame.crs == "EPSG:4326"
    assert frame.index.is_unique
    assert frame["tracked_at"].iloc[0] == pandas.Timestamp("2020-01-01 09:00", tz="UTC")


def test_trackintel_times_from_a_zone(synthetic):
    frame = dt.to_trackintel(synthetic, timezone="Asia/Tokyo")
    assert frame["tracked_at"].iloc[0] == pandas.Timestamp("2020-01-01 00:00", tz="UTC")
    with pytest.raises(dt.SettingsError, match="Mars/Base"):
        dt.to_trackintel(synthetic, timezone="Mars/Base")


@pytest.mark.parametrize(
    ("day", "hours"),
    [
        ("2024-03-31", [-1, 0, 1, 1]),  # no 02:00 in Berlin: it becomes 03:00, which is 01:00 UTC
        ("2024-10-27", [-2, -1, 1, 2]),  # 02:00 is twice: the later is 01:00 UTC
    ],
)
def test_trackintel_on_the_days_when_clocks_change(tiny, day, hours):
    start = datetime.date.fromisoformat(day)
    clock = dt.Clock.regular(instant_minutes=60, start_day=start, last_hour=4, daily=False)
    synthetic = dt.SyntheticTraces([[0, 0, 0, 0]], [0], [0], tiny.places, clock)
    tracked_at = dt.to_trackintel(synthetic, timezone="Europe/Berlin")["tracked_at"]
    midnight = pandas.Timestamp(day, tz="UTC")
    found = ((tracked_at - midnight).dt.total_seconds() / 3600).tolist()
    assert found == hours


@pytest.mark.parametrize(
    ("library", "extra", "call"),
    [
        ("pandas", "pandas", dt.to_pandas),
        ("geopandas", "geo", dt.to_geopandas),
        ("geopandas", "geo", dt.to_trackintel),
    ],
)
def test_a_missing_library_is_named_with_its_extra(monkeypatch, synthetic, library, extra, call):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(dt.SettingsError, match=rf"pip install 'doppeltrace\[{extra}\]'"):
        call(synthetic)
