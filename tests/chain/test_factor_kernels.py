"""The row sums of the paper's chain against plain NumPy."""

import numpy as np
import pytest

from doppeltrace.chain import _factor_kernels as kernels
from doppeltrace.chain._simd import PLACES, ROWS


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
