"""Sums over users that no order, thread, block or shard changes: exact, then rounded once.

A finite float64 is m · 2^(e − 1075) with whole m < 2^53 and 1 ≤ e < 2047. The sum of any number of
them is kept as a fixed-point number of 67 words of 32 bits, each in an int64 that has room for
carries (a "small superaccumulator", Neal 2015, arXiv:1505.05571). Words add like whole numbers, so
the words of parts add up to the words of all; in the end the nearest float64 is taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.engine import _exact_kernels as kernels
from doppeltrace.engine.local import run, run_blocks, threads

BLOCK = 1024
"""Rows whose products are added in order, in float64, before blocks are added exactly."""

_WORTH_THREADS = 1 << 15
"""Numbers from which it pays to add in several threads."""


def words_of(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return (K, WORDS) the exact sum of each column of rows (N, K); words of parts add up."""
    bits = np.ascontiguousarray(rows, np.float64).view(np.int64)
    lanes = threads() if rows.size >= _WORTH_THREADS else 1
    words = np.zeros((lanes, rows.shape[1], kernels.WORDS), np.int64)
    n = len(rows)
    run(
        lambda i: kernels.add_rows(n * i // lanes, n * (i + 1) // lanes, bits, words[i]),
        lanes,
    )
    found: NDArray[np.int64] = words.sum(axis=0)
    return found


def rounded(words: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (K,) the float64 nearest to each sum, NaN if something was not finite.

    words : (K, WORDS), of up to 2^30 parts.
    """
    return np.array([kernels.nearest(row) for row in words.copy()], np.float64)


def column_sums(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (K,) the sum of each column of rows (N, K)."""
    return rounded(words_of(rows))


def column_means(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (K,) the mean of each column of rows (N, K)."""
    return column_sums(rows) / len(rows)


def total(values: NDArray[np.float64]) -> float:
    """Return the sum of values (N,), the same as `math.fsum`."""
    return float(column_sums(values.reshape(-1, 1))[0])


def segment_sums(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of values[starts[i]] … values[starts[i + 1] − 1], as many as there are i."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64).reshape(-1, 1)
    out = np.empty(len(starts) - 1)
    kernels.segment_sums(bits, np.asarray(starts, np.int64), out)
    return out


def scatter(rows: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ (x − c)(x − c)ᵀ (z, z) over the rows x (N, z).

    Products are added in blocks of fixed rows, and the sums of blocks exactly.
    """
    rows = np.ascontiguousarray(rows, np.float64)
    z = rows.shape[1]
    upper = np.triu_indices(z)
    blocks = np.empty((-(-len(rows) // BLOCK), len(upper[0])))

    def add(first: int, last: int) -> None:
        for i in range(first, last):
            end = min((i + 1) * BLOCK, len(rows))
            kernels.add_squares(i * BLOCK, end, rows, centre, blocks[i])

    run_blocks(add, len(blocks))
    out = np.empty((z, z))
    out[upper] = out.T[upper] = column_sums(blocks)
    return out
