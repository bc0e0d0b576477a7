"""Kernels of the Gaussian sampler: sums over observed elements, and row draws.

A row's precision needs the *gram* Σ f fᵀ and its mean the *moment* Σ r f over the row's
observed elements, where f is the Hadamard product of two other rows. Factor rows come padded
with zeros to a multiple of four columns (Z); a gram is kept as the 4 × 4 blocks on and above
its diagonal, H = 16 · Z/4 · (Z/4 + 1) / 2 floats.

Layout of the arguments `t_*` (transitions) and `v_*` (visits): CSR by user, see
`tensors.SparseTensor`; t_row is the location i, t_col the next location j, v_row the location
i, v_col the slot l.
"""

import math

import numpy as np
from numba import njit

from doppeltrace._stream_kernels import normal, seed_stream
from doppeltrace.factorize._simd import add_outers, multiply_rows

_BLOCK = 128
"""Rows f computed at once before their f fᵀ are summed: they stay in the first cache."""


@njit(cache=True)
def _add_outers(left, left_rows, right, right_rows, first, last, quads, block, gram):
    """Add the elements first … last − 1, f = left[left_rows] ∘ right[right_rows], to gram (H,).

    block (_BLOCK, Z) : scratch; quads : see `_simd.multiply_rows`.
    """
    for start in range(first, last, _BLOCK):
        stop = min(start + _BLOCK, last)
        multiply_rows(block, left, left_rows, right, right_rows, start, stop, quads)
        add_outers(gram, block, stop - start, quads)


@njit(cache=True)
def _gather(row, col, count, first, last, left, right, quads, block, gram, moment):
    """Add the elements first … last − 1, f = left[row] ∘ right[col], to gram and moment.

    gram (H,), moment (Z,); quads : see `_simd.add_outers`. Returns Σ r².
    """
    _add_outers(left, row, right, col, first, last, quads, block, gram)
    squares = 0.0
    for e in range(first, last):
        if count[e] != 0:
            r = np.float32(count[e])
            squares += np.float64(r) * r
            for k in range(len(moment)):
                moment[k] += r * left[row[e], k] * right[col[e], k]
    return squares


@njit(cache=True)
def _draw_row(gram, moment, alpha, precision, weighted_mean, state, out):
    """Draw out (z,) ~ N(μ*, Λ*⁻¹), Λ* = Λ + α gram, Λ* μ* = Λμ + α moment.

    Λ* = L Lᵀ; solve L y = Λ*μ*; then Lᵀ x = y + ε gives x = μ* + L⁻ᵀ ε.
    """
    z = len(out)
    low = np.empty((z, z))
    at = 0
    for p in range(0, z, 4):
        for q in range(p, z, 4):
            for x in range(p, min(p + 4, z)):
                for y in range(max(q, x), min(q + 4, z)):
                    low[y, x] = precision[y, x] + alpha * gram[at + 4 * (x - p) + y - q]
            at += 16
    for p in range(z):
        y = weighted_mean[p] + alpha * moment[p]
        d = low[p, p]
        for q in range(p):
            y -= low[p, q] * out[q]
            d -= low[p, q] * low[p, q]
        d = math.sqrt(d)
        low[p, p] = d
        out[p] = y / d
        for r in range(p + 1, z):
            v = low[r, p]
            for q in range(p):
                v -= low[r, q] * low[p, q]
            low[r, p] = v / d
    for p in range(z):
        out[p] += normal(state)
    for p in range(z - 1, -1, -1):
        v = out[p]
        for q in range(p + 1, z):
            v -= low[q, p] * out[q]
        out[p] = v / low[p, p]


@njit(cache=True)
def _squared_error(gram, moment, squares, a):
    """Return Σ (r − aᵀf)² = Σ r² − 2 aᵀ Σ r f + aᵀ (Σ f fᵀ) a, never below 0."""
    z = len(a)
    total = squares
    for p in range(z):
        total -= 2.0 * a[p] * moment[p]
    at = 0
    for p in range(0, z, 4):
        for q in range(p, z, 4):
            for x in range(p, min(p + 4, z)):
                for y in range(max(q, x), min(q + 4, z)):
                    twice = 1.0 if x == y else 2.0
                    total += twice * a[x] * a[y] * gram[at + 4 * (x - p) + y - q]
            at += 16
    return max(total, 0.0)


@njit(cache=True, nogil=True)
def draw_users(
    first_user, last_user, t_offsets, t_row, t_col, t_count, v_offsets, v_row, v_col, v_count,
    b, c, d, quads, h, alpha, precision, weighted_mean, key, out, error,
):  # fmt: skip
    """Draw the rows a_n of users first … last − 1 given B, C, D; eqs. (A_RBCDPsiA) to (mu_An_ast).

    b, c, d : (R, Z) float32; h : floats in a gram.
    out : (n_users, z) float64 receives A; error : (n_users,) the squared error of the fit.
    """
    block = np.empty((_BLOCK, b.shape[1]), np.float32)
    for n in range(first_user, last_user):
        gram = np.zeros(h, np.float32)
        moment = np.zeros(b.shape[1], np.float32)
        squares = _gather(
            t_row, t_col, t_count, t_offsets[n], t_offsets[n + 1], b, c, quads, block, gram, moment
        ) + _gather(
            v_row, v_col, v_count, v_offsets[n], v_offsets[n + 1], b, d, quads, block, gram, moment
        )
        state = np.empty(4, np.uint64)
        seed_stream(key, n, state)
        _draw_row(gram, moment, alpha, precision, weighted_mean, state, out[n])
        error[n] = _squared_error(gram, moment, squares, out[n])


@njit(cache=True)
def _sort_by_target(first_user, last_user, offsets, source, target, n_targets, packed):
    """Put the elements of users first … last − 1 in the order of their targets, then of users.

    packed : scratch, unsigned of twice the width of source, at least one per element; receives
    (user − first) · 2^width + source. Returns where each target's elements end in it.
    """
    begin, end = offsets[first_user], offsets[last_user]
    place = np.zeros(n_targets + 1, np.uint32)
    for j in target[begin:end]:
        place[np.uintp(j) + np.uintp(1)] += 1
    for j in range(n_targets):
        place[j + 1] += place[j]
    word = packed.dtype.type
    for n in range(first_user, last_user):
        user = word(n - first_user) << word(8 * source.itemsize)
        sources = source[offsets[n] : offsets[n + 1]]
        targets = target[offsets[n] : offsets[n + 1]]
        for e in range(len(sources)):
            j = np.uintp(targets[e])
            at = place[j]
            place[j] = at + 1
            packed[at] = user | word(sources[e])
    return place[:n_targets]


@njit(cache=True, nogil=True)
def scatter_users(
    first_user, last_user, offsets, source, target, count, a, other, quads, packed, gram, moment
):
    """Add the elements of users first … last − 1, f = a[n] ∘ other[source], to their targets.

    a (n_users, Z), other (·, Z); gram (R, H), moment (R, Z) of the target rows: all float32.
    packed : scratch, see `_sort_by_target`; elements are sorted first, so that the gram of a
    target is loaded and stored once and not for every element.
    """
    ends = _sort_by_target(first_user, last_user, offsets, source, target, len(gram), packed)
    halves = packed.view(source.dtype)  # low half first: all machines we run on are little-endian
    sources, users = halves[0::2], halves[1::2]
    rows = a[first_user:last_user]
    block = np.empty((_BLOCK, a.shape[1]), np.float32)
    start = 0
    for j in range(len(gram)):
        end = np.intp(ends[j])
        _add_outers(rows, users, other, sources, start, end, quads, block, gram[j])
        start = end
    for n in range(first_user, last_user):
        for e in range(offsets[n], offsets[n + 1]):
            if count[e] != 0:
                r = np.float32(count[e])
                for k in range(a.shape[1]):
                    moment[target[e], k] += r * a[n, k] * other[source[e], k]


@njit(cache=True, nogil=True)
def draw_rows(first, last, gram, moment, alpha, precision, weighted_mean, key, out):
    """Draw rows first … last − 1 of B, C or D from their sums.

    gram (R, H), moment (R, Z) float64; out (R, z).
    """
    for r in range(first, last):
        state = np.empty(4, np.uint64)
        seed_stream(key, r, state)
        _draw_row(gram[r], moment[r], alpha, precision, weighted_mean, state, out[r])
