"""Who moves how: the habits of the clusters, and the events that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.cities.layout import DISTRICTS, QUARTERS, STOPS, Raster
from doppeltrace.traces import Clock

SPEED = 0.30
"""Units of the city's side per hour: crossing it takes over three hours, with the walks."""

_SPOTS = 6
_WAKING = (7, 23)


@dataclass(frozen=True)
class Habit:
    """What the users of one cluster do on a weekday; hours as (mean, standard deviation)."""

    name: str
    share: float
    line: int | None
    destination: str
    leaves: tuple[float, float]
    returns: tuple[float, float]
    wander: float
    stays_home: float = 0.08
    works_at_night: bool = False


HABITS = (
    Habit("line A commuters", 0.24, 0, "office", (7.9, 0.6), (17.3, 1.0), 0.02),
    Habit("line B commuters", 0.22, 1, "office", (8.1, 0.6), (17.6, 1.0), 0.02),
    Habit("students", 0.16, None, "campus", (8.6, 0.8), (15.8, 1.2), 0.05),
    Habit("mall-goers", 0.14, None, "mall", (10.4, 0.8), (16.8, 1.4), 0.07),
    Habit("night workers", 0.12, None, "works", (17.6, 0.8), (8.4, 0.6), 0.02, 0.08, True),
    Habit("home-stayers", 0.12, None, "park", (14.0, 2.0), (16.0, 2.0), 0.05, 0.75),
)


class Simulator:
    """Simulates chunks of users in one city."""

    def __init__(
        self,
        clock: Clock,
        points: NDArray[np.float64],
        category: NDArray[np.str_] | None,
        days: int,
        missing: float,
        dense: bool,
    ) -> None:
        assert category is not None
        self.clock, self.points, self.days = clock, points, days
        self.missing, self.dense = missing, dense
        self.raster = Raster(points, category)
        position = np.arange(clock.n_instants)
        seconds = clock.start.hour * 3600 + position * clock.instant_seconds
        hours = seconds / 3600
        awake = dense | ((hours >= _WAKING[0]) & (hours < _WAKING[1]))
        self.position = position[awake]
        self.hours = hours[awake].astype(np.float32)
        self.weekend = (clock.start.weekday() + np.arange(days)) % 7 >= 5

    def run(
        self, habit: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Return (events per user, location, instant) of users with these habits."""
        n, n_hours = len(habit), len(self.hours)
        times, points, wander = self._user_days(habit, rng)
        present = self._present(n, rng)
        event = np.flatnonzero(present)
        row, at = np.divmod(event, n_hours)
        clock_time = self.hours[at]
        x, y, at_destination = _interpolate(times, points, row, clock_time)
        stray = rng.standard_normal((2, n * self.days * _SPOTS), dtype=np.float32)
        phase = rng.random(n * self.days, dtype=np.float32)
        spot = row * _SPOTS + (clock_time / 24 * _SPOTS * 2 + phase[row]).astype(int) % _SPOTS
        radius = np.where(at_destination, wander[row], np.float32(0))
        location = self.raster.nearest(
            x + stray[0, spot] * radius, y + stray[1, spot] * radius, clock_time.astype(np.int64)
        )
        user, day = np.divmod(row, self.days)
        cycle = self.clock.cycle or 0
        instant = (day * cycle + self.position[at]).astype(np.int32)
        return np.bincount(user, minlength=n), location, instant

    def _present(self, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return (users, days × hours) which events are recorded: at least one of every user."""
        shape = (n, self.days * len(self.hours))
        if self.missing == 0:
            return np.ones(shape, dtype=bool)
        weight = 10.0 if self.dense else 4.0
        rate = rng.beta(weight * (1 - self.missing), weight * self.missing, size=(n, 1))
        present = rng.random(shape, dtype=np.float32) < rate
        present[np.arange(n), rng.integers(shape[1], size=n)] |= ~present.any(axis=1)
        return present

    def _user_days(
        self, habit: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return waypoint times (n·days, 8), points (n·days, 8, 2), wander radius (n·days,)."""
        n, days = len(habit), self.days
        line = np.array([-1 if h.line is None else h.line for h in HABITS])[habit]
        home = self._homes(line, rng)
        workplace = _points_in([HABITS[h].destination for h in range(len(HABITS))], habit, rng)
        leisure = _points_in(["mall", "park"], rng.integers(2, size=n), rng)
        weekend = np.tile(self.weekend, n)
        owner = np.repeat(np.arange(n), days)
        goal = np.where(weekend[:, None], leisure[owner], workplace[owner])
        kind = habit[owner]
        at_night = np.array([h.works_at_night for h in HABITS])[kind] & ~weekend
        idle = np.where(weekend, 0.5, np.array([h.stays_home for h in HABITS])[kind])
        stays = rng.random(n * days) < idle
        goal[stays] = home[owner[stays]]
        leaves, returns = (
            np.where(weekend, rng.normal(*usual, size=n * days), table[kind, 0])
            + table[kind, 1] * rng.standard_normal(n * days) * ~weekend
            for usual, table in (
                ((12.0, 1.0), np.array([h.leaves for h in HABITS])),
                ((16.0, 1.5), np.array([h.returns for h in HABITS])),
            )
        )
        # a night worker's day is the way home first, and then the way back to work
        start = np.where(at_night[:, None], goal, home[owner])
        end = np.where(at_night[:, None], home[owner], goal)
        first, second = np.where(at_night, returns, leaves), np.where(at_night, leaves, returns)
        route = _route(start, end, line[owner])
        legs = np.hypot(*np.moveaxis(np.diff(route, axis=1), 2, 0)) / SPEED
        out = np.cumsum(np.column_stack([first, legs]), axis=1)
        second = np.maximum(second, out[:, -1] + 0.5)
        back = np.cumsum(np.column_stack([second, legs[:, ::-1]]), axis=1)
        wander = np.array([h.wander for h in HABITS])[kind]
        wander[stays | at_night] = 0.0
        return (
            np.concatenate([out, back], axis=1).astype(np.float32),
            np.concatenate([route, route[:, ::-1]], axis=1).astype(np.float32),
            wander.astype(np.float32),
        )

    def _homes(self, line: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return (n, 2) homes in neighbourhoods: along a user's line, else between the lines."""
        n = len(line)
        stop = np.array(STOPS)[rng.choice(len(STOPS), size=n)]
        on_line = [
            np.column_stack([stop, np.full(n, 0.5)]),
            np.column_stack([np.full(n, 0.5), stop]),
        ]
        centre = np.array(QUARTERS)[rng.choice(len(QUARTERS), size=n)]
        for number, stops in enumerate(on_line):
            centre[line == number] = stops[line == number]
        home = np.clip(centre + rng.normal(0.0, 0.035, size=(n, 2)), 0.0, 1.0)
        night = np.zeros(n, dtype=np.int64)
        return self.points[self.raster.nearest(home[:, 0], home[:, 1], night)]


def _points_in(
    names: list[str], choice: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return (n, 2) points, uniform in the district names[choice] of each user."""
    x, y, radius = np.array([DISTRICTS[name] for name in names])[choice].T
    angle = rng.uniform(0.0, 2 * np.pi, size=len(choice))
    distance = radius * np.sqrt(rng.random(len(choice)))
    return np.column_stack([x + distance * np.cos(angle), y + distance * np.sin(angle)])


def _route(
    start: NDArray[np.float64], end: NDArray[np.float64], line: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return (n, 4, 2): start, where it meets the line, where it leaves it, end.

    A user without a line walks straight along one axis and then the other.
    """
    board, alight = start.copy(), end.copy()
    corner = np.column_stack([end[:, 0], start[:, 1]])
    board[line < 0], alight[line < 0] = corner[line < 0], corner[line < 0]
    for number, axis in ((0, 1), (1, 0)):
        board[line == number, axis] = 0.5
        alight[line == number, axis] = 0.5
    return np.stack([start, board, alight, end], axis=1)


def _interpolate(
    times: NDArray[np.float32],
    points: NDArray[np.float32],
    row: NDArray[np.int64],
    at: NDArray[Any],
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
    """Return (x, y, whether at the destination) of user-days `row` at clock times `at`."""
    stage = np.zeros(len(row), dtype=np.int64)
    for waypoint in times.T:
        stage += waypoint[row] <= at
    before, after = np.maximum(stage - 1, 0), np.minimum(stage, times.shape[1] - 1)
    n_way = times.shape[1]
    flat_times, flat = times.ravel(), points.reshape(-1, 2)
    before, after = row * n_way + before, row * n_way + after
    span = flat_times[after] - flat_times[before]
    share = np.where(span > 0, (at - flat_times[before]) / np.where(span > 0, span, 1), 0)
    share = np.clip(share, 0, 1).astype(np.float32)
    x, y = (flat[before, a] + share * (flat[after, a] - flat[before, a]) for a in (0, 1))
    return x, y, stage == n_way // 2
