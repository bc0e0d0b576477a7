"""Step (i): the transition-count and the visit-count tensor, trimmed, with sampled zeros.

Both tensors are kept by user as sorted lists of elements in the smallest integer types
(5 bytes per element up to 65,536 places), the only ordering that training needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import _tensor_kernels as kernels
from doppeltrace import streams
from doppeltrace.engine.local import run_blocks
from doppeltrace.errors import require
from doppeltrace.traces import Traces


def _smallest(limit: int) -> type[np.unsignedinteger]:
    """Return the smallest unsigned type that holds 0 … limit."""
    for dtype in (np.uint8, np.uint16, np.uint32):
        if limit <= np.iinfo(dtype).max:
            return dtype
    return np.uint64


@dataclass(frozen=True, eq=False)
class SparseTensor:
    """Elements (n, row, column) → count of a tensor users × rows × columns.

    Attributes
    ----------
    shape : (n_users, n_rows, n_columns).
    offsets : (n_users + 1,) int64; user n's elements are offsets[n] … offsets[n + 1] − 1,
        sorted by (row, column).
    row, column : (n_elements,) smallest unsigned type, at least 16 bits.
    count : (n_elements,) smallest unsigned type; 0 where a zero was sampled.
    """

    shape: tuple[int, int, int]
    offsets: NDArray[np.int64]
    row: NDArray[np.unsignedinteger]
    column: NDArray[np.unsignedinteger]
    count: NDArray[Any]

    @property
    def n_elements(self) -> int:
        """Number of stored elements."""
        return len(self.row)

    @property
    def bytes_per_element(self) -> int:
        """Memory per stored element."""
        return self.row.itemsize + self.column.itemsize + self.count.itemsize

    @classmethod
    def empty_like(cls, other: SparseTensor) -> SparseTensor:
        """Return a tensor of the same shape and types of which no element is observed."""
        nothing = np.zeros_like(other.offsets)
        return cls(other.shape, nothing, other.row[:0], other.column[:0], other.count[:0])


def _assemble(
    shape: tuple[int, int, int],
    offsets: NDArray[np.int64],
    cell: NDArray[np.int64],
    count: NDArray[Any],
) -> SparseTensor:
    """Return the tensor of the cells row · n_columns + column of each user."""
    index_type = _smallest(max(shape[1] - 1, shape[2] - 1, np.iinfo(np.uint8).max + 1))
    row, column = np.divmod(cell, shape[2])
    return SparseTensor(shape, offsets, row.astype(index_type), column.astype(index_type), count)


def _count(
    shape: tuple[int, int, int], user: NDArray[Any], row: NDArray[Any], column: NDArray[Any]
) -> SparseTensor:
    """Count how often each (user, row, column) occurs."""
    n_users, n_rows, n_columns = shape
    cells = n_rows * n_columns
    key = (user.astype(np.int64) * n_rows + row) * n_columns + column
    key, count = np.unique(key, return_counts=True)
    offsets = np.searchsorted(key, np.arange(n_users + 1, dtype=np.int64) * cells)
    top = int(count.max()) if len(count) else 0
    return _assemble(shape, offsets.astype(np.int64), key % cells, count.astype(_smallest(top)))


def transition_tensor(traces: Traces) -> SparseTensor:
    """Count R^I (users × locations × next locations) over temporally continuous events."""
    user, origin, destination, _ = traces.transitions()
    places = len(traces.places)
    return _count((traces.n_users, places, places), user, origin, destination)


def visit_tensor(traces: Traces) -> SparseTensor:
    """Count R^II (users × locations × slots) over all events."""
    shape = (traces.n_users, len(traces.places), traces.clock.n_slots)
    return _count(shape, traces.user, traces.location, traces.slot)


def observe(
    counts: SparseTensor, *, most_elements: int, most_count: int, zeros: int, seed: int, name: str
) -> SparseTensor:
    """Return the observed elements of a tensor: trimmed positives and sampled zeros.

    Of each user at most `most_elements` (λ) positive elements are kept, chosen at random;
    counts are cut at `most_count` (r_max); `zeros` (ρ) elements are drawn uniformly, without
    replacement, among the user's zero elements. A deleted positive element becomes missing,
    never a zero. `name` tells apart the streams of the two tensors.
    """
    require(most_elements >= 1, "the most positive elements per user (λ) must be at least 1")
    require(1 <= most_count <= 65_535, "the largest count (r_max) must be from 1 to 65535")
    require(zeros >= 0, "the number of zero elements per user (ρ) must not be negative")
    n_users, n_rows, n_columns = counts.shape
    cells = n_rows * n_columns
    positives = np.diff(counts.offsets)
    kept = np.minimum(positives, most_elements)
    drawn = np.minimum(cells - positives, zeros)
    offsets = np.concatenate([[0], np.cumsum(kept + drawn)]).astype(np.int64)
    index_type = counts.row.dtype
    row = np.empty(offsets[-1], index_type)
    column = np.empty(offsets[-1], index_type)
    count = np.empty(offsets[-1], _smallest(most_count))
    cut = np.minimum(counts.count, most_count).astype(count.dtype)
    key = streams.key(seed, f"observe {name}")
    run_blocks(
        lambda first, last: kernels.observe(
            first, last, counts.offsets, counts.row, counts.column, cut, n_rows, n_columns,
            kept, drawn, key, offsets, row, column, count,
        ),
        n_users,
    )  # fmt: skip
    return SparseTensor(counts.shape, offsets, row, column, count)


def hold_out(
    tensor: SparseTensor, fraction: float, seed: int, name: str
) -> tuple[SparseTensor, SparseTensor]:
    """Split off a random fraction of the elements: (for training, held out)."""
    require(0 <= fraction < 1, "the held-out fraction must be from 0 to below 1")
    if fraction == 0:
        return tensor, SparseTensor.empty_like(tensor)
    out = streams.generator(seed, f"hold out {name}").random(tensor.n_elements) < fraction
    return _where(tensor, ~out), _where(tensor, out)


def unobserved(
    counts: SparseTensor, observed: SparseTensor, *, per_user: int, seed: int, name: str
) -> tuple[SparseTensor, NDArray[np.int64]]:
    """Sample the zero elements that were not observed.

    Parameters
    ----------
    counts : all positive elements; those that trimming deleted are not zeros.
    observed : the observed elements, see `observe`.
    per_user : elements drawn per user, uniformly and without replacement, or all there are.

    Returns
    -------
    The sample, whose counts are all 0, and (n_users,) how many unobserved zeros there are.
    """
    require(per_user >= 1, "the number of unobserved elements per user must be at least 1")
    known = np.union1d(_keys(counts), _keys(observed))
    n_users, n_rows, n_columns = counts.shape
    cells = n_rows * n_columns
    offsets = np.searchsorted(known, np.arange(n_users + 1, dtype=np.int64) * cells)
    taken = _assemble(
        counts.shape, offsets.astype(np.int64), known % cells, np.ones(len(known), np.uint8)
    )
    drawn = observe(
        taken, most_elements=1, most_count=1, zeros=per_user, seed=seed, name=f"unobserved {name}"
    )
    return _where(drawn, drawn.count == 0), cells - np.diff(taken.offsets)


def _keys(tensor: SparseTensor) -> NDArray[np.int64]:
    """Return (n_elements,) a number per (user, row, column), ascending."""
    n_users, n_rows, n_columns = tensor.shape
    user = np.repeat(np.arange(n_users, dtype=np.int64), np.diff(tensor.offsets))
    keys: NDArray[np.int64] = (user * n_rows + tensor.row) * n_columns + tensor.column
    return keys


def _where(tensor: SparseTensor, mask: NDArray[np.bool_]) -> SparseTensor:
    offsets = np.concatenate([[0], np.cumsum(mask)])[tensor.offsets]
    return SparseTensor(
        tensor.shape, offsets, tensor.row[mask], tensor.column[mask], tensor.count[mask]
    )
