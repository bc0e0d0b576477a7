"""How people move: the strongest flows, and histograms of trips, stays and reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.report.figures.encoding import plain
from doppeltrace.report.internal.suppression import distinct, too_few
from doppeltrace.traces import DAY_SECONDS, SyntheticTraces, Traces
from doppeltrace.utility.mobility import units
from doppeltrace.utility.summary import Summary, in_chunks

TOP_FLOWS = 50
MAX_BINS = 24
COVERED = 0.99
"""Share of both sets that the bins cover; the last bin holds the rest."""

TITLES: Mapping[str, tuple[str, str]] = {
    "trip_length_emd": ("Length of a trip", "km"),
    "stay_emd": ("Stay at one place", "h"),
    "gyration_emd": ("Reach of a day (radius of gyration)", "km"),
    "places_per_day_emd": ("Different places in a day", "places"),
    "moves_per_day_emd": ("Moves in a day", "moves"),
    "events_per_day_emd": ("Events in a day", "events"),
}
"""Score → what its histogram is about, and its unit."""
FROM_ONE = ("stay_emd", "places_per_day_emd", "events_per_day_emd")
"""Whole numbers that are never 0."""


@dataclass(frozen=True)
class Flow:
    """Moves from one place to another, as shares of all moves between different places.

    `real` is None where some users, but fewer than `suppression.MIN_USERS`, made the move.
    """

    origin: int
    destination: int
    real: float | None
    synthetic: float


@dataclass(frozen=True)
class Histogram:
    """A quantity of real and synthetic traces in the same bins.

    Attributes
    ----------
    name, title, unit : the score's name, what is counted, and in what.
    start, width : of the bins, the last of which has no end.
    real, synthetic : share per bin; empty if there is nothing to count.
    real_mean, synthetic_mean : in `unit`.
    """

    name: str
    title: str
    unit: str
    start: float
    width: float
    real: list[float | None]
    synthetic: list[float | None]
    real_mean: float | None
    synthetic_mean: float | None


def flow_counts(
    traces: Traces | SyntheticTraces, n_places: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct moves (origin · n_places + destination), sorted; counts; users."""
    keys = counts = users = np.zeros(0, dtype=np.int64)
    for part in in_chunks(traces):
        user, origin, destination, _ = part.transitions()
        moved = origin != destination
        pair = origin[moved].astype(np.int64) * n_places + destination[moved]
        new, times = np.unique(pair, return_counts=True)
        _, people = distinct(pair, user[moved], part.n_users)
        keys, number = np.unique(np.concatenate([keys, new]), return_inverse=True)
        counts, users = (
            np.bincount(number, np.concatenate(both), minlength=len(keys)).astype(np.int64)
            for both in ((counts, times), (users, people))
        )
    return keys, counts, users


def strongest_flows(
    real: Traces, made: SyntheticTraces, n_places: int, top: int = TOP_FLOWS
) -> list[Flow]:
    """Return the `top` flows of each set, with their share in both, the strongest real first.

    Real flows of too few users do not count among the strongest.
    """
    keys, counts, users = flow_counts(real, n_places)
    made_keys, made_counts, _ = flow_counts(made, n_places)
    few = too_few(users)
    leading = [
        keys[~few][np.argsort(-counts[~few], kind="stable")[:top]],
        made_keys[np.argsort(-made_counts, kind="stable")[:top]],
    ]
    chosen = np.unique(np.concatenate(leading))
    share = _look_up(chosen, keys, counts) / max(1, counts.sum())
    share[_look_up(chosen, keys, few) > 0] = np.nan
    made_share = _look_up(chosen, made_keys, made_counts) / max(1, made_counts.sum())
    order = np.lexsort((-made_share, -np.nan_to_num(share)))
    return [
        Flow(int(key // n_places), int(key % n_places), a, b or 0.0)
        for key, a, b in zip(
            chosen[order], plain(share[order]), plain(made_share[order]), strict=True
        )
    ]


def _look_up(
    chosen: NDArray[np.int64],
    keys: NDArray[np.int64],
    values: NDArray[np.int64] | NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the values of the chosen keys, 0 of those that do not occur."""
    if len(keys) == 0:
        return np.zeros(len(chosen))
    at = np.minimum(np.searchsorted(keys, chosen), len(keys) - 1)
    return np.where(keys[at] == chosen, values[at], 0).astype(np.float64)


def histograms(real: Summary, made: Summary) -> list[Histogram]:
    """Return the histograms behind the mobility scores, in bins that can be read."""
    unit = units(real.clock.instant_seconds)
    return [
        _histogram(name, real.mobility[name], made.mobility[name], unit[name]) for name in TITLES
    ]


def coverage(summary: Summary) -> float:
    """Return the share of the instants of all user-days, as far as seen, that hold an event."""
    user_days = int(summary.mobility["places_per_day_emd"].sum())
    clock = summary.clock
    per_day = min(clock.n_instants, DAY_SECONDS // clock.instant_seconds)
    return float(summary.slots.sum() / max(1, user_days * per_day))


def _histogram(
    name: str, real: NDArray[np.int64], made: NDArray[np.int64], unit: float
) -> Histogram:
    """Put cells of `unit` into at most `MAX_BINS` bins of a round width.

    Cells stand for values rounded to them (trips) or for whole numbers (stays, places), so a
    bin holds the cells start, start + 1 … and whole numbers begin at 1.
    """
    first = 1 if name in FROM_ONE else 0
    title, unit_name = TITLES[name]
    reach = max(_quantile_cell(real), _quantile_cell(made), first + 1) - first + 1
    width = _round_width(reach / MAX_BINS)
    bins = max(1, -(-reach // width))
    return Histogram(
        name,
        title,
        unit_name,
        start=first * unit,
        width=width * unit,
        real=plain(_binned(real, first, width, bins)),
        synthetic=plain(_binned(made, first, width, bins)),
        real_mean=_mean(real, unit),
        synthetic_mean=_mean(made, unit),
    )


def _quantile_cell(counts: NDArray[np.int64]) -> int:
    total = counts.sum()
    return int(np.searchsorted(np.cumsum(counts), COVERED * total)) if total else 0


def _round_width(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 … that is not below `least`."""
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power >= least:
                return step * power
        power *= 10


def _binned(counts: NDArray[np.int64], first: int, width: int, bins: int) -> NDArray[np.float64]:
    total = counts.sum()
    if total == 0:
        return np.zeros(0)
    cell = np.clip((np.arange(len(counts)) - first) // width, 0, bins - 1)
    shares: NDArray[np.float64] = np.bincount(cell, counts, minlength=bins) / total
    return shares


def _mean(counts: NDArray[np.int64], unit: float) -> float | None:
    total = counts.sum()
    return float((np.arange(len(counts)) * counts).sum() / total * unit) if total else None
