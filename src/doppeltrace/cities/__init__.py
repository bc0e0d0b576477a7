"""A simulated city with known clusters of users: the embedded default data, at any scale.

The city is a unit square with two rail lines that cross in the centre, and districts:
offices, a campus, a mall, works that run at night, a park. Each user belongs to one cluster,
has a home, and spends every day at home, on the way, or at a destination with opening hours.
On the way a user follows the line, so most transitions stay or go next door.

The unit of simulation is the user-day: eight waypoints (leave home, board, alight, arrive, and
back again), each a time and a point. An event is the point at its instant, interpolated, and
the nearest place that is open then.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doppeltrace.cities.layout import lay_out
from doppeltrace.cities.movement import HABITS, Simulator
from doppeltrace.errors import require
from doppeltrace.streams import generator
from doppeltrace.traces import Clock, Traces

__all__ = ["City", "simulate_city"]

_CHUNK = 16_384  # users simulated at a time: keeps the working memory small


@dataclass(frozen=True, eq=False)
class City:
    """Simulated traces and the truth behind them.

    Attributes
    ----------
    traces : the events of all users.
    cluster : (n_users,) int8, index into `cluster_names`.
    cluster_names : the clusters, in order.
    """

    traces: Traces
    cluster: NDArray[np.int8]
    cluster_names: tuple[str, ...]

    def split(self, test_fraction: float = 0.5, seed: int = 0) -> tuple[Traces, Traces]:
        """Return (training, testing) traces of disjoint users, drawn at random."""
        n_test = round(self.traces.n_users * test_fraction)
        require(
            0 < n_test < self.traces.n_users,
            f"test_fraction {test_fraction} leaves no users on one side",
        )
        order = generator(seed, "city split").permutation(self.traces.n_users)
        return (
            self.traces.select(np.sort(order[n_test:])),
            self.traces.select(np.sort(order[:n_test])),
        )


def simulate_city(
    users: int = 1000,
    places: int = 400,
    *,
    seed: int = 0,
    style: Literal["dense", "checkins"] = "dense",
    days: int | None = None,
    missing: float | None = None,
    first_hour: int = 8,
    last_hour: int = 20,
) -> City:
    """Simulate a city.

    Parameters
    ----------
    users, places : how many; places are the regions of a grid (dense) or points of interest
        scattered along the lines and in the districts (check-ins).
    seed : seed of everything; the same seed gives the same city.
    style : "dense": an event every 20 minutes of the hours [first_hour, last_hour), each
        instant a slot of its own; "checkins": few events, hourly instants, 12 two-hour slots
        that repeat daily.
    days : 1 (dense) or 14 (check-ins) by default; the first is a Monday.
    missing : expected share of missing events, 0.1 (dense) or 0.85 (check-ins, of the waking
        hours) by default; it differs between users.

    Examples
    --------
    >>> import doppeltrace as dt
    >>> city = dt.simulate_city(users=100, places=25, seed=1)
    >>> city.traces.n_users, len(city.traces.places)
    (100, 25)
    >>> train, test = city.split()
    >>> train.n_users, test.n_users
    (50, 50)
    """
    require(users >= 1, "users must be at least 1")
    require(places >= 2, "places must be at least 2")
    require(seed >= 0, "seed must be a non-negative integer")
    require(style in ("dense", "checkins"), 'style must be "dense" or "checkins"')
    dense = style == "dense"
    days = (1 if dense else 14) if days is None else days
    missing = (0.1 if dense else 0.85) if missing is None else missing
    require(days >= 1, "days must be at least 1")
    require(0 <= missing < 1, "missing must be at least 0 and below 1")
    start_day = dt.date(2024, 1, 1)
    if dense:
        clock = Clock.regular(
            instant_minutes=20,
            first_hour=first_hour,
            last_hour=last_hour,
            start_day=start_day,
            daily=days > 1,
        )
    else:
        clock = Clock.regular(instant_minutes=60, instants_per_slot=2, start_day=start_day)
    points, town = lay_out(places, grid=dense, seed=seed)
    habits = generator(seed, "city clusters").choice(
        len(HABITS), size=users, p=[h.share for h in HABITS]
    )
    simulator = Simulator(clock, points, town.category, days, missing, dense)
    parts = [
        simulator.run(habits[first : first + _CHUNK], generator(seed, "city users", first))
        for first in range(0, users, _CHUNK)
    ]
    counts, location, instant = (np.concatenate(column) for column in zip(*parts, strict=True))
    traces = Traces(
        users=np.arange(users),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        location=location,
        instant=instant,
        places=town,
        clock=clock,
    )
    return City(traces, habits.astype(np.int8), tuple(h.name for h in HABITS))
