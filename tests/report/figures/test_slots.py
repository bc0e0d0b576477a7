"""Time slots in words."""

import datetime as dt

import numpy as np

from doppeltrace import Clock
from doppeltrace.report.figures import slots


def test_slot_labels():
    daily = Clock.regular(instant_minutes=60, instants_per_slot=8)
    assert slots.slot_labels(daily) == ["00:00–08:00", "08:00–16:00", "16:00–24:00"]
    part = Clock.regular(instant_minutes=20, first_hour=9, last_hour=10)
    assert slots.slot_labels(part) == ["09:00–09:20", "09:20–09:40", "09:40–10:00"]
    monday = dt.datetime(2024, 1, 1)
    week = Clock(np.arange(168), 3600, monday, cycle=168)
    assert slots.slot_labels(week)[25] == "Tue 01:00–02:00"
    days = Clock(np.arange(48), 3600, monday)
    assert slots.slot_labels(days)[24] == "Tue 2024-01-02 00:00–01:00"
    mixed = Clock.from_slots([[0, 2], [1, 3]], instant_seconds=3600, start=monday)
    assert slots.slot_labels(mixed)[0] == "00:00–01:00, 02:00–03:00"


def test_busy_hours():
    clock = Clock.regular(instant_minutes=60)
    weight = np.ones(24)
    assert slots.busy_hours(clock, weight) == "all day"
    weight[18:22] = 5
    assert slots.busy_hours(clock, weight) == "18:00–22:00"
    weight[6:9] = 4
    assert slots.busy_hours(clock, weight) == "06:00–09:00 and 18:00–22:00"
    weight = np.ones(24)
    weight[9:19] = 6
    assert slots.busy_hours(clock, weight) == "09:00–19:00"
    mixed = Clock.from_slots([[0, 2], [1, 3]], instant_seconds=3600, start=dt.datetime(2024, 1, 1))
    short = Clock.regular(instant_minutes=20, first_hour=9, last_hour=19)
    weight = np.ones(30)
    weight[[4, 11, 27]] = 1.6  # single slots that stand out are noise
    assert slots.busy_hours(short, weight) == "all day"
    weight[:2] = 3.0  # so is less than an hour
    assert slots.busy_hours(short, weight) == "all day"
    weight[:2], weight[18:24] = 1.0, 1.6
    assert slots.busy_hours(short, weight) == "15:00–17:00"
    assert "00:00–01:00, 02:00–03:00" in slots.busy_hours(mixed, np.array([9.0, 1.0]))
