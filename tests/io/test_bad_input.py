"""Bad tables: each brings one line that names file, row or option, and the remedy."""

import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace import InputError, SettingsError

HEADER = "uid,datetime,lat,lng,location"
GOOD = [
    "1,2020-01-01T09:00:00Z,35.2,139.2,home",
    "1,2020-01-01T10:00:00Z,35.8,139.8,work",
    "2,2020-01-01T09:00:00Z,35.2,139.2,home",
    "2,2020-01-01T10:00:00Z,35.8,139.8,work",
]


@pytest.fixture
def write(tmp_path):
    def _write(*rows, header=HEADER, name="events.csv"):
        path = tmp_path / name
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    return _write


def message(error):
    """Return the error's text, which must be one line."""
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("row", "value", "reason"),
    [
        ("1,noon,35.2,139.2,home", "datetime 'noon' is not a time", "datetime is not a time"),
        ("1,2020-02-30T09:00:00Z,35,139,home", "datetime '2020-02-30T09:00:00Z' is not", "time"),
        ("1,2020-01-01T09:00:00Z,NaN,139.2,home", "lat 'NaN' is not a finite", "lat is not"),
        ("1,2020-01-01T09:00:00Z,35.2,inf,home", "lng 'inf' is not a finite", "lng is not"),
        ("1,2020-01-01T09:00:00Z,-inf,139.2,home", "lat '-inf' is not a finite", "lat is not"),
        ("1,2020-01-01T09:00:00Z,north,139.2,home", "lat 'north' is not a finite", "lat is not"),
        ("1,2020-01-01T09:00:00Z,139.2,35.2,home", "lat '139.2' and lng look swapped", "swapped"),
        ("1,2020-01-01T09:00:00Z,-74.0,40.7,home", "lat '-74.0' and lng look swapped", "swapped"),
        ("1,2020-01-01T09:00:00Z,95.2,139.2,home", "lat '95.2' is outside ±90", "outside ±90"),
        ("1,2020-01-01T09:00:00Z,35.2,181,home", "lng '181' is outside ±180", "outside ±180"),
        (",2020-01-01T09:00:00Z,35.2,139.2,home", "uid missing", "no uid"),
        ("1,,35.2,139.2,home", "datetime missing", "no datetime"),
        ("1,2020-01-01T09:00:00Z,,139.2,home", "lat missing", "no lat"),
        ("1,2020-01-01T09:00:00Z,35.2, ,home", "lng missing", "no lng"),
        ("1,2020-01-01T09:00:00Z,35.2,139.2", "location missing", "no location"),
    ],
)
def test_a_faulty_row_is_named_or_dropped(write, row, value, reason):
    path = write(*GOOD[:2], row, *GOOD[2:], row)
    with pytest.raises(InputError) as error:
        dt.read_table(path)
    text = message(error)
    assert f"{path}, row 4: {value}" in text
    assert "(and 1 more such rows)" in text
    assert "drop_invalid=True" in text
    data = dt.read_table(path, drop_invalid=True)
    (dropped,) = data.validation.dropped
    assert (dropped.count, dropped.rows) == (2, (4, 7))
    assert reason in dropped.reason
    assert data.train.n_events == 4


def test_coordinates_that_are_swapped_within_the_range(write):
    path = write("1,2020-01-01T09:00:00Z,2.35,48.86,home", *GOOD)
    assert dt.read_table(path).train.n_events == 5  # nothing tells that this is not at sea
    with pytest.raises(InputError, match=r"row 2: lat '2.35' and lng look swapped"):
        dt.read_table(path, bounds=(48, 2, 49, 3))


def test_rows_of_frames_count_from_one():
    frame = pl.DataFrame(
        {"uid": [1, 1], "time": [1577869200, 1577872800], "lat": [1.0, float("nan")]}
    ).with_columns(lng=pl.lit(2.0), location=pl.lit("a"))
    with pytest.raises(InputError, match="frame, row 2: lat nan is not a finite number"):
        dt.read_table(frame)


def test_empty_files(write, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(InputError, match="empty.csv: the file is empty"):
        dt.read_table(empty)
    with pytest.raises(InputError, match="events.csv: there are no rows below the header"):
        dt.read_table(write())


def test_files_that_are_none(write, tmp_path):
    with pytest.raises(InputError, match="none.csv does not exist"):
        dt.read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        dt.read_table(tmp_path)
    with pytest.raises(InputError, match="not readable as a Parquet table"):
        dt.read_table(write(*GOOD, name="events.parquet"))
    with pytest.raises(InputError, match="cannot read rows from a list"):
        dt.read_table([1, 2])
    with pytest.raises(InputError, match="'__row__' is reserved"):
        dt.read_table(pl.DataFrame({"__row__": [1]}))


@pytest.mark.parametrize("column", ["uid", "datetime", "lat", "lng", "location"])
def test_a_missing_column_is_named_with_those_found(write, column):
    names = HEADER.split(",")
    left_out = names.index(column)
    header = ",".join(n for n in names if n != column)
    rows = [",".join(v for i, v in enumerate(r.split(",")) if i != left_out) for r in GOOD]
    with pytest.raises(InputError) as error:
        dt.read_table(write(*rows, header=header))
    text = message(error)
    assert f"(such as {column}" in text or column in text
    assert f"the columns are {header.replace(',', ', ')}" in text
    assert "columns={" in text


def test_nothing_to_learn_from(write):
    with pytest.raises(InputError, match=r"only one user \(1\).*columns=.'user': …"):
        dt.read_table(write(*GOOD[:2]))
    with pytest.raises(InputError, match=r"one single location \(home\).*grid=…"):
        dt.read_table(write(GOOD[0], GOOD[2]))
    with pytest.raises(InputError, match=r"no transitions.*60 minutes.*instant_minutes=…"):
        dt.read_table(write(GOOD[0], GOOD[3]))
    with pytest.raises(InputError, match=r"every event .* lies outside the clock.*first_hour=…"):
        dt.read_table(write(*GOOD), first_hour=0, last_hour=9)
    with pytest.raises(InputError, match=r"every event lies outside the bounds.*bounds=…"):
        dt.read_table(write(*GOOD), bounds=(0, 0, 1, 1))
    with pytest.raises(InputError, match=r"no row is valid"):
        dt.read_table(write("1,x,1,1,a", "2,y,1,1,b"), drop_invalid=True)


def test_places_that_do_not_fit(write):
    path = write(*GOOD)
    header, name = "venue,lat,lng", "venues.csv"
    with pytest.raises(InputError) as error:
        dt.read_table(path, places=write("home,1,2", header=header, name=name))
    text = message(error)
    assert "events.csv, row 3: location 'work' is not in the table of places" in text
    faults = {
        "home,NaN,2": "row 2: lat 'NaN' is not a finite",
        "home,139,35": "row 2: lat '139' and lng look swapped",
        ",1,2": "row 2: venue missing",
        "home,1,2\nhome,1,2": "row 3: venue 'home' is listed twice",
    }
    for row, expected in faults.items():
        with pytest.raises(InputError, match=f"venues.csv, {expected}"):
            dt.read_table(path, places=write(row, header=header, name=name))
    with pytest.raises(InputError, match="no places below the header"):
        dt.read_table(path, places=write(header=header, name=name))
    with pytest.raises(InputError, match="no lat column.*the columns are venue"):
        dt.read_table(path, places=write("home", header="venue", name=name))
    far = write("home,1,2", "work,1,3", header=header, name=name)
    with pytest.raises(InputError, match="every event lies outside the bounds"):
        dt.read_table(path, places=far, bounds=(50, 50, 60, 60))


def test_settings_that_do_not_fit(write):
    path = write(*GOOD)
    with pytest.raises(SettingsError, match="places and grid exclude each other"):
        dt.read_table(path, places=path, grid=(2, 2))
    with pytest.raises(SettingsError, match="are not a box in degrees"):
        dt.read_table(path, bounds=(1, 1, 0, 0))
    with pytest.raises(SettingsError, match="bounds need four numbers"):
        dt.read_table(path, bounds=(1, 1, 0))
    with pytest.raises(SettingsError, match="grid needs two numbers"):
        dt.read_table(path, grid=(1, 1, 0))
    with pytest.raises(
        InputError, match=r"row 2: datetime .* is not a time of the form time_format='%d'"
    ):
        dt.read_table(path, time_format="%d")
    with pytest.raises(SettingsError, match="is not an IANA name"):
        dt.read_table(path, timezone="Tokio")


def test_an_offset_must_be_one(write):
    rows = [f"{row},{m}" for row, m in zip(GOOD, ["60", "x", "60", "60"], strict=True)]
    path = write(*rows, header=HEADER + ",tz_offset_minutes")
    with pytest.raises(InputError, match=r"row 3: tz_offset_minutes 'x' is not an offset"):
        dt.read_table(path)


@pytest.mark.parametrize("time", ["9999-12-31T23:00:00Z", "0001-01-01T00:00:00Z"])
def test_years_that_no_clock_holds(write, time):
    path = write(*GOOD, f"2,{time},35.2,139.2,home")
    for timezone in ("Asia/Tokyo", "America/New_York"):
        with pytest.raises(InputError, match=f"row 6: datetime '{time}' is not a time .* 1900"):
            dt.read_table(path, timezone=timezone)
        data = dt.read_table(path, timezone=timezone, drop_invalid=True)
        assert data.validation.dropped[0].rows == (6,)


def test_a_message_stays_one_short_line(write):
    with pytest.raises(InputError) as error:
        dt.read_table(write(*GOOD, header='"uid\n' + "x" * 100_000 + '",b,c,d,e'))
    assert len(message(error)) < 500
    with pytest.raises(InputError) as error:
        dt.read_table(write("1," + "x" * 100_000 + ",35,139,home", *GOOD))
    assert len(message(error)) < 500
