"""κ over every element, against the tensor written out."""

import numpy as np
import pytest

from doppeltrace.factorize import excess as room
from doppeltrace.factorize.excess import excess


@pytest.mark.parametrize("chunk", [1, 20, 10_000])
def test_it_is_what_the_whole_tensor_says(monkeypatch, chunk):
    monkeypatch.setattr(room, "CHUNK", chunk)
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=(n, 3)) for n in (6, 5, 7))
    whole = np.einsum("nk,ik,jk->nij", a, b, c)
    for most in (0.5, 2.0, 100.0):
        wanted = max(0.0, -whole.min(), whole.max() - most)
        assert excess((a, b, c), most) == pytest.approx(wanted)


def test_nothing_is_in_excess():
    ones = np.ones((2, 1))
    assert excess((ones, ones, ones), 1.0) == 0.0
