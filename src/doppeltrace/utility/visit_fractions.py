"""How much of their time people give to a place: VF-TV.

Works on histograms of shape (n_places, 24), which add up over users: how many users gave the
place a fraction of their events in (0, 1/24], (1/24, 2/24], …, (23/24, 1).
"""

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Places, Traces
from doppeltrace.utility import _kernels as kernels
from doppeltrace.utility.population import total_variation

BINS = 24
MIN_EVENTS = 5
"""Users (or synthetic traces) with fewer events are left out."""


def fraction_counts(traces: Traces) -> NDArray[np.int64]:
    """Return (n_places, 24) the number of users per place and bin of their visit-fraction.

    A fraction of exactly 0 or 1 counts nowhere.
    """
    histogram = np.zeros((len(traces.places), BINS), dtype=np.int64)
    kernels.count_fractions(
        traces.offsets, traces.location, len(traces.places), MIN_EVENTS, histogram
    )
    return histogram


def uniform_fraction_counts(places: Places) -> NDArray[np.int64]:
    """Return the histogram of users who give every place the fraction 1 / n_places."""
    histogram = np.zeros((len(places), BINS), dtype=np.int64)
    histogram[:, -(-BINS // len(places)) - 1] = 1
    return histogram


def vf_tv(test: NDArray, other: NDArray, train: NDArray) -> float:
    """VF-TV: total variation between visit-fraction distributions, averaged over places.

    Only places that have a distribution in both training and testing traces take part; one
    that `other` never visits has all its mass in the first bin. NaN if no place takes part.
    """
    takes_part = (test.sum(axis=1) > 0) & (train.sum(axis=1) > 0)
    if not takes_part.any():
        return float("nan")
    p = test[takes_part].astype(np.float64)
    q = other[takes_part].astype(np.float64)
    q[q.sum(axis=1) == 0, 0] = 1.0
    p /= p.sum(axis=1, keepdims=True)
    q /= q.sum(axis=1, keepdims=True)
    return float(total_variation(p, q).mean())
