"""What an attacker computes from a released file for every candidate: eight statistics.

The attacker holds the file and the candidates' own traces, and no model. None of the statistics
needs to be a good attack by itself: `lira` learns from the runs what each tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.audit._kernels import closest_traces
from doppeltrace.audit.lookup import look_up
from doppeltrace.traces import SyntheticTraces, Traces

SCORES = (
    "closest trace",
    "ten closest traces",
    "places",
    "places by time",
    "moves by origin",
    "different places",
    "different moves",
    "three in a row",
)
"""The statistics, in their order."""

TOP = 10
"""Released traces among the closest."""

NEIGHBOURS = ((0, 1.0), (-1, 1.0), (1, 1.0), (-2, 0.5), (2, 0.5))
"""Weights of the instants around an event in `places by time`."""

PLACE_PRIOR = 0.5
TIME_PRIOR, TIME_FLOOR = 5.0, 0.02
MOVE_PRIOR = 3.0
PAIR_FLOOR = 0.05
"""Added to counts, so that what a release lacks costs a candidate a finite amount."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The traces of the candidates, as lists of what can be looked up in a release.

    Attributes
    ----------
    traces : their events, with the places of the release.
    cell, cell_start, cell_user, cell_weight : which users are where when, by position and place,
        and the share of the user's events at that position.
    place, pair, triple : (user, key) columns: different places; different moves
        (origin · n_places + destination); every three events in a row with a move.
    """

    traces: Traces
    cell: NDArray[np.int64]
    cell_start: NDArray[np.int64]
    cell_user: NDArray[np.int64]
    cell_weight: NDArray[np.float64]
    place: tuple[NDArray[np.int64], NDArray[np.int64]]
    pair: tuple[NDArray[np.int64], NDArray[np.int64]]
    triple: tuple[NDArray[np.int64], NDArray[np.int64]]

    @classmethod
    def of(cls, traces: Traces) -> Candidates:
        """List what the traces hold."""
        n_places, n_users = len(traces.places), max(traces.n_users, 1)
        user, location = traces.user, traces.location.astype(np.int64)
        position = traces.clock.position(traces.instant)
        held, events = np.unique(
            (position * n_places + location) * n_users + user, return_counts=True
        )
        key, cell_user = np.divmod(held, n_users)
        at_time = key // n_places * n_users + cell_user
        _, group = np.unique(at_time, return_inverse=True)
        cell, first = np.unique(key, return_index=True)
        mover, origin, destination, _ = traces.transitions()
        moved = origin != destination
        pair = origin[moved].astype(np.int64) * n_places + destination[moved]
        return cls(
            traces=traces,
            cell=cell,
            cell_start=np.append(first, len(key)).astype(np.int64),
            cell_user=cell_user,
            cell_weight=events / np.bincount(group, events)[group] if len(held) else np.zeros(0),
            place=_different(user, location, n_places),
            pair=_different(mover[moved], pair, n_places**2),
            triple=_triples(traces),
        )


def score_candidates(candidates: Candidates, released: SyntheticTraces) -> NDArray[np.float32]:
    """Return (n_users, 8) the statistics of every candidate, in the order of `SCORES`."""
    traces, locations = candidates.traces, released.locations
    out = np.zeros((traces.n_users, len(SCORES)), dtype=np.float32)
    if not np.any(locations >= 0):
        return out
    n_users, n_places = traces.n_users, len(traces.places)
    user, location = traces.user, traces.location
    shown = released.as_traces()

    def total(of: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(of, value, minlength=n_users).astype(np.float64)

    best = _closest(candidates, released)
    out[:, 0], out[:, 1] = best.max(axis=1), best.mean(axis=1)

    share = np.bincount(shown.location, minlength=n_places) + PLACE_PRIOR
    share = share / share.sum()
    out[:, 2] = total(user, np.log(share[location]))
    out[:, 3] = total(user, np.log(_share_by_time(traces, shown, share)))
    out[:, 5] = total(candidates.place[0], np.log(share[candidates.place[1]]))

    _, origin, destination, _ = shown.transitions()
    step, count = np.unique(origin.astype(np.int64) * n_places + destination, return_counts=True)
    leaving = np.bincount(origin, minlength=n_places)
    mover, a, b, _ = traces.transitions()
    moved = a != b
    mover, a, b = mover[moved], a[moved].astype(np.int64), b[moved]
    made = look_up(a * n_places + b, step, count)
    chance = (made + MOVE_PRIOR * share[b]) / (leaving[a] + MOVE_PRIOR)
    out[:, 4] = total(mover, np.log(chance))
    owner, pair = candidates.pair
    seen = look_up(pair, step, count) + PAIR_FLOOR
    out[:, 6] = total(owner, np.log(seen / len(locations)))

    owner, triple = candidates.triple
    _, known = _triples(shown)
    out[:, 7] = total(owner, np.isin(triple, known).astype(np.float64))
    return out


def _closest(candidates: Candidates, released: SyntheticTraces) -> NDArray[np.float64]:
    """Return (n_users, up to ten) the best matches of each candidate."""
    traces, locations = candidates.traces, released.locations
    position = traces.clock.position(released.instants)
    key = position[None, :] * len(traces.places) + locations
    at = np.searchsorted(candidates.cell, key)
    at = np.minimum(at, len(candidates.cell) - 1)
    cell = np.where((candidates.cell[at] == key) & (locations >= 0), at, -1)
    found: NDArray[np.float64] = closest_traces(
        cell,
        candidates.cell_start,
        candidates.cell_user,
        candidates.cell_weight,
        traces.n_users,
        min(TOP, len(locations)),
    )
    return found


def _share_by_time(
    traces: Traces, shown: Traces, share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (n_events,) the share of the release that is at an event's place about its time."""
    n_places = len(traces.places)
    here = shown.clock.position(shown.instant)
    cell, count = np.unique(here * n_places + shown.location, return_counts=True)
    at_time = np.bincount(here, minlength=traces.clock.n_instants)
    position = traces.clock.position(traces.instant)
    events = TIME_PRIOR * share[traces.location] + TIME_FLOOR
    everybody = np.full(len(position), TIME_PRIOR + TIME_FLOOR * n_places)
    for shift, weight in NEIGHBOURS:
        near = position + shift
        inside = (near >= 0) & (near < len(at_time))
        near = np.where(inside, near, 0)
        count_near = look_up(near * n_places + traces.location, cell, count)
        events = events + weight * inside * count_near
        everybody = everybody + weight * inside * at_time[near]
    return np.asarray(events / everybody)


def _different(
    user: NDArray[np.int64], key: NDArray[np.int64], n_keys: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (user, key) without repetitions."""
    held = np.unique(np.stack([user, key]), axis=1) if n_keys > 2**40 else None
    if held is not None:
        return held[0], held[1]
    owner, kept = np.divmod(np.unique(user * n_keys + key), n_keys)
    return owner, kept


def _triples(traces: Traces) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (user, key) of every three events in a row, at least one of them elsewhere."""
    n_places, location, user = len(traces.places), traces.location.astype(np.int64), traces.user
    follows = (np.diff(traces.instant) == 1) & (np.diff(user) == 0)
    first = np.flatnonzero(follows[:-1] & follows[1:])
    a, b, c = location[first], location[first + 1], location[first + 2]
    moved = (a != b) | (b != c)
    return user[first[moved]], ((a * n_places + b) * n_places + c)[moved]
