"""How people move altogether: the chain in which SGLT looks for a plausible path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Traces
from doppeltrace.utility.mobility import haversine_km

NEAREST_KM = 1.0
"""Distances below this count as this much."""

MAX_STEPS = 10_000
PRECISION = 1e-12


def aggregate_mobility(traces: Traces) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (transition matrix (n_places, n_places), stationary distribution (n_places,)).

    Half of each row are the users' transitions, with the step from a user's last event back to
    the first, plus 1/|𝒳| everywhere; half is proportional to 1 / max(distance, 1 km)².
    """
    n = len(traces.places)
    _, origin, destination, _ = traces.transitions()
    active = np.flatnonzero(np.diff(traces.offsets))
    last, first = traces.offsets[active + 1] - 1, traces.offsets[active]
    counts = np.full((n, n), 1 / n)
    np.add.at(counts, (origin, destination), 1)
    np.add.at(counts, (traces.location[last], traces.location[first]), 1)
    matrix = _half_rows(counts) + _half_rows(_nearness(traces))
    return matrix, _stationary(matrix)


def _nearness(traces: Traces) -> NDArray[np.float64]:
    lat, lng = traces.places.lat, traces.places.lng
    km = haversine_km(lat[:, None], lng[:, None], lat, lng)
    near: NDArray[np.float64] = 1 / np.maximum(km, NEAREST_KM) ** 2
    return near


def _half_rows(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    half: NDArray[np.float64] = matrix / (2 * matrix.sum(axis=1, keepdims=True))
    return half


def _stationary(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution that the (positive) matrix leaves as it is, by walking."""
    now: NDArray[np.float64] = np.full(len(matrix), 1 / len(matrix))
    for _ in range(MAX_STEPS):
        then = np.einsum("a,ab->b", now, matrix)  # in one order, whatever threads BLAS has
        if np.abs(then - now).sum() < PRECISION:
            break
        now = then
    now /= now.sum()
    return now
