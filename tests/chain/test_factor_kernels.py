"""The kernels of the paper's chain: row sums by plain NumPy, bounds by what they bound."""

import numpy as np
import pytest
from numba import njit

from doppeltrace.chain import _factor_kernels as kernels
from doppeltrace.chain._protocol import (
    GROUP,
    MANY,
    begin_products,
    first_probability,
    log_stay,
    move_probability,
    multiply_by_move,
    multiply_by_stay,
    prepare,
    scratch_shape,
    tables_shape,
    tabulate,
    tabulate_stays,
)
from doppeltrace.chain._simd import MIN_FLOOR, PLACES, ROWS
from doppeltrace.chain.factor_chain import factor_chain
from doppeltrace.factorize.state import Factors


@pytest.mark.parametrize("factors", [8, 24])
@pytest.mark.parametrize("places", [1, ROWS, PLACES + 1, kernels._BAND + ROWS + 1, 3 * PLACES])
def test_inverse_row_sums(factors, places):
    """Any number of places, whole bands, rows and vectors or not; some weights clamped."""
    rng = np.random.default_rng(places)
    x = rng.normal(size=(3, factors))
    rows, others = rng.normal(size=(2, places, factors))
    out = np.full(places + 1, np.nan)
    kernels.inverse_row_sums(x, 1, rows, np.ascontiguousarray(others.T), 0.3, out)
    weights = np.maximum((x[1] * rows) @ others.T, 0.3)
    np.testing.assert_allclose(out[:places], 1 / weights.sum(axis=1), rtol=1e-12)
    assert np.isnan(out[places])
    assert places == 1 or 0 < np.mean(weights == 0.3) < 1


@njit
def _bounds(chain, users, slot, here, there):
    """Return (users,) exact probabilities to be first at a place, move and stay; and bounds."""
    scratch = np.empty((GROUP, *scratch_shape(chain, MANY)))
    tables = np.ones(tables_shape(chain))
    exact, bounds = np.empty((3, GROUP)), np.ones((4, GROUP))
    for m in range(GROUP):
        prepare(chain, users[m], scratch[m])
        tabulate(chain, users[m], m, scratch[m], tables)
        exact[0, m] = first_probability(chain, users[m], slot, here, scratch[m])
        exact[1, m] = move_probability(chain, users[m], slot, here, there, scratch[m])
    multiply_by_stay(chain, slot, here, tables, bounds[3])
    for m in range(GROUP):
        exact[2, m] = np.exp(log_stay(chain, users[m], slot, here, scratch[m]))
        tabulate_stays(chain, here, m, scratch[m], tables)
    begin_products(chain, slot, here, tables, bounds[0])
    multiply_by_move(chain, slot, here, there, tables, bounds[1])
    multiply_by_stay(chain, slot, here, tables, bounds[2])
    return exact, bounds


@pytest.mark.parametrize("factors", [3, 16])
@pytest.mark.parametrize("floor", [1e-60, MIN_FLOOR, 1e-8, 0.1])
def test_products_are_no_less_than_probabilities_and_hardly_more(factors, floor):
    rng = np.random.default_rng(factors)
    shapes = ((GROUP, factors), (11, factors), (11, factors), (3, factors))
    chain = factor_chain(Factors(*(rng.normal(0.3, 1, size=s) for s in shapes)), floor=floor)
    users = rng.permutation(GROUP)
    excess = []
    for here in range(11):
        there = (here + 1 + rng.integers(10)) % 11
        exact, bounds = _bounds(chain, users, rng.integers(3), here, there)
        assert np.all(bounds[:3] >= exact)
        np.testing.assert_array_equal(bounds[3], 1.0)  # nothing was known of the stays
        excess.append(bounds[:3] / exact - 1)
    if floor >= MIN_FLOOR:
        assert np.median(excess) < 1e-5
