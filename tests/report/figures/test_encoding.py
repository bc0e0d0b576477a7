"""Shares in little space."""

import numpy as np
import pytest

from doppeltrace.report.figures.encoding import packed, plain, unpacked


def test_packing_keeps_small_shares_apart():
    shares = np.array([0.0, 1e-5, 3e-4, 0.02, 0.3])
    again = unpacked(packed(shares, 0.3), 0.3)
    assert np.allclose(again, shares, rtol=0.005)
    assert again[0] == 0 and again[-1] == pytest.approx(0.3)
    assert unpacked(packed(np.zeros(3), 0.0), 0.0).tolist() == [0, 0, 0]
    assert plain([1 / 3, np.nan, 1234567.0], 3) == [0.333, None, 1230000.0]
