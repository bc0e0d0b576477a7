"""Kernels of the Gaussian sampler: sums over observed elements, and row draws.

A row's precision needs the *gram* Σ f fᵀ and its mean the *moment* Σ r f over the row's
observed elements, where f is the Hadamard product of two other rows. Factor rows come padded
with zeros to a multiple of four columns (Z); a gram is kept as the 4 × 4 blocks on and above
its diagonal, H = 16 · Z/4 · (Z/4 + 1) / 2 floats.

Layout of the arguments `t_*` (transitions) and `v_*` (visits): CSR by user, see
`tensors.SparseTensor`; t_row is the location i, t_col the next location j, v_row the location
i, v_col the slot l.
"""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace._stream_kernels import normal, seed_stream
from doppeltrace.engine.kernel import kernel
from doppeltrace.factorize._simd import TILE, add_outers, multiply_rows

_BLOCK = 96
"""Rows f computed at once before their f fᵀ are summed: they stay in the first cache."""

_STRIDE = 32
"""Counts looked at together: nearly all are zero."""


@kernel
def add_grams(left, left_rows, right, right_rows, first, ends, quads, blocks, grams):
    """Add f fᵀ, f = left[left_rows[e]] ∘ right[right_rows[e]], of consecutive elements to grams.

    grams[j], of (R, H), receives the elements from the end of j − 1 (`first` for j = 0) to
    ends[j] − 1. blocks (2 · _BLOCK, Z) : scratch; quads : see `_simd.multiply_rows`.
    """
    at = 0  # the block in use: the rows from 0 or from _BLOCK on
    ready = 0  # rows of it that are there already
    start, last = first, np.intp(ends[-1])
    for j in range(len(ends)):
        end = np.intp(ends[j])
        while start < end:
            rows = end - start
            if rows > _BLOCK:  # the last two blocks share: a short one costs as much to add
                rows = min(_BLOCK, (rows + 1) >> 1)
            stop = start + rows
            multiply_rows(
                blocks, at + ready, left, left_rows, right, right_rows, start + ready, stop, quads
            )
            ready = min(rows, last - stop)
            add_outers(
                grams, j, blocks, at, rows, _BLOCK - at,
                left, left_rows, right, right_rows, stop, ready, quads,
            )  # fmt: skip
            at = _BLOCK - at
            start = stop


@kernel
def next_counted(count, e):
    """Return the first place from e on where count is not 0, or the length of count."""
    while e + _STRIDE <= len(count):
        seen = False
        for value in count[e : e + _STRIDE]:
            seen |= value != 0
        if seen:
            break
        e += _STRIDE
    while e < len(count) and count[e] == 0:
        e += 1
    return e


@kernel
def gather(row, col, count, first, ends, left, right, quads, blocks, gram, moment):
    """Add the elements from first to ends[0] − 1, f = left[row] ∘ right[col], to gram and moment.

    gram (1, H), moment (Z,); blocks, quads : see `add_grams`. Returns Σ r².
    """
    add_grams(left, row, right, col, first, ends, quads, blocks, gram)
    counts = count[first : ends[0]]
    squares = 0.0
    at = -1
    while True:
        at = next_counted(counts, at + 1)
        if at == len(counts):
            return squares
        r = np.float32(counts[at])
        squares += np.float64(r) * r
        i, j = row[first + at], col[first + at]
        for k in range(len(moment)):
            moment[k] += r * left[i, k] * right[j, k]


@kernel
def draw_row(gram, moment, alpha, precision, weighted_mean, state, out):
    """Draw out (z,) ~ N(μ*, Λ*⁻¹), Λ* = Λ + α gram, Λ* μ* = Λμ + α moment.

    Λ* = L Lᵀ; solve L y = Λ*μ*; then Lᵀ x = y + ε gives x = μ* + L⁻ᵀ ε.
    """
    z = len(out)
    low = np.empty((z, z))
    at = 0
    for p in range(0, z, TILE):
        for q in range(p, z, TILE):
            for x in range(p, min(p + TILE, z)):
                for y in range(max(q, x), min(q + TILE, z)):
                    low[y, x] = precision[y, x] + alpha * gram[at + TILE * (x - p) + y - q]
            at += TILE * TILE
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


@kernel
def _squared_error(gram, moment, squares, a):
    """Return Σ (r − aᵀf)² = Σ r² − 2 aᵀ Σ r f + aᵀ (Σ f fᵀ) a, never below 0."""
    z = len(a)
    total = squares
    for p in range(z):
        total -= 2.0 * a[p] * moment[p]
    at = 0
    for p in range(0, z, TILE):
        for q in range(p, z, TILE):
            for x in range(p, min(p + TILE, z)):
                for y in range(max(q, x), min(q + TILE, z)):
                    twice = 1.0 if x == y else 2.0
                    total += twice * a[x] * a[y] * gram[at + TILE * (x - p) + y - q]
            at += TILE * TILE
    return max(total, 0.0)


@kernel
def draw_users(
    first_user, last_user, t_offsets, t_row, t_col, t_count, v_offsets, v_row, v_col, v_count,
    b, c, d, quads, h, alpha, precision, weighted_mean, key, out, error,
):  # fmt: skip
    """Draw the rows a_n of users first … last − 1 given B, C, D; eqs. (A_RBCDPsiA) to (mu_An_ast).

    b, c, d : (R, Z) float32; h : floats in a gram.
    out : (n_users, z) float64 receives A; error : (n_users,) the squared error of the fit.
    """
    blocks = np.empty((2 * _BLOCK, b.shape[1]), np.float32)
    for n in range(first_user, last_user):
        gram = np.zeros((1, h), np.float32)
        moment = np.zeros(b.shape[1], np.float32)
        t_first, t_end = t_offsets[n], t_offsets[n + 1 : n + 2]
        v_first, v_end = v_offsets[n], v_offsets[n + 1 : n + 2]
        squares = gather(
            t_row, t_col, t_count, t_first, t_end, b, c, quads, blocks, gram, moment
        ) + gather(v_row, v_col, v_count, v_first, v_end, b, d, quads, blocks, gram, moment)
        state = np.empty(4, np.uint64)
        seed_stream(key, n, state)
        draw_row(gram[0], moment, alpha, precision, weighted_mean, state, out[n])
        error[n] = _squared_error(gram[0], moment, squares, out[n])


@kernel
def sort_by_target(first_user, last_user, offsets, source, target, n_targets, packed):
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


@kernel
def scatter_users(
    first_user, last_user, offsets, source, target, count, a, other, quads, packed, gram, moment
):
    """Add the elements of users first … last − 1, f = a[n] ∘ other[source], to their targets.

    a (n_users, Z), other (·, Z); gram (R, H), moment (R, Z) of the target rows: all float32.
    packed : scratch, see `sort_by_target`; elements are sorted first, so that the gram of a
    target is loaded and stored once and not for every element.
    """
    ends = sort_by_target(first_user, last_user, offsets, source, target, len(gram), packed)
    halves = packed.view(source.dtype)  # low half first: all machines we run on are little-endian
    sources, users = halves[0::2], halves[1::2]
    rows = a[first_user:last_user]
    blocks = np.empty((2 * _BLOCK, a.shape[1]), np.float32)
    add_grams(rows, users, other, sources, 0, ends, quads, blocks, gram)
    for n in range(first_user, last_user):
        first = offsets[n]
        counts = count[first : offsets[n + 1]]
        at = -1
        while True:
            at = next_counted(counts, at + 1)
            if at == len(counts):
                break
            r = np.float32(counts[at])
            i, j = source[first + at], target[first + at]
            for k in range(a.shape[1]):
                moment[j, k] += r * a[n, k] * other[i, k]


@kernel
def take_parts(first, last, parts, total):
    """Add rows first … last − 1 of every part (P, R, K) float32, in order, to total (R, K).

    The rows of the parts are set to zero, ready for the next sums.
    """
    for p in range(len(parts)):
        for r in range(first, last):
            for k in range(total.shape[1]):
                total[r, k] += parts[p, r, k]
                parts[p, r, k] = 0.0


@kernel
def draw_rows(first, last, gram, moment, alpha, precision, weighted_mean, key, out):
    """Draw rows first … last − 1 of B, C or D from their sums.

    gram (R, H), moment (R, Z) float64; out (R, z).
    """
    for r in range(first, last):
        state = np.empty(4, np.uint64)
        seed_stream(key, r, state)
        draw_row(gram[r], moment[r], alpha, precision, weighted_mean, state, out[r])
