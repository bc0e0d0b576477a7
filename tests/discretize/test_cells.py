"""Stamps, grids in metres, H3, and one event per instant."""

import builtins
import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doppeltrace import SettingsError
from doppeltrace.discretize.hexagons import check_resolution
from doppeltrace.discretize.per_instant import one_per_instant
from doppeltrace.discretize.stamps import parse_stamps
from doppeltrace.discretize.where import Grid
from doppeltrace.traces import Bounds

STAMP = "%a %b %d %H:%M:%S %z %Y"
moments = st.datetimes(
    dt.datetime(1990, 1, 2),
    dt.datetime(2099, 12, 30),
    timezones=st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=-9, minutes=-30))]),
)


@settings(max_examples=50)
@given(st.lists(moments, max_size=8))
def test_stamps_are_read_as_python_reads_them(times):
    whole = [t.replace(microsecond=0) for t in times]
    text = pl.Series([t.strftime(STAMP) for t in whole], dtype=pl.String)
    expected = [t.astimezone(dt.UTC).replace(tzinfo=None) for t in whole]
    assert parse_stamps(text).to_list() == expected


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "noon",
        "Tue Apr 31 18:00:06 +0000 2012",
        "Tue Feb 29 18:00:06 +0000 2011",
        "Tue Apr 00 18:00:06 +0000 2012",
        "Tue Apr 03 24:00:06 +0000 2012",
        "Tue Apr 03 18:60:06 +0000 2012",
        "Tue Apr 03 18:00:60 +0000 2012",
        "Tue Apr 03 18:00:06 +0000 9999",
        "Tue Apr 03 18:00:06 +0000 1989",
        "Tue Apr 03 18:00:06 +9900 2012",
        "Tue Apr 03 18:00:06 *0000 2012",
        "Tue apr 03 18:00:06 +0000 2012",
        "Tue Zzz 03 18:00:06 +0000 2012",
        "Tue Apr 03 18:00:06 +0000 201é",
        "Tue Apr -3 18:00:06 +0000 2012",
        "Tue Apr 03 18-00:06 +0000 2012",
        "Tue Apr 03 18:00:06 +0000 2012 ",
    ],
)
def test_what_is_no_stamp(text):
    good = "Tue Apr 03 18:00:06 +0000 2012"
    read = parse_stamps(pl.Series([good, text, good], dtype=pl.String)).to_list()
    assert read == [dt.datetime(2012, 4, 3, 18, 0, 6), None, dt.datetime(2012, 4, 3, 18, 0, 6)]


def test_a_grid_in_metres():
    """At 60° N a degree of longitude is half as long as one of latitude: 111 195 m."""
    grid = Grid.of_metres(11_119.5, Bounds(59.5, 10, 60.5, 12))
    assert (grid.rows, grid.columns) == (10, 10)
    with pytest.raises(SettingsError, match="at least 1"):
        Grid.of_metres(float("nan"), Bounds(0, 0, 1, 1))
    with pytest.raises(SettingsError, match="larger side, or smaller bounds"):
        Grid.of_metres(1, Bounds(0, 0, 1, 1))


def points(*rows):
    """Frame of (user, instant, place, minute of the day) with instants of an hour."""
    start = np.datetime64("2020-01-01", "us")
    minute = np.array([r[3] for r in rows])
    left = 60 * (np.array([r[1] for r in rows]) + 1) - minute
    return pl.DataFrame(
        {
            "user": [r[0] for r in rows],
            "instant": [r[1] for r in rows],
            "place": [r[2] for r in rows],
            "moment": start + minute.astype("timedelta64[m]").astype("timedelta64[us]"),
            "left": left.astype("timedelta64[m]").astype("timedelta64[us]"),
        }
    )


def test_majority_counts_points_and_stay_counts_time():
    rows = points((1, 0, 7, 0), (1, 0, 7, 1), (1, 0, 8, 2), (1, 1, 9, 60), (2, 0, 8, 59))
    assert one_per_instant(rows, "majority")["place"].to_list() == [7, 9, 8]
    assert one_per_instant(rows, "stay")["place"].to_list() == [8, 9, 8]


def test_time_beyond_the_instant_does_not_count():
    """Place 7 from minute 0 to 30, place 8 from 30 on, the next point being at 200."""
    rows = points((1, 0, 7, 0), (1, 0, 8, 30), (1, 3, 7, 200))
    assert one_per_instant(rows, "stay")["place"].to_list() == [7, 7]  # equal: the first


def test_the_place_of_equals_is_the_first():
    rows = points((1, 0, 9, 0), (1, 0, 3, 10), (1, 0, 3, 20), (1, 0, 9, 30))
    assert one_per_instant(rows, "majority")["place"].to_list() == [9]


def test_h3_is_asked_for_where_it_is_missing(monkeypatch):
    real = builtins.__import__

    def without_h3(name, *rest, **named):
        if name.startswith("h3"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_h3)
    with pytest.raises(SettingsError, match=r"pip install 'doppeltrace\[h3\]'"):
        check_resolution(8)
