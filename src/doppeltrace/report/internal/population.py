"""Where people are in each slot: what the map shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.report.figures.encoding import packed, plain
from doppeltrace.report.figures.words import cut
from doppeltrace.report.internal.suppression import bits, too_few
from doppeltrace.traces import Places
from doppeltrace.utility.population import distributions, tp_tv_per_slot

MIN_PLACES, MAX_PLACES = 50, 1000
MAX_CELLS = 400_000
"""Slots × places on the map at most, which keeps the page small."""
LABEL_LENGTH = 60
USUAL = 0.98
"""Share of the events that the map's scale is made for."""


@dataclass(frozen=True)
class ShownPlaces:
    """The places that the page knows, the busiest first.

    Attributes
    ----------
    total : number of all places.
    on_map : so many of the first ones are on the map; `left_out_real`, `left_out_synthetic` are
        the shares of the events at all others.
    label, category, lat, lng : one entry per place; category is None if there are none.
    """

    total: int
    on_map: int
    left_out_real: float
    left_out_synthetic: float
    label: list[str]
    category: list[str] | None
    lat: list[float | None]
    lng: list[float | None]


@dataclass(frozen=True)
class Population:
    """Shares of each slot's events per place on the map, and the distances between them.

    Attributes
    ----------
    scale, drawn : the largest share, and the one from which on all are drawn alike: a slot with
        few events has large shares that would leave nothing to see in the others.
    real, synthetic : (slots × places) as `encoding.packed`.
    suppressed : (slots × places) as `suppression.bits`: where too few real users are for a
        figure to be named.
    tp_tv, training, uniform : (slots,) total variation from the real population, over all
        places; of the synthetic traces the scorecard's figures.
    """

    scale: float
    drawn: float
    real: str
    synthetic: str
    suppressed: str
    tp_tv: list[float]
    training: list[float]
    uniform: list[float]


def choose_places(
    real: NDArray[np.int64], made: NDArray[np.int64], needed: Iterable[int]
) -> tuple[NDArray[np.int64], int]:
    """Return the places to show, and how many of them, from the first, are on the map.

    Those are the busiest of both sets; behind them come the places that other parts of the
    page speak of.

    Parameters
    ----------
    real, made : (n_slots, n_places) events.
    needed : places that other parts of the page speak of.
    """
    n_slots, n_places = real.shape
    busy = _shares(real) + _shares(made)
    order = np.argsort(-busy, kind="stable")
    on_map = min(n_places, max(MIN_PLACES, min(MAX_PLACES, MAX_CELLS // n_slots)))
    wanted = np.zeros(n_places, dtype=bool)
    wanted[order[:on_map]] = True
    wanted[list(needed)] = True
    return order[wanted[order]], on_map


def describe_places(
    places: Places,
    shown: NDArray[np.int64],
    on_map: int,
    real: NDArray[np.int64],
    made: NDArray[np.int64],
) -> ShownPlaces:
    """Return what the page says about each place."""
    rest = np.ones(len(places), dtype=bool)
    rest[shown[:on_map]] = False
    category = None
    if places.category is not None:
        category = [cut(str(c), LABEL_LENGTH) for c in places.category[shown]]
    return ShownPlaces(
        total=len(places),
        on_map=on_map,
        left_out_real=float(_shares(real)[rest].sum()),
        left_out_synthetic=float(_shares(made)[rest].sum()),
        label=[cut(str(name), LABEL_LENGTH) for name in places.labels[shown]],
        category=category,
        lat=plain(places.lat[shown], 8),
        lng=plain(places.lng[shown], 8),
    )


def population(
    real: NDArray[np.int64],
    made: NDArray[np.int64],
    train: NDArray[np.int64],
    users: NDArray[np.int64],
    on_map: NDArray[np.int64],
    tp_tv: list[float],
) -> Population:
    """Return the shares of the places on the map, and the distances over all places.

    Parameters
    ----------
    real, made, train : (n_slots, n_places) events.
    users : (n_slots, n_places) real users.
    on_map : the places that are drawn.
    tp_tv : (n_slots,) the scorecard's figures.
    """
    p = _slot_shares(real)[:, on_map]
    q = _slot_shares(made)[:, on_map]
    scale = float(max(p.max(), q.max()))
    return Population(
        scale=scale,
        drawn=_usual_maximum(real, made),
        real=packed(p, scale),
        synthetic=packed(q, scale),
        suppressed=bits(too_few(users[:, on_map])),
        tp_tv=tp_tv,
        training=tp_tv_per_slot(real, train).tolist(),
        uniform=tp_tv_per_slot(real, np.ones_like(real)).tolist(),
    )


def _usual_maximum(real: NDArray[np.int64], made: NDArray[np.int64]) -> float:
    """Return the share of its slot that `USUAL` of the events of either set do not exceed."""
    largest = []
    for counts in (real, made):
        share, weight = _slot_shares(counts).ravel(), counts.ravel()
        order = np.argsort(share, kind="stable")
        below = np.cumsum(weight[order])
        largest.append(share[order[np.searchsorted(below, USUAL * below[-1])]])
    return float(max(largest))


def _slot_shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distribution of each slot, zero (not uniform) where it holds no event."""
    return np.where(counts.sum(axis=1, keepdims=True) > 0, distributions(counts), 0.0)


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (n_places,) the share of all events."""
    shares: NDArray[np.float64] = counts.sum(axis=0) / max(1, counts.sum())
    return shares
