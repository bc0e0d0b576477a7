"""Time slots in words: 09:00–09:20, Mon 18:00–20:00."""

from __future__ import annotations

import datetime as dt

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import DAY_SECONDS, Clock

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WEEK_SECONDS = 7 * DAY_SECONDS
MAX_RANGES = 3

ALL_DAY = "all day"
BUSY = 1.15
"""Slots with this many times the mean weight are busy."""
SHOWN_RUNS = 2
MIN_WEIGHT = 0.08
"""A run of busy slots with less of the weight, or shorter than an hour, is not worth naming."""
MIN_SECONDS = SMOOTH_SECONDS = 3600
PAUSE_SECONDS = 5400
"""Runs no further apart than this are one."""


def slot_labels(clock: Clock) -> list[str]:
    """Return (n_slots,) the local time of each slot, with the day where there are several."""
    return [_label(clock, np.flatnonzero(clock.slot_of == s)) for s in range(clock.n_slots)]


def busy_hours(clock: Clock, weight: NDArray[np.float64]) -> str:
    """Return the hours with clearly more weight than the mean: "08:00–10:00 and 18:00–20:00".

    Weights are smoothed first, over an hour or one slot to either side: single short slots are
    noise. At most `SHOWN_RUNS` runs are named, the heaviest; "all day" if no slot stands out.

    Parameters
    ----------
    weight : (n_slots,) not negative.
    """
    slot_seconds = clock.n_instants * clock.instant_seconds / clock.n_slots
    smooth = _smooth(weight, reach=max(1, round(SMOOTH_SECONDS / slot_seconds)))
    busy = np.flatnonzero((smooth > BUSY * smooth.mean()) & (weight > weight.mean()))
    if len(busy) and not _regular(clock):
        return _heaviest_slots(clock, weight)
    runs = _runs(busy, pause=int(PAUSE_SECONDS / slot_seconds))
    share = {run: weight[run[0] : run[1] + 1].sum() / weight.sum() for run in runs}
    long = [
        (first, last)
        for first, last in runs
        if share[first, last] >= MIN_WEIGHT and (last + 1 - first) * slot_seconds >= MIN_SECONDS
    ]
    runs = sorted(long, key=lambda run: -share[run])
    words = [_run_words(clock, *run) for run in sorted(runs[:SHOWN_RUNS])]
    return " and ".join(words) if words else ALL_DAY


def _smooth(weight: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """Return the means with weights that fall evenly to 0 beyond `reach` slots to either side."""
    window = 1.0 + reach - np.abs(np.arange(-reach, reach + 1))
    return np.convolve(np.pad(weight, reach, mode="edge"), window / window.sum(), mode="valid")


def _regular(clock: Clock) -> bool:
    """Tell whether the slots follow each other in time, within one day."""
    return bool(np.all(np.diff(clock.slot_of) >= 0)) and _one_day(clock)


def _one_day(clock: Clock) -> bool:
    return clock.n_instants * clock.instant_seconds <= DAY_SECONDS


def _heaviest_slots(clock: Clock, weight: NDArray[np.float64]) -> str:
    top = np.argsort(-weight, kind="stable")[:MAX_RANGES]
    return ", ".join(_label(clock, np.flatnonzero(clock.slot_of == s)) for s in np.sort(top))


def _runs(numbers: NDArray[np.int64], pause: int = 0) -> list[tuple[int, int]]:
    """Return (first, last) of each run of numbers with at most `pause` left out in between."""
    if len(numbers) == 0:
        return []
    breaks = np.flatnonzero(np.diff(numbers) > 1 + pause)
    first = np.concatenate([[0], breaks + 1])
    last = np.concatenate([breaks, [len(numbers) - 1]])
    return [(int(numbers[a]), int(numbers[b])) for a, b in zip(first, last, strict=True)]


def _run_words(clock: Clock, first: int, last: int) -> str:
    positions = np.flatnonzero((clock.slot_of >= first) & (clock.slot_of <= last))
    return _hours(_time(clock, positions[0]), _time(clock, positions[-1] + 1))


def _label(clock: Clock, positions: NDArray[np.int64]) -> str:
    parts = []
    for first, last in _runs(positions)[:MAX_RANGES]:
        begin, end = _time(clock, first), _time(clock, last + 1)
        parts.append(_day(clock, begin) + _hours(begin, end))
    more = len(_runs(positions)) > MAX_RANGES
    return ", ".join(parts) + (", …" if more else "")


def _time(clock: Clock, position: int) -> dt.datetime:
    return clock.start + dt.timedelta(seconds=int(position) * clock.instant_seconds)


def _hours(begin: dt.datetime, end: dt.datetime) -> str:
    at_midnight = end.time() == dt.time() and end > begin
    return f"{begin:%H:%M}–{'24:00' if at_midnight else f'{end:%H:%M}'}"


def _day(clock: Clock, begin: dt.datetime) -> str:
    if _one_day(clock):
        return ""
    weekly = clock.cycle is not None and clock.cycle * clock.instant_seconds == WEEK_SECONDS
    name = WEEKDAYS[begin.weekday()]
    return f"{name} " if weekly else f"{name} {begin:%Y-%m-%d} "
