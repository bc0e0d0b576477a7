"""What the rows of B, C and D need of the users: sums in fixed shards.

Shards are summed in float32, side by side, and added in order in float64, so the number of
threads changes no bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace.engine.local import run, run_blocks, threads
from doppeltrace.factorize import _cell_kernels as cell_kernels
from doppeltrace.factorize import _kernels as kernels
from doppeltrace.factorize._simd import TILE
from doppeltrace.factorize.cells import Cells

SHARD_USERS = 256
"""Users per shard: fixed, so that sums are added in the same order on any machine."""

SHARD_PLACES = 8
"""Places per shard, likewise."""

LANES_PER_THREAD = 4
"""More shards of places at once than threads even out places that take longer."""

_LINE = 64
"""Bytes in a line of the caches."""


class Sums(NamedTuple):
    """Σ f fᵀ (R, H) and Σ r f (R, Z) of every row, float64; for the layout see `_kernels`."""

    gram: NDArray[np.float64]
    moment: NDArray[np.float64]

    @classmethod
    def none(cls, rows: NDArray[np.float32]) -> Sums:
        """Return the sums of no element, for the rows of this matrix."""
        return cls(np.zeros((len(rows), gram_size(rows))), np.zeros(rows.shape))


class Part(NamedTuple):
    """Elements whose f = a_n ∘ other[source] belongs to the row `target`."""

    offsets: NDArray[np.int64]
    source: NDArray[Any]
    target: NDArray[Any]
    value: NDArray[Any]
    other: NDArray[np.float32]


def padded(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the rows in float32, with zero columns up to a multiple of TILE.

    The first begins a cache line: rows of sixteen columns then take one line each, not two.
    """
    columns = -(-rows.shape[1] // TILE) * TILE
    memory = np.zeros(len(rows) * columns + _LINE // 4, np.float32)
    start = -memory.ctypes.data % _LINE // 4
    out = memory[start : start + len(rows) * columns].reshape(len(rows), columns)
    out[:, : rows.shape[1]] = rows
    return out


def quads(rows: NDArray[np.float32]) -> tuple[int, ...]:
    """Return the tuple whose length tells the kernels Z at compile time."""
    return (0,) * int(rows.shape[1] // TILE)


def gram_size(rows: NDArray[np.float32]) -> int:
    """Return H, the floats in the upper 4 × 4 blocks of a gram of these rows."""
    tiles = int(rows.shape[1]) // TILE
    return TILE * TILE * tiles * (tiles + 1) // 2


def sum_by_user(a: NDArray[np.float32], rows: NDArray[np.float32], *parts: Part) -> Sums:
    """Return the sums of the rows that the parts belong to, user by user."""
    sums = Sums.none(rows)
    lanes = threads()
    room = [[_scratch(part) for part in parts] for _ in range(lanes)]

    def add(shard: int, lane: int, gram: NDArray[Any], moment: NDArray[Any]) -> None:
        first = shard * SHARD_USERS
        for part, packed in zip(parts, room[lane], strict=True):
            kernels.scatter_users(
                first, min(first + SHARD_USERS, len(a)),
                part.offsets, part.source, part.target, part.value,
                a, part.other, quads(a), packed, gram, moment,
            )  # fmt: skip

    _add_in_order(add, -(-len(a) // SHARD_USERS), lanes, sums)
    return sums


def draw_by_cells(
    cells: tuple[Cells, Cells],
    a: NDArray[np.float32],
    c: NDArray[np.float32],
    d: NDArray[np.float32],
    alpha: float,
    terms: tuple[NDArray[np.float64], NDArray[np.float64]],
    key: NDArray[np.uint64],
    out: NDArray[np.float64],
) -> tuple[Sums, Sums]:
    """Draw all rows of B, given A, C and D, to out; return the sums of C and D, given A and B.

    cells : of the transitions and of the visits. terms : Λ and Λμ.
    """
    sums = Sums.none(c), Sums.none(d)
    # a tensor of which nothing was observed has no columns to go over
    used = [m if part.starts[-1] else m[:0] for part, m in zip(cells, (c, d), strict=True)]
    squares = [_squares(rows) for rows in used]

    def add(shard: int, _: int, *parts: NDArray[Any]) -> None:
        first = shard * SHARD_PLACES
        cell_kernels.draw_places(
            first, min(first + SHARD_PLACES, len(out)), *cells, a, used[0], squares[0], used[1],
            squares[1], quads(a), alpha, *terms, key, out, *parts,
        )  # fmt: skip

    lanes = LANES_PER_THREAD * threads()
    _add_in_order(add, -(-len(out) // SHARD_PLACES), lanes, (*sums[0], *sums[1]))
    return sums


def _squares(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the (R, H) grams of each row alone."""
    out = np.empty((len(rows), gram_size(rows)), np.float32)
    for row, square in zip(rows, out, strict=True):
        cell_kernels.write_square(row, square)
    return out


def _scratch(part: Part) -> NDArray[np.unsignedinteger]:
    """Return room for the elements of any shard, each a user and a source in one word."""
    at_shards = part.offsets[np.append(np.arange(0, len(part.offsets), SHARD_USERS), -1)]
    return np.empty(np.diff(at_shards).max(), f"u{2 * part.source.itemsize}")


def _add_in_order(
    add: Callable[..., None], n_shards: int, lanes: int, totals: tuple[NDArray[np.float64], ...]
) -> None:
    """Run add(shard, lane, *sums of the shard) of all shards; add their sums to the totals.

    Waves of shards run side by side, one per lane, and are added in the order of the shards.
    """
    parts = [np.zeros((lanes, *total.shape), np.float32) for total in totals]
    for wave in range(0, n_shards, lanes):
        run(partial(_one, add, wave, parts), min(lanes, n_shards - wave))
        for part, total in zip(parts, totals, strict=True):
            run_blocks(partial(_take, part, total), len(total))


def _one(add: Callable[..., None], wave: int, parts: list[NDArray[Any]], lane: int) -> None:
    add(wave + lane, lane, *(part[lane] for part in parts))


def _take(part: NDArray[np.float32], total: NDArray[np.float64], first: int, last: int) -> None:
    kernels.take_parts(first, last, part, total)
