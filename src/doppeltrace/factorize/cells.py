"""The users of every cell (place, next place) and (place, slot), for the draws of B, C and D."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace.factorize import _cell_kernels as kernels
from doppeltrace.factorize._simd import AHEAD
from doppeltrace.tensors import SparseTensor

ENOUGH = 8
"""Elements per cell from which it pays to sum over the users of a cell first."""


class Cells(NamedTuple):
    """A tensor's elements by (row, chunk of users, column): K of these.

    users : (n_elements + AHEAD,) uint16, numbers within the chunk; in each cell first those
        whose count is not zero.
    starts : (K + 1,) where each one's users begin.
    counts : the counts that are not zero, in the same order.
    counted_starts : (K + 1,) where each one's counts begin.
    """

    users: NDArray[np.uint16]
    starts: NDArray[np.int64]
    counts: NDArray[Any]
    counted_starts: NDArray[np.int64]


def are_full(tensor: SparseTensor) -> bool:
    """Tell whether there are enough elements per cell, or none at all."""
    n_users, n_rows, n_columns = tensor.shape
    n_cells = n_rows * n_columns * -(-n_users // kernels.CHUNK)
    return tensor.n_elements == 0 or tensor.n_elements >= ENOUGH * n_cells


def cells_of(tensor: SparseTensor) -> Cells:
    """Return the cells of a tensor."""
    n_users, n_rows, n_columns = tensor.shape
    shape = (n_rows, -(-n_users // kernels.CHUNK), n_columns)
    elements = (tensor.offsets, tensor.row, tensor.column, tensor.count)
    number, counted = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    kernels.count_users(*elements, number, counted)
    starts, counted_starts = _starts(number), _starts(counted)
    users = np.zeros(tensor.n_elements + AHEAD, np.uint16)
    counts = np.empty(counted_starts[-1], tensor.count.dtype)
    user_at = starts[:-1].reshape(shape).copy()
    kernels.place_users(
        *elements, user_at + counted, counted_starts[:-1].reshape(shape).copy(), user_at,
        users, counts,
    )  # fmt: skip
    return Cells(users, starts, counts, counted_starts)


def _starts(number: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(number)])
