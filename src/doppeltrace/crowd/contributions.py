"""Bounded counts of any keys, in NumPy: what the small models need, and a twin for the kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.clipping import EDGES, choose_clip
from doppeltrace.crowd.ledger import GRID, Ledger

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def counts_of_users(user: Integers, key: Integers) -> tuple[Integers, Integers, Integers]:
    """Return (user, key, count) of every pair that occurs."""
    width = int(key.max(initial=0)) + 1
    pair, count = np.unique(user * width + key, return_counts=True)
    return pair // width, pair % width, count.astype(np.int64)


def norms(user: Integers, count: Integers, n_users: int) -> Floats:
    """Return (n_users,) the L2 norm of each user's counts."""
    return np.sqrt(np.bincount(user, count.astype(np.float64) ** 2, minlength=n_users))


def clipped_sum(
    user: Integers, key: Integers, count: Integers, n_users: int, size: int, clip: float
) -> Integers:
    """Return (size,) the sum of users' counts, each scaled to norm ≤ clip, in units of 1 / GRID.

    Rounded towards zero, so no user's norm exceeds the clip.
    """
    norm = norms(user, count, n_users)
    weight = np.minimum(1.0, clip / np.maximum(norm, 1e-300)) * (1 - 1e-12)
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, key, (count * weight[user] * GRID).astype(np.int64))
    return total


def release_clip(ledger: Ledger, name: str, norm: Floats, cells: int, share: float) -> float:
    """Return a clip chosen by a noisy histogram of users' norms (one cell per user)."""
    bins = np.minimum(np.searchsorted(EDGES * (1 + 1e-12), norm[norm > 0]), len(EDGES) - 1)
    histogram = np.bincount(bins, minlength=len(EDGES)).astype(np.int64) * GRID
    noisy, sigma = ledger.release(name, histogram, 1.0, share)
    unit = 0.0 if np.isinf(ledger.rho) else 1 / np.sqrt(2 * ledger.rho)
    return choose_clip(noisy, sigma, cells, unit)[0]
