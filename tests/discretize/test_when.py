"""Written times to local time, and local time to instants."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doppeltrace import Clock, SettingsError
from doppeltrace.discretize.when import instants, parse_times, regular_clock, to_local

NOON = dt.datetime(2012, 7, 1, 12, 0)


def local(text, **settings):
    return to_local(*parse_times(pl.Series([text])), **settings).local[0]


@pytest.mark.parametrize(
    ("text", "written", "offset"),
    [
        ("2012-07-01T12:00:00Z", NOON, 0),
        ("2012-07-01 12:00", NOON, None),
        (" 2012-07-01T12:00:00+09:00 ", NOON, 540),
        ("2012-07-01T12:00:00-0330", NOON, -210),
        ("2012-07-01T12:00:00+09", NOON, 540),
        ("2012-07-01 12:00:00 UTC", NOON, 0),
        ("2012-07-01T12:00:00.5", NOON + dt.timedelta(seconds=0.5), None),
        ("2012-07-01T11:59:59.9999999", NOON - dt.timedelta(microseconds=1), None),
        ("1341144000", NOON, 0),
        ("1341144000.25", NOON + dt.timedelta(seconds=0.25), 0),
    ],
)
def test_readable_times(text, written, offset):
    got, minutes = parse_times(pl.Series([text]))
    assert (got[0], minutes[0]) == (written, offset)


@pytest.mark.parametrize(
    "text",
    ["", "noon", "2012-13-01T12:00:00", "2012-07-01T25:00", "2012-07-01", "20120701", "nan"]
    + [
        "1341144000000",
        "01/07/2012 12:00",
        None,
        "2012-07-01T12:00+19:00",
        "2012-07-01T12:00+09:60",
    ]
    + ["2012-07-01T12:00:00.１２"],
)
def test_unreadable_times(text):
    assert parse_times(pl.Series([text], dtype=pl.String))[0].to_list() == [None]


def test_rows_that_leave_the_usual_layout():
    written, offset = parse_times(pl.Series(["2012-07-01T12:00:00Z", None, "2012-07-01T12:00"]))
    assert written.to_list() == [NOON, None, NOON]
    assert offset.to_list() == [0, None, None]


def test_a_format_of_one_s_own():
    text = pl.Series(["Sun Jul 01 12:00:00 +0000 2012", "rubbish"])
    written, offset = parse_times(text, "%a %b %d %H:%M:%S %z %Y")
    assert written.to_list() == [NOON, None]
    assert offset.to_list() == [0, None]


def test_datetimes_and_numbers():
    assert parse_times(pl.Series([NOON]))[0].to_list() == [NOON]
    aware = pl.Series([NOON]).dt.replace_time_zone("America/New_York")
    written, offset = parse_times(aware)
    assert (written[0], offset[0]) == (NOON, -240)  # summer time
    assert parse_times(pl.Series([1341144000, 5]))[0].to_list() == [NOON, None]
    assert parse_times(pl.Series([True]))[0].to_list() == [None]


def test_local_time_from_a_zone_knows_summer_time():
    assert local("2012-07-01T12:00:00Z", timezone="America/New_York").hour == 8
    assert local("2012-01-01T12:00:00Z", timezone="America/New_York").hour == 7
    assert local("2012-07-01T12:00:00+02:00", timezone="America/New_York").hour == 6
    assert local("2012-07-01T12:00:00", timezone="America/New_York") == NOON
    assert local("2012-07-01T12:00:00", timezone="Asia/Tokyo", naive_is_utc=True).hour == 21


def test_local_time_from_an_offset_column_or_as_written():
    minutes = pl.Series([-240])
    assert local("2012-07-01T12:00:00Z", local_offset=minutes).hour == 8
    assert local("2012-07-01T12:00:00", local_offset=minutes).hour == 8
    assert local("2012-07-01T12:00:00+02:00", local_offset=minutes).hour == 6
    assert local("2012-07-01T12:00:00+02:00") == NOON


def test_assumptions_are_said():
    text = pl.Series(["2012-07-01T12:00:00", "2012-07-01T12:00:00Z", "2012-07-01T12:00:00+09:00"])
    warnings = to_local(*parse_times(text)).warnings
    assert len(warnings) == 2
    assert warnings[0].startswith("1 times name no time zone")
    assert warnings[1].startswith("1 times are in UTC")
    assert to_local(*parse_times(text), timezone="Asia/Tokyo").warnings == ()


def test_unknown_zone():
    with pytest.raises(SettingsError, match="'Mars/Olympus' is not an IANA name"):
        local("2012-07-01T12:00:00Z", timezone="Mars/Olympus")


@given(st.datetimes(dt.datetime(1980, 1, 1), dt.datetime(2100, 1, 1)))
def test_iso_text_round_trips(moment):
    texts = [moment.isoformat(), moment.isoformat(" "), moment.isoformat() + "+05:30"]
    assert parse_times(pl.Series(texts))[0].to_list() == [moment] * 3


@given(
    moments=st.lists(st.datetimes(dt.datetime(2000, 1, 1), dt.datetime(2001, 1, 1)), min_size=1),
    minutes=st.sampled_from([1, 20, 60, 120]),
)
def test_an_instant_contains_its_time(moments, minutes):
    times = pl.Series(moments, dtype=pl.Datetime("us"))
    clock = regular_clock(pl.Series([0] * len(times)), times, instant_minutes=minutes)
    begin = clock.local_time(instants(times, clock)).astype("datetime64[us]")
    behind = (times.to_numpy() - begin) / np.timedelta64(1, "m")
    assert np.all((behind >= 0) & (behind < minutes))
    assert clock.start == dt.datetime.combine(min(moments).date(), dt.time())


def test_instants_before_the_start_are_negative():
    clock = Clock.regular(instant_minutes=20, first_hour=9, last_hour=19, daily=False)
    times = pl.Series([clock.start - dt.timedelta(minutes=1), clock.start])
    np.testing.assert_array_equal(instants(times, clock), [-1, 0])


def test_a_clock_that_does_not_repeat_covers_all_days():
    times = pl.Series([dt.datetime(2020, 1, 1, 5), dt.datetime(2020, 1, 3, 23, 59)])
    clock = regular_clock(
        pl.Series([0, 1]), times, instant_minutes=60, instants_per_slot=24, daily=False
    )
    assert (clock.n_instants, clock.n_slots, clock.cycle) == (72, 3, None)
    assert clock.covers(instants(times, clock)).all()


def test_times_with_and_without_an_offset_have_one_order():
    """Moments are in UTC where a zone places the naive ones, else all as written."""
    text = ["2012-03-11T00:30:00", "2012-03-11T06:00:00Z", "2012-03-11T02:30:00"]
    written, offset = parse_times(pl.Series(text))
    here = to_local(written, offset, timezone="America/New_York")
    assert here.moment.dt.hour().to_list() == [5, 6, 7]  # 2:30 is in the gap of summer time
    assert here.local.dt.hour().to_list() == [0, 1, 2]
    plain = to_local(written, offset)
    assert plain.moment.to_list() == written.to_list()
