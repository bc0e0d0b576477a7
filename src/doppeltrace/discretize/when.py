"""When: written times to local time, and local time to instants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.discretize.extent import public_days
from doppeltrace.discretize.stamps import LENGTH, parse_stamps
from doppeltrace.errors import SettingsError
from doppeltrace.traces import Clock

ISO = (
    r"^\s*([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(?:[.,]([0-9]{1,9}))?"
    r"\s*(Z|z|UTC|[+-](?:0[0-9]|1[0-8])(?::?[0-5][0-9])?)?\s*$"
)
USUAL = (("%Y-%m-%dT%H:%M:%SZ", 0), ("%Y-%m-%dT%H:%M:%S", None), ("%Y-%m-%d %H:%M:%S", None))
"""The commonest layouts of ISO, and the offset from UTC that they name."""

UNIX_SECONDS = (1e8, 1e11)
"""From 1973 on; excludes milliseconds and calendar dates such as 20200131."""

POSSIBLE_SECONDS = (-(2**33), 2**33)
"""From 1697 to 2242: what 64 bits hold in nanoseconds, a time zone's offset included."""


@dataclass(frozen=True)
class LocalTimes:
    """Local time of each row.

    Attributes
    ----------
    local : Datetime (µs, naive); null where the time could not be read.
    moment : Datetime (µs): the time in UTC if it is known of all, else as written; orders
        events.
    warnings : what had to be assumed.
    """

    local: pl.Series
    moment: pl.Series
    warnings: tuple[str, ...] = ()


def parse_times(column: pl.Series, time_format: str | None = None) -> tuple[pl.Series, pl.Series]:
    """Read times: ISO 8601 text, unix seconds (text or numbers), stamps, or datetimes.

    Parameters
    ----------
    time_format : a strptime format for text that is neither.

    Returns
    -------
    written : Datetime (µs, naive), the time as written; null where it cannot be read.
    offset : Int64, minutes east of UTC as written beside it; null where nothing is written.
        Unix seconds and stamps (`stamps.EXAMPLE`) are UTC.
    """
    column = column.alias("time")
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    nothing = pl.repeat(None, len(column), dtype=pl.Int64, eager=True)
    if column.dtype == pl.String and time_format is not None:
        column = column.str.to_datetime(time_format, strict=False, time_unit="us")
    if isinstance(column.dtype, pl.Datetime):
        near = _is_near(column, column.dtype.time_unit)
        epoch = pl.Series([0]).cast(column.dtype)  # Polars breaks off at values behind nulls, too
        safe = column.zip_with(near, epoch)
        offset = nothing
        if column.dtype.time_zone is not None:
            shift = safe.dt.base_utc_offset() + safe.dt.dst_offset()
            offset = shift.dt.total_minutes().zip_with(near, nothing)
        written = safe.dt.replace_time_zone(None).dt.cast_time_unit("us")
        return written.zip_with(near, nothing.cast(pl.Datetime("us"))), offset
    if column.dtype == pl.String:
        iso, offset = _parse_iso(column)
        unix = _from_unix(column.cast(pl.Float64, strict=False))
        utc = _or_stamps(unix, column) if iso.null_count() else unix
        frame = pl.DataFrame({"iso": iso, "utc": utc, "offset": offset}).select(
            written=pl.coalesce("iso", "utc"),
            offset=pl.when(pl.col("utc").is_not_null()).then(0).otherwise(pl.col("offset")),
        )
        return frame["written"], frame["offset"].cast(pl.Int64)
    if column.dtype.is_numeric():
        unix = _from_unix(column.cast(pl.Float64))
        return unix, pl.repeat(0, len(column), dtype=pl.Int64, eager=True)
    return nothing.cast(pl.Datetime("us")), nothing


def _is_near(times: pl.Series, unit: str) -> pl.Series:
    """Tell which datetimes are none too far away for a calendar; no null is."""
    second = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[unit]
    low, high = POSSIBLE_SECONDS
    return times.to_physical().is_between(low * second, high * second).fill_null(False)


def _from_unix(seconds: pl.Series) -> pl.Series:
    low, high = UNIX_SECONDS
    known = seconds.to_frame("s").select(
        pl.when(pl.col("s").is_between(low, high)).then(pl.col("s") * 1e6)
    )
    return known.to_series().round().cast(pl.Int64).cast(pl.Datetime("us"))


def _or_stamps(unix: pl.Series, text: pl.Series) -> pl.Series:
    """Return the times, and where there is none, that of a stamp such as `stamps.EXAMPLE`."""
    if not (text.str.len_bytes() == LENGTH).any():
        return unix
    both = pl.DataFrame({"unix": unix, "stamp": parse_stamps(text)})
    return both.select(pl.coalesce("unix", "stamp")).to_series()


def _parse_iso(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    for layout, minutes_east in USUAL:  # several times as fast as the general way below
        if text.head(1).str.to_datetime(layout, strict=False).null_count() == 0:
            written = text.str.to_datetime(layout, strict=False, time_unit="us")
            if written.null_count() == text.null_count():
                offset = pl.repeat(minutes_east, len(text), dtype=pl.Int64, eager=True)
                return written, offset
    part = text.str.extract_groups(ISO).struct.unnest()
    day, minute, second, fraction, zone = (pl.col(str(i)) for i in range(1, 6))
    moment = pl.concat_str(day, pl.lit("T"), minute, second.fill_null(":00"))
    microseconds = fraction.str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64)
    digits = zone.str.replace_all(":", "").str.pad_end(5, "0")
    minutes = 60 * digits.str.slice(1, 2).cast(pl.Int64, strict=False) + digits.str.slice(
        3, 2
    ).cast(pl.Int64, strict=False)
    parsed = part.select(
        written=moment.str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False, time_unit="us")
        + pl.duration(microseconds=microseconds.fill_null(0)),
        offset=pl.when(zone.str.starts_with("-"))
        .then(-minutes)
        .when(zone.str.starts_with("+"))
        .then(minutes)
        .when(zone.is_not_null())
        .then(0),
    )
    return parsed["written"], parsed["offset"].cast(pl.Int64)


def to_local(
    written: pl.Series,
    offset: pl.Series,
    *,
    timezone: str | None = None,
    local_offset: pl.Series | None = None,
    naive_is_utc: bool = False,
) -> LocalTimes:
    """Return local times from written ones.

    Parameters
    ----------
    written, offset : as `parse_times` gives them.
    timezone : IANA name: times with an offset are moved there; those without are there already.
    local_offset : minutes east of UTC of each row's local time; times without a written offset
        are then UTC.
    naive_is_utc : whether times without a written offset are UTC.

    Without `timezone` and `local_offset` a written time is local as it stands; the warnings
    say so where it names no offset or names UTC.
    """
    frame = pl.DataFrame({"written": written, "offset": offset})
    if naive_is_utc or local_offset is not None:
        frame = frame.with_columns(pl.col("offset").fill_null(0))
    utc = pl.col("written") - pl.duration(minutes=pl.col("offset"))
    frame = frame.with_columns(utc=utc)
    moment = pl.coalesce("utc", "written")
    warnings = []
    if local_offset is not None:
        frame = frame.with_columns(minutes=local_offset)
        local = pl.col("utc") + pl.duration(minutes=pl.col("minutes"))
    elif timezone is not None:
        check_timezone(timezone)
        there = pl.col("utc").dt.replace_time_zone("UTC").dt.convert_time_zone(timezone)
        local = pl.coalesce(there.dt.replace_time_zone(None), pl.col("written"))
        if frame["utc"].null_count():
            moment = pl.coalesce("utc", _utc(pl.col("written"), timezone))
    else:
        local = pl.col("written")
        read = frame.filter(pl.col("written").is_not_null())["offset"]
        if read.null_count():
            moment = pl.col("written")  # the only order that all of them have
            warnings.append(
                f"{read.null_count():,} times name no time zone and are taken as local time"
            )
        if (read == 0).sum():
            warnings.append(
                f"{(read == 0).sum():,} times are in UTC and are taken as local time: "
                "give timezone=… if they are not"
            )
    frame = frame.select(local=local, moment=moment)
    return LocalTimes(frame["local"], frame["moment"], tuple(warnings))


def _utc(local: pl.Expr, timezone: str) -> pl.Expr:
    """Return local times in UTC: the first of two, or, in a gap, as if the clock ran on."""
    hour = pl.duration(hours=1)
    known, before = (
        time.dt.replace_time_zone(timezone, ambiguous="earliest", non_existent="null")
        .dt.convert_time_zone("UTC")
        .dt.replace_time_zone(None)
        for time in (local, local - hour)
    )
    return pl.coalesce(known, before + hour)


def check_timezone(name: str) -> None:
    """Raise `SettingsError` unless this is the name of a time zone."""
    try:
        if not name:
            raise pl.exceptions.ComputeError("no name")
        pl.Series([0]).cast(pl.Datetime("us")).dt.replace_time_zone(name, non_existent="null")
    except pl.exceptions.PolarsError as error:
        raise SettingsError(
            f"timezone {name!r} is not an IANA name such as America/New_York or Asia/Tokyo"
        ) from error


def instants(local: pl.Series, clock: Clock) -> NDArray[np.int64]:
    """Return each local time's instant, counted from the clock's start (negative before it)."""
    start = np.datetime64(clock.start, "us")
    elapsed = (local.to_numpy() - start).astype(np.int64)
    return elapsed // (clock.instant_seconds * 1_000_000)


def regular_clock(
    user: pl.Series,
    local: pl.Series,
    *,
    instant_minutes: int = 60,
    instants_per_slot: int = 1,
    first_hour: float = 0.0,
    last_hour: float = 24.0,
    daily: bool = True,
) -> Clock:
    """Return `Clock.regular` for the local times of users' events, a row per event.

    It covers the days that several users reach (`public_days`), so that no first or last day is
    one person's.
    """
    first, last = public_days(user, local)
    return Clock.regular(
        instant_minutes=instant_minutes,
        instants_per_slot=instants_per_slot,
        first_hour=first_hour,
        last_hour=last_hour,
        start_day=first,
        daily=daily,
        days=1 if daily else (last - first).days + 1,
    )
