"""Times such as `Tue Apr 03 18:00:06 +0000 2012`, read by arithmetic on their bytes.

Several times as fast as a general parser, which counts when there are ninety million of them.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

LENGTH = 30
EXAMPLE = "Tue Apr 03 18:00:06 +0000 2012"
FIRST_YEAR, LAST_YEAR = 1990, 2099
"""Other years are taken as mistakes."""

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BY_CODE = np.argsort(MONTHS)
_CODES = np.array([int.from_bytes(MONTHS[m].encode(), "big") for m in _BY_CODE])
_STARTS = np.arange(f"{FIRST_YEAR}-01", f"{LAST_YEAR + 2}-01", dtype="datetime64[M]")
_DAY = _STARTS.astype("datetime64[D]").astype(np.int64)
_DIGITS = (8, 9, 11, 12, 14, 15, 17, 18, 21, 22, 23, 24, 26, 27, 28, 29)
_FIXED = ((3, " "), (7, " "), (10, " "), (13, ":"), (16, ":"), (19, " "), (25, " "))


def parse_stamps(text: pl.Series) -> pl.Series:
    """Return the times in UTC (Datetime µs, naive), null where the text is not such a time.

    The name of the weekday is not looked at.
    """
    fits = (text.str.len_bytes() == LENGTH).fill_null(False)
    joined = text.filter(fits).str.join("").item() or ""
    byte = np.frombuffer(joined.encode(), dtype=np.uint8).reshape(-1, LENGTH).T.copy()
    seconds, valid = _seconds(byte)
    times = np.full(len(text), np.datetime64("NaT", "us"))
    times[fits.to_numpy()] = np.where(
        valid, (seconds * 1_000_000).astype("datetime64[us]"), np.datetime64("NaT", "us")
    )
    return pl.Series(text.name, times)


def _seconds(byte: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return (n,) unix seconds of the columns of (LENGTH, n) bytes, and which are valid."""
    valid = np.ones(byte.shape[1], dtype=bool)
    for place in _DIGITS:
        valid &= byte[place] - ord("0") <= 9  # unsigned: what is below "0" wraps round
    for place, character in _FIXED:
        valid &= byte[place] == ord(character)
    sign = byte[20]
    valid &= (sign == ord("+")) | (sign == ord("-"))
    code = (byte[4].astype(np.int32) << 16) | (byte[5].astype(np.int32) << 8) | byte[6]
    found = np.minimum(np.searchsorted(_CODES, code), len(_CODES) - 1)
    valid &= _CODES[found] == code
    year = 100 * _pair(byte, 26) + _pair(byte, 28)
    valid &= (year >= FIRST_YEAR) & (year <= LAST_YEAR)
    month = np.where(valid, (year - FIRST_YEAR) * 12 + _BY_CODE[found], 0)
    day, hour, minute, second = (_pair(byte, place) for place in (8, 11, 14, 17))
    valid &= (day >= 1) & (day <= _DAY[month + 1] - _DAY[month])
    east_hours, east_minutes = _pair(byte, 21), _pair(byte, 23)
    valid &= (hour < 24) & (minute < 60) & (second < 60) & (east_hours < 19) & (east_minutes < 60)
    east = (3600 * east_hours + 60 * east_minutes) * np.where(sign == ord("-"), -1, 1)
    moment = 86_400 * (_DAY[month] + day - 1) + 3600 * hour + 60 * minute + second - east
    return moment, valid


def _pair(byte: NDArray[np.uint8], place: int) -> NDArray[np.int64]:
    """Return the numbers of two digits that begin at this place."""
    zero = ord("0")
    tens, ones = (byte[place + i].astype(np.int64) - zero for i in range(2))
    return np.asarray(10 * tens + ones, dtype=np.int64)
