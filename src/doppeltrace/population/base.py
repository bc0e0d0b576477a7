"""The population base: how places are tied together by what many people did, not one.

The base is a symmetric *lift*: how much more often than by chance the population moves between
two places within one instant, lift(a, b) = N(a,b) / (n(a) n(b)), N the smoothed joint counts and
n their row sums. It is common to all users and sparse.

A move that fewer than `min_users` different users made is somebody's secret and is left out.
What the counts do not say comes from gravity: popularity × exp(−distance / range), cut off
where it no longer matters, the place itself counting `stay` times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.spatial import cKDTree

from doppeltrace.errors import require
from doppeltrace.traces import Places, Traces

KM_PER_DEGREE = 111.195  # of latitude, on a sphere of radius 6371 km
CUT_OFF = 4.0
"""Gravity reaches this many ranges far: e⁻⁴ < 2 % of its weight is lost."""
SCALING_ROUNDS = 30
FITTED_ORIGINS = 300
GRID_RANGES = 17
"""Ranges, each √2 times the one before, that are tried before the best ones are refined."""


@dataclass(frozen=True, eq=False)
class Base:
    """The base and how it came about.

    Attributes
    ----------
    lift : (places, places) sparse, symmetric, diagonal positive.
    range_km : range of the gravity kernel, given or fitted.
    moves_kept, moves_dropped : observed transitions of pairs with and without enough users.
    """

    lift: csr_array
    range_km: float
    moves_kept: int
    moves_dropped: int

    def to_file(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the arrays and numbers of a model file."""
        return (
            {
                "lift.data": self.lift.data,
                "lift.indices": self.lift.indices,
                "lift.indptr": self.lift.indptr,
            },
            {
                "range_km": self.range_km,
                "moves_kept": self.moves_kept,
                "moves_dropped": self.moves_dropped,
            },
        )

    @classmethod
    def of_file(cls, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Base:
        """Return the base that `to_file` gave."""
        parts = (arrays["lift.data"], arrays["lift.indices"], arrays["lift.indptr"])
        n = len(parts[2]) - 1
        return cls(csr_array(parts, shape=(n, n)), **about)


def population_base(
    traces: Traces,
    *,
    min_users: int,
    smoothing: float,
    stay: float,
    range_km: float | None,
    most_neighbours: int,
) -> Base:
    """Build the base from all users' transitions.

    Parameters
    ----------
    min_users : different users that must have made a move for it to count.
    smoothing : gravity's weight, in transitions per place.
    stay : how many times more a place holds its visitors than an equally popular one next door
        would draw them: check-ins do not record staying.
    range_km : gravity's range, or None to fit it to the counted moves.
    most_neighbours : nearest places that gravity reaches, at most.
    """
    check_settings(min_users, smoothing, stay, range_km, most_neighbours)
    moves = _moves(traces)
    popularity = np.bincount(traces.location, minlength=len(traces.places)) + 0.5
    popularity = popularity / popularity.mean()
    points = _kilometres(traces.places)
    if range_km is None:
        range_km = fit_range(moves, popularity, points)
    enough = moves.users >= min_users
    shape = (len(points), len(points))
    counts = csr_array(
        coo_array(
            (moves.times[enough], (moves.origin[enough], moves.destination[enough])), shape=shape
        )
    )
    gravity = _gravity(popularity, points, range_km, stay, most_neighbours)
    joint = (counts + counts.T) / 2 + smoothing * gravity
    scale = diags_array(1 / joint.sum(axis=1))
    lift = csr_array(scale @ joint @ scale)
    kept = int(moves.times[enough].sum())
    return Base(
        csr_array(lift * (joint.sum() / len(points))),
        range_km,
        kept,
        int(moves.times.sum()) - kept,
    )


def check_settings(
    min_users: int, smoothing: float, stay: float, range_km: float | None, most_neighbours: int
) -> None:
    """Refuse settings of the base that are out of range."""
    require(min_users >= 1, "min_users must be at least 1")
    require(0 < smoothing < np.inf, "smoothing must be positive and finite")
    require(0 < stay < np.inf, "stay must be positive and finite")
    require(range_km is None or 0 < range_km < np.inf, "range_km must be positive and finite")
    require(most_neighbours >= 1, "most_neighbours must be at least 1")


class _Moves(NamedTuple):
    """Pairs of places with how often, and by how many users, the step was made."""

    origin: NDArray[np.int64]
    destination: NDArray[np.int64]
    times: NDArray[np.float64]
    users: NDArray[np.int64]


def _moves(traces: Traces) -> _Moves:
    """Count every transition, stays included, of all users."""
    user, origin, destination, _ = traces.transitions()
    n = len(traces.places)
    key = origin.astype(np.int64) * n + destination
    pair, count = np.unique(key, return_counts=True)
    by_user = np.unique(key * traces.n_users + user) // max(traces.n_users, 1)
    users = np.unique(by_user, return_counts=True)[1]
    return _Moves(*np.divmod(pair, n), count.astype(np.float64), users)


def _kilometres(places: Places) -> NDArray[np.float64]:
    """Return (places, 2) plane coordinates in kilometres, good for the size of a city."""
    north = places.lat * KM_PER_DEGREE
    east = places.lng * KM_PER_DEGREE * np.cos(np.deg2rad(places.lat.mean()))
    return np.stack([north, east], axis=1)


def fit_range(
    moves: _Moves, popularity: NDArray[np.float64], points: NDArray[np.float64]
) -> float:
    """Return the range (km) that makes the moves most likely: one number from all users.

    A move goes with a share τ anywhere by popularity, else by gravity; τ is fitted along with
    the range, so that a few long trips do not stretch it. Without any move, the range is the
    median distance between nearest neighbours. Many origins are thinned out evenly.
    """
    nearest = (
        cKDTree(points).query(points, k=min(2, len(points)))[0].reshape(len(points), -1)[:, -1]
    )
    typical = max(float(np.median(nearest)), 1e-3)
    away = moves.origin != moves.destination
    every = -(-len(np.unique(moves.origin[away])) // FITTED_ORIGINS) or 1
    away &= np.isin(moves.origin, np.unique(moves.origin[away])[::every])
    origin, destination, weight = moves.origin[away], moves.destination[away], moves.times[away]
    if len(weight) == 0:
        return typical
    chance = popularity[destination] / (popularity.sum() - popularity[origin])
    origins, which = np.unique(origin, return_inverse=True)
    distance = np.linalg.norm(points[origin] - points[destination], axis=1)

    north, east = np.ascontiguousarray(points.T)

    # np.sum, not @: long dot products run in BLAS's own threads, whose number shows in the sum
    def loss(log_range: float) -> float:
        reach = np.exp(log_range)
        total = np.empty(len(origins))
        for i, a in enumerate(origins):  # one row at a time: never places × places
            # beyond the nearest place, so that a remote origin's decay does not underflow
            apart = np.sqrt((north - north[a]) ** 2 + (east - east[a]) ** 2) - nearest[a]
            apart[a] = np.inf
            total[i] = np.sum(np.exp(-apart / reach) * popularity)
        beyond = distance - nearest[origin]
        by_gravity = popularity[destination] * np.exp(-beyond / reach) / total[which]
        share = 0.1
        for _ in range(30):  # expectation–maximization of τ
            far = share * chance / (share * chance + (1 - share) * by_gravity)
            share = float(np.clip(np.sum(weight * far) / weight.sum(), 1e-6, 1 - 1e-6))
        return -float(np.sum(weight * np.log(share * chance + (1 - share) * by_gravity)))

    return float(np.exp(lowest(loss, np.log(typical / 4), np.log(typical * 64))))


def lowest(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of several valleys is lowest.

    Every valley of a grid is refined: a search from one place would fall into whichever is on
    its way.
    """
    grid = np.linspace(low, high, GRID_RANGES)
    height = np.pad([loss(at) for at in grid], 1, constant_values=np.inf)
    valleys = np.flatnonzero((height[1:-1] <= height[:-2]) & (height[1:-1] <= height[2:]))
    found = [
        minimize_scalar(
            loss,
            bounds=(grid[max(i - 1, 0)], grid[min(i + 1, GRID_RANGES - 1)]),
            method="bounded",
            options={"xatol": 1e-3},
        )
        for i in valleys.tolist()
    ]
    return float(min(found, key=lambda one: one.fun).x)


def _gravity(
    popularity: NDArray[np.float64],
    points: NDArray[np.float64],
    range_km: float,
    stay: float,
    most_neighbours: int,
) -> csr_array:
    """Return symmetric joint weights whose row sums are the popularity.

    Weights are popularity(a) popularity(b) exp(−distance / range) over near places, a place
    itself counting `stay` times; scaled from both sides to the row sums (Sinkhorn).
    """
    n = len(points)
    distance, neighbour = cKDTree(points).query(
        points, k=min(most_neighbours + 1, n), distance_upper_bound=CUT_OFF * range_km
    )
    distance, neighbour = distance.reshape(n, -1), neighbour.reshape(n, -1)
    row = np.repeat(np.arange(n), neighbour.shape[1])
    column, apart = neighbour.ravel(), distance.ravel()
    near = (column < n) & (column != row)
    row, column, apart = row[near], column[near], apart[near]
    weight = popularity[row] * popularity[column] * np.exp(-apart / range_km)
    gravity = csr_array(coo_array((weight, (row, column)), shape=(n, n)))
    gravity = csr_array(gravity.maximum(gravity.T))  # nearest-neighbour lists are not symmetric
    gravity = csr_array(gravity + diags_array(stay * popularity**2))
    scale = np.ones(n)
    for _ in range(SCALING_ROUNDS):
        scale *= np.sqrt(popularity / (scale * (gravity @ scale)))
    return csr_array(diags_array(scale) @ gravity @ diags_array(scale))
