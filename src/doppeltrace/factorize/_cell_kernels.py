"""Kernels of the Gaussian sampler where many users share a cell (place, next place or slot).

f = a_n ∘ o_c of an element has the user's row as one factor and, as the other, a row that all
users of the cell share. So a cell's Σ f fᵀ is T ∘ o_c o_cᵀ, T = Σ a_n a_nᵀ over its users, and its
Σ r f is M ∘ o_c, M = Σ r a_n. T and M of a place's cells serve twice: with C or D they give the
place's row of B and then, with that row, what the place adds to the sums of C and D.

The users of the cells are a `cells.Cells`. Grams are laid out as in `_kernels`.
"""
# mypy: ignore-errors

import numpy as np

from doppeltrace._stream_kernels import seed_stream
from doppeltrace.engine.kernel import kernel
from doppeltrace.factorize._kernels import draw_row
from doppeltrace.factorize._simd import TILE, add_squares

CHUNK = 1 << 16
"""Users that are numbered together: their numbers take two bytes, and their rows a few MB."""

_BLOCK = 128
"""Rows summed in one go: they stay in the first cache from the first pass to the last."""


@kernel
def count_users(offsets, row, column, count, starts, counted_starts):
    """Count the elements, and those whose count is not zero, of each (row, chunk, column).

    starts, counted_starts (rows, chunks, columns) : receive them.
    """
    for n in range(len(offsets) - 1):
        chunk = n // CHUNK
        for e in range(offsets[n], offsets[n + 1]):
            starts[row[e], chunk, column[e]] += 1
            counted_starts[row[e], chunk, column[e]] += count[e] != 0


@kernel
def place_users(offsets, row, column, count, zero_at, counted_at, user_at, users, counts):
    """Write the users of all cells, in each those with a count first, and the counts.

    Where the next one goes, (rows, chunks, columns), all changed: zero_at and user_at in users,
    for elements without and with a count; counted_at in counts.
    """
    for n in range(len(offsets) - 1):
        chunk = n // CHUNK
        for e in range(offsets[n], offsets[n + 1]):
            i, j = row[e], column[e]
            if count[e] != 0:
                users[user_at[i, chunk, j]] = n - chunk * CHUNK
                counts[counted_at[i, chunk, j]] = count[e]
                user_at[i, chunk, j] += 1
                counted_at[i, chunk, j] += 1
            else:
                users[zero_at[i, chunk, j]] = n - chunk * CHUNK
                zero_at[i, chunk, j] += 1


@kernel
def write_square(f, out):
    """Write f fᵀ to out (H,); f (Z,)."""
    at = 0
    for p in range(0, len(f), TILE):
        for q in range(p, len(f), TILE):
            for x in range(TILE):
                for y in range(TILE):
                    out[at + TILE * x + y] = f[p + x] * f[q + y]
            at += TILE * TILE


@kernel
def sum_cells(cells, row, a, quads, grams, moments):
    """Write T (columns, H) and M (columns, Z) of the cells of a row."""
    n_columns = len(grams)
    n_chunks = (len(a) + CHUNK - 1) // CHUNK
    grams[:] = 0.0
    moments[:] = 0.0
    for chunk in range(n_chunks):
        rows = a[chunk * CHUNK :]
        for column in range(n_columns):
            cell = (row * n_chunks + chunk) * n_columns + column
            start, end = cells.starts[cell], cells.starts[cell + 1]
            at = start
            while at < end:
                stop = min(at + _BLOCK, end)
                add_squares(grams, column, rows, cells.users, at, stop, quads)
                at = stop
            counted, end = cells.counted_starts[cell], cells.counted_starts[cell + 1]
            for c in range(end - counted):
                r = np.float32(cells.counts[counted + c])
                n = cells.users[start + c]
                for k in range(moments.shape[1]):
                    moments[column, k] += r * rows[n, k]


@kernel
def _fold(grams, moments, squares, others, gram, moment):
    """Add Σ_c T_c ∘ squares_c to gram (H,), Σ_c M_c ∘ others_c to moment (Z,), both float64."""
    for c in range(len(grams)):
        for h in range(len(gram)):
            gram[h] += np.float64(grams[c, h]) * np.float64(squares[c, h])
        for k in range(len(moment)):
            moment[k] += np.float64(moments[c, k]) * np.float64(others[c, k])


@kernel
def _spread(grams, moments, square, other, gram, moment):
    """Add T_c ∘ square to each gram[c], M_c ∘ other to each moment[c]."""
    for c in range(len(grams)):
        for h in range(len(square)):
            gram[c, h] += grams[c, h] * square[h]
        for k in range(len(other)):
            moment[c, k] += moments[c, k] * other[k]


@kernel
def draw_places(
    first, last, t_cells, v_cells, a, c, c_squares, d, d_squares, quads, alpha, precision,
    weighted_mean, key, out, c_gram, c_moment, d_gram, d_moment,
):  # fmt: skip
    """Draw rows first … last − 1 of B; add what these places give to the sums of C and D.

    a (n_users, Z), c, d (·, Z), c_squares, d_squares (·, H) and the sums : float32; out (·, z).
    """
    h, z = c_squares.shape[1], a.shape[1]
    t_grams, t_moments = np.empty_like(c_squares), np.empty_like(c)
    v_grams, v_moments = np.empty_like(d_squares), np.empty_like(d)
    square, row = np.empty(h, np.float32), np.zeros(z, np.float32)
    state = np.empty(4, np.uint64)
    for i in range(first, last):
        sum_cells(t_cells, i, a, quads, t_grams, t_moments)
        sum_cells(v_cells, i, a, quads, v_grams, v_moments)
        gram, moment = np.zeros(h), np.zeros(z)
        _fold(t_grams, t_moments, c_squares, c, gram, moment)
        _fold(v_grams, v_moments, d_squares, d, gram, moment)
        seed_stream(key, i, state)
        draw_row(gram, moment, alpha, precision, weighted_mean, state, out[i])
        for k in range(out.shape[1]):
            row[k] = out[i, k]
        write_square(row, square)
        _spread(t_grams, t_moments, square, row, c_gram, c_moment)
        _spread(v_grams, v_moments, square, row, d_gram, d_moment)
