"""Kernels of the Poisson sampler: split counts over factors, and draw Gamma rows."""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace._stream_kernels import gamma, seed_stream, uniform
from doppeltrace.engine.kernel import kernel


@kernel
def _allocate(offsets, n, row, col, count, a, b, other, state, share, of_user, of_row, of_col):
    """Split user n's counts over the factors, multinomial with weights a_n ∘ b[row] ∘ other[col].

    Each unit of a count is a categorical draw. of_user (z,), of_row (R, z), of_col (·, z)
    receive the allocated units; share (z,) is scratch. Returns Σ r ln r̂ under these factors.
    """
    z = len(share)
    fit = 0.0
    for e in range(offsets[n], offsets[n + 1]):
        i = row[e]
        j = col[e]
        total = 0.0
        for k in range(z):
            total += a[n, k] * b[i, k] * other[j, k]
            share[k] = total
        fit += count[e] * math.log(total)
        for _ in range(count[e]):
            threshold = uniform(state) * total
            k = 0
            while k < z - 1 and share[k] <= threshold:
                k += 1
            of_user[k] += 1
            of_row[i, k] += 1
            of_col[j, k] += 1
    return fit


@kernel
def draw_users(
    first_user, last_user, t_offsets, t_row, t_col, t_count, v_offsets, v_row, v_col, v_count,
    a, b, c, d, shape, rate, key, a_new, fit, b_counts, c_counts, d_counts,
):  # fmt: skip
    """Split the counts of users first … last − 1 and draw a_nk ~ Gamma(shape + units, rate_k).

    a, b, c, d : (·, z) float64, current factors; rate (z,) : prior rate plus exposure.
    a_new : (n_users, z) receives A; fit : (n_users,) receives Σ r ln r̂ before the draw;
    *_counts : (·, z) int64 receive the units allocated to the rows of B, C and D.
    """
    z = a.shape[1]
    share = np.empty(z)
    of_user = np.empty(z, np.int64)
    state = np.empty(4, np.uint64)
    for n in range(first_user, last_user):
        seed_stream(key, n, state)
        of_user[:] = 0
        fit[n] = _allocate(
            t_offsets, n, t_row, t_col, t_count, a, b, c, state, share,
            of_user, b_counts, c_counts,
        )  # fmt: skip
        fit[n] += _allocate(
            v_offsets, n, v_row, v_col, v_count, a, b, d, state, share,
            of_user, b_counts, d_counts,
        )  # fmt: skip
        for k in range(z):
            a_new[n, k] = gamma(state, shape + of_user[k]) / rate[k]


@kernel
def draw_rows(first, last, counts, shape, rate, key, out):
    """Draw out_rk ~ Gamma(shape + counts_rk, rate_rk) for rows first … last − 1.

    counts, rate, out : (R, z).
    """
    state = np.empty(4, np.uint64)
    for r in range(first, last):
        seed_stream(key, r, state)
        for k in range(out.shape[1]):
            out[r, k] = gamma(state, shape + counts[r, k]) / rate[r, k]
