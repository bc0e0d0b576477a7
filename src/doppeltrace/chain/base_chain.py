"""The arrays of our chain: visit factors, and a population base that ties places together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from doppeltrace.engine.exact import column_means
from doppeltrace.factorize.state import Factors

FLOOR = 1e-8
"""Smallest entry of a factor, relative to its column's mean: no place is impossible."""


class BaseChain(NamedTuple):
    """π from (A, B, D) and proposals along the base; see `_base_kernels`.

    A (users, z), B (places, z), D (slots, z), float64, levelled: see `_levelled`.
    B_sum : (1, z) column sums of B. cut, other : (z, places), an alias table per column of B.
    start, neighbour, lift : the base K in CSR form, symmetric, without its diagonal.
    own : (places,) the diagonal, positive.
    stay_multiplier : (slots,) h, by which a slot multiplies the diagonal.
    lift_B : (places, z) = K B, again without the diagonal.
    B_t, lift_B_t : (z, places), transposed.
    jump : τ, probability of a fresh draw from π.
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    B_t: NDArray[np.float64]
    D: NDArray[np.float64]
    B_sum: NDArray[np.float64]
    cut: NDArray[np.float64]
    other: NDArray[np.int32]
    start: NDArray[np.int64]
    neighbour: NDArray[np.int32]
    lift: NDArray[np.float64]
    own: NDArray[np.float64]
    stay_multiplier: NDArray[np.float64]
    lift_B: NDArray[np.float64]
    lift_B_t: NDArray[np.float64]
    jump: float


def base_chain(theta: Factors, base: csr_array, jump: float) -> BaseChain:
    """Return the chain of factors and base, with h = 1."""
    own = base.diagonal()
    base = csr_array(base - diags_array(own))
    base.eliminate_zeros()
    base.sort_indices()
    a, b, d = _levelled(theta.A, theta.B, theta.D)
    cut, other = _alias_tables(b)
    lift_b = np.ascontiguousarray(base @ b)
    return BaseChain(
        a,
        b,
        np.ascontiguousarray(b.T),
        d,
        b.sum(axis=0, keepdims=True),
        cut,
        other,
        base.indptr.astype(np.int64),
        base.indices.astype(np.int32),
        base.data.astype(np.float64),
        own.astype(np.float64),
        np.ones(len(d)),
        lift_b,
        np.ascontiguousarray(lift_b.T),
        jump,
    )


def _levelled(*matrices: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the factors with columns of mean 1, their scales in the last matrix.

    Only products of the three matrices matter, so this changes nothing but the numbers' range:
    entries that underflowed are lifted to FLOOR, and factors that died out get weight 0.
    """
    means = [column_means(rows) for rows in matrices]
    alive = np.min(means, axis=0) > 0
    log_weight = np.sum([np.log(np.where(alive, mean, 1.0)) for mean in means], axis=0)
    top = log_weight[alive].max() if alive.any() else 0.0
    weight = np.where(alive, np.exp(log_weight - top), 0.0 if alive.any() else 1.0)
    levelled = [
        np.maximum(np.where(alive, rows, 1.0) / np.where(alive, mean, 1.0), FLOOR)
        for rows, mean in zip(matrices, means, strict=True)
    ]
    return [*levelled[:-1], levelled[-1] * weight]


def _alias_tables(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return Walker's alias tables of every column of weights (X, z): two arrays (z, X).

    Draw x uniformly; keep it with probability cut[k, x], else take other[k, x].
    """
    n, z = weights.shape
    cut = np.ones((z, n))
    other = np.tile(np.arange(n, dtype=np.int32), (z, 1))
    for k in range(z):
        scaled = weights[:, k] * (n / weights[:, k].sum())
        small = list(np.flatnonzero(scaled < 1))
        large = list(np.flatnonzero(scaled >= 1))
        while small and large:
            low, high = small.pop(), large[-1]
            cut[k, low], other[k, low] = scaled[low], high
            scaled[high] -= 1 - scaled[low]
            if scaled[high] < 1:
                small.append(large.pop())
    return cut, other
