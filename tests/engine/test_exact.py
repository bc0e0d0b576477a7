"""Exact sums equal `math.fsum`, whatever the order, the threads or the parts."""

import math
import struct

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from doppeltrace.engine import exact
from doppeltrace.engine.local import use_threads

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def _nasty(rng, n):
    """Numbers of all sizes, with whatever nearly cancels them."""
    bits = rng.integers(0, 2**63, n, dtype=np.uint64) | (
        rng.integers(0, 2, n, dtype=np.uint64) << np.uint64(63)
    )
    values = bits.view(np.float64)
    values = values[np.isfinite(values) & (np.abs(values) < 1e300)]
    almost = -values[::2] * (1 + 2.0**-52)
    return rng.permutation(np.concatenate([values, almost]))


@given(st.lists(FINITE.filter(lambda x: abs(x) < 1e305), max_size=50))
def test_any_sum_is_that_of_fsum(values):
    assert exact.total(np.array(values, np.float64)) == math.fsum(values)


@pytest.mark.parametrize("seed", range(20))
def test_nasty_sums_are_those_of_fsum(seed):
    values = _nasty(np.random.default_rng(seed), 3000)
    assert exact.total(values) == math.fsum(values)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0, -0.0],
        [5e-324, 5e-324, -1.5e-323],
        [2.0**-1022, -5e-324],
        [1.0, 2.0**-53],  # a tie, to even
        [1.0 + 2.0**-52, 2.0**-53],  # a tie, to even, upwards
        [1.0, 2.0**-53, 5e-324],  # no tie
        [-1.0, -(2.0**-53), -5e-324],
        [1.7976931348623157e308, -1.7976931348623157e308, 1e-300],
        [1e16, 1.0, -1e16],
        [2.0**32 - 1, 1.0],
        [2.0**-1075 * 2**31] * 3,
        [1.7976931348623157e308, 1e291, -1e291],
    ],
)
def test_edges(values):
    assert exact.total(np.array(values, np.float64)) == math.fsum(values)


def test_every_shift_is_rounded_right():
    """The digits of a sum may begin at any bit of a word."""
    rng = np.random.default_rng(0)
    for exponent in range(-1074, 960):
        values = np.ldexp(rng.integers(-(2**53), 2**53, 7), exponent) * 2.0 ** -rng.integers(0, 60)
        assert exact.total(values) == math.fsum(values), exponent


def test_too_large_is_infinite_and_what_is_not_finite_is_not_a_number():
    largest = np.finfo(np.float64).max
    assert exact.total(np.array([largest, largest])) == math.inf
    assert exact.total(np.array([-largest, -largest])) == -math.inf
    for value in (math.inf, -math.inf, math.nan):
        assert math.isnan(exact.total(np.array([1.0, value])))


def test_threads_order_and_parts_change_no_bit():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((40_000, 3)) * np.exp(20 * rng.standard_normal((40_000, 3)))
    expected = [math.fsum(column) for column in rows.T]
    for number in (1, 2, 3, 7):
        with use_threads(number):
            np.testing.assert_array_equal(exact.column_sums(rows), expected)
    np.testing.assert_array_equal(exact.column_sums(rng.permutation(rows)), expected)
    parts = [exact.words_of(part) for part in np.array_split(rows, 11)]
    np.testing.assert_array_equal(exact.rounded(np.sum(parts, axis=0)), expected)


def test_segments():
    values = _nasty(np.random.default_rng(2), 500)
    starts = np.array([0, 0, 3, 700, len(values)])
    expected = [math.fsum(values[a:b]) for a, b in zip(starts[:-1], starts[1:], strict=True)]
    np.testing.assert_array_equal(exact.segment_sums(values, starts), expected)


def test_scatter_is_that_of_numpy_with_the_same_bits_in_any_threads():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((3_000, 5)) + 10
    centre = exact.column_means(rows)
    np.testing.assert_allclose(centre, rows.mean(axis=0), rtol=1e-14)
    expected = (rows - centre).T @ (rows - centre)
    found = []
    for number in (1, 2, 3):
        with use_threads(number):
            found.append(exact.scatter(rows, centre))
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    assert all(_bits(other) == _bits(found[0]) for other in found)


def _bits(values):
    return struct.pack(f"{values.size}d", *values.ravel())
