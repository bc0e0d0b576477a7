"""Kernels of exact sums; see `exact` for what the words mean."""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace.engine.kernel import kernel

WORDS = 68
"""Words per sum: 67 of 32 bits hold any sum of float64, the last counts what is not finite."""

_NOT_FINITE = WORDS - 1
_BETWEEN_CARRIES = 512  # a number adds less than 2^53 to a word, which holds less than 2^63
_LOW = np.int64(0xFFFFFFFF)
_FRACTION = np.int64((1 << 52) - 1)
_IMPLIED = np.int64(1 << 52)


@kernel
def _carry(words):
    """Bring all words but the highest into 0 … 2^32 − 1; words (WORDS,)."""
    for w in range(_NOT_FINITE - 1):
        high = words[w] >> 32  # rounds down, for negative words too
        words[w] -= high << 32
        words[w + 1] += high


@kernel
def _add(bits, words):
    """Add a float64, given as the int64 of the same bits."""
    exponent = (bits >> 52) & 0x7FF
    fraction = bits & _FRACTION
    if exponent == 0x7FF:
        words[_NOT_FINITE] += 1
        return
    if exponent == 0:
        exponent = np.int64(1)
    else:
        fraction |= _IMPLIED
    w, shift = exponent >> 5, exponent & 31
    low, high = (fraction << shift) & _LOW, fraction >> (32 - shift)
    if bits < 0:
        low, high = -low, -high
    words[w] += low
    words[w + 1] += high


@kernel
def add_rows(first, last, bits, words):
    """Add rows first … last − 1 of bits (N, K), float64 seen as int64, to words (K, WORDS)."""
    for start in range(first, last, _BETWEEN_CARRIES):
        for n in range(start, min(start + _BETWEEN_CARRIES, last)):
            for k in range(bits.shape[1]):
                _add(bits[n, k], words[k])
        for k in range(bits.shape[1]):
            _carry(words[k])


@kernel
def nearest(words):
    """Return the float64 nearest to a sum, ties to even; brings words (WORDS,) in order."""
    _carry(words)
    if words[_NOT_FINITE] > 0:
        return np.nan
    sign = 1.0
    if words[_NOT_FINITE - 1] < 0:
        sign = -1.0
        for w in range(_NOT_FINITE):
            words[w] = -words[w]
        _carry(words)
    top = _NOT_FINITE - 1
    while top > 0 and words[top] == 0:
        top -= 1
    highest = 32 * top - 1
    rest = words[top]
    while rest > 0:
        rest >>= 1
        highest += 1
    if highest < 0:
        return 0.0
    lowest = max(highest - 52, 1)  # bit b weighs 2^(b − 1075), and 2^−1074 is the least of all
    w, shift = lowest >> 5, lowest & 31
    digits = (words[w] >> shift) | (words[w + 1] << (32 - shift))
    if shift > 11:
        digits |= words[w + 2] << (64 - shift)
    digits &= (_IMPLIED << 1) - 1
    below = lowest - 1
    half = (words[below >> 5] >> (below & 31)) & 1
    if half == 1:
        more = (words[below >> 5] & ((np.int64(1) << (below & 31)) - 1)) != 0
        for v in range(below >> 5):
            more |= words[v] != 0
        if more or digits & 1:
            digits += 1
    return sign * math.ldexp(np.float64(digits), lowest - 1075)


@kernel
def segment_sums(bits, starts, out):
    """Write the sums of bits[starts[i]] … bits[starts[i + 1] − 1], rounded, to out."""
    words = np.zeros((1, WORDS), np.int64)
    for i in range(len(out)):
        words[:] = 0
        add_rows(starts[i], starts[i + 1], bits, words)
        out[i] = nearest(words[0])


@kernel
def add_squares(first, last, rows, centre, out):
    """Write Σ (x − c)(x − c)ᵀ, upper triangle row by row, of rows first … last − 1 to out."""
    z = len(centre)
    apart = np.empty(z)
    out[:] = 0.0
    for n in range(first, last):
        for k in range(z):
            apart[k] = rows[n, k] - centre[k]
        at = 0
        for p in range(z):
            for q in range(p, z):
                out[at] += apart[p] * apart[q]
                at += 1
