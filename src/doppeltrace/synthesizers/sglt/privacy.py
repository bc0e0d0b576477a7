"""SGLT's own privacy test: unlike the seed, and as close to others as to the seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from doppeltrace.engine.local import run_blocks, use_threads
from doppeltrace.errors import InputError, require
from doppeltrace.synthesizers.sglt import _kernels as kernels
from doppeltrace.synthesizers.sglt.profiles import Profiles
from doppeltrace.synthesizers.sglt.synthesizer import SGLT, seed_traces
from doppeltrace.traces import SyntheticTraces

BLOCK_TRACES = 1024
"""Traces that are compared with all users at a time."""


@dataclass(frozen=True, eq=False)
class SemanticDeniability:
    """What the test found.

    Attributes
    ----------
    similarity : (n_traces,) share of time that trace and seed spend at the same places,
        Σ_x min(π_y(x), π_s(x)).
    intersection : (n_traces,) int64, instants at which trace and seed are at the same place.
    plausible : (n_traces,) int64, other users semantically as close to the trace as the
        seed's user is.
    passed : (n_traces,) bool.
    """

    similarity: NDArray[np.float64]
    intersection: NDArray[np.int64]
    plausible: NDArray[np.int64]
    passed: NDArray[np.bool_]


def semantic_test(
    model: SGLT,
    synthetic: SyntheticTraces,
    *,
    k: int = 10,
    delta: float = 0.1,
    similarity: float = 0.5,
    intersection: float = 0.5,
) -> SemanticDeniability:
    """Test which traces SGLT may release.

    A trace y of seed s passes if it is at most `similarity` similar to s, shares at most the
    fraction `intersection` of its events with s, and at least k other users u have
    |sim(u, y) − sim(s, y)| ≤ delta, sim being the semantic similarity (see `semantics`).

    Parameters
    ----------
    model : the fitted SGLT that made the traces.
    synthetic : complete traces with their input users.
    """
    require(k >= 1, "k must be at least 1")
    require(delta >= 0, "delta must not be negative")
    require(0 <= similarity <= 1, "similarity must be from 0 to 1")
    require(0 <= intersection <= 1, "intersection must be a fraction, from 0 to 1")
    train = model.train
    if np.any(synthetic.locations < 0) or np.any(
        (synthetic.owner < 0) | (synthetic.owner >= train.n_users)
    ):
        raise InputError("the privacy test needs complete traces and their input users")
    users = Profiles.of(train, model.smoothing)
    traces = Profiles.of(synthetic.as_traces(), 0.0)
    length = synthetic.locations.shape[1]

    owners, of_trace = np.unique(synthetic.owner, return_inverse=True)
    seeds = seed_traces(train, owners, synthetic.instants)[of_trace]
    same_place = np.count_nonzero(seeds == synthetic.locations, axis=1)
    overlap = _overlap(seeds, synthetic.locations)

    plausible = np.empty(len(synthetic), np.int64)
    with use_threads(model.threads):
        for low in range(0, len(synthetic), BLOCK_TRACES):
            high = min(low + BLOCK_TRACES, len(synthetic))
            close = np.empty((high - low, train.n_users))
            inputs = (
                users.start,
                users.probability,
                users.unseen,
                traces.start[low : high + 1],
                traces.probability,
                users.n_places,
                close,
            )
            run_blocks(partial(kernels.similarities, *inputs), high - low)
            own = close[np.arange(high - low), synthetic.owner[low:high]]
            # the owner is within delta of itself
            plausible[low:high] = (np.abs(close - own[:, None]) <= delta).sum(axis=1) - 1
    passed = (overlap <= similarity) & (same_place <= intersection * length) & (plausible >= k)
    return SemanticDeniability(overlap, same_place, plausible, passed)


def _overlap(seeds: NDArray[np.int32], locations: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return (n_traces,) Σ_x min(share of the seed's events, share of the trace's events)."""
    n, length = locations.shape
    row = np.repeat(np.arange(n), length)
    # a seed of unknown places (−1) must not reach into the row before: all are moved up by 1
    width = max(int(seeds.max(initial=0)), int(locations.max(initial=0))) + 2
    one, of_one = np.unique(row * width + seeds.ravel() + 1, return_counts=True)
    two, of_two = np.unique(row * width + locations.ravel() + 1, return_counts=True)
    _, first, second = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    shared = np.minimum(of_one[first], of_two[second])
    overlap: NDArray[np.float64] = np.bincount(one[first] // width, shared, minlength=n) / length
    return overlap
