"""Sums cell by cell: the index, its kernels, and the same draws as user by user."""

import numpy as np
import pytest

from doppeltrace.engine.local import use_threads
from doppeltrace.factorize import _cell_kernels as kernels
from doppeltrace.factorize import cells, gaussian, sums
from doppeltrace.factorize.hyperprior import NormalWishart
from doppeltrace.factorize.state import Observations
from doppeltrace.tensors import SparseTensor


def _tensor(rng, shape, share):
    """Return about `share` of all elements of a tensor, half of them zero."""
    user, row, column = np.nonzero(rng.random(shape) < share)
    count = rng.integers(0, 4, len(user)) * (rng.random(len(user)) < 2 / 3)
    return SparseTensor(
        shape,
        np.searchsorted(user, np.arange(shape[0] + 1)),
        row.astype(np.uint16),
        column.astype(np.uint16),
        count.astype(np.uint8),
    )


def _user(tensor):
    return np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))


def _tiles(matrix):
    """Return the 4 × 4 tiles on and above the diagonal, one after the other."""
    extra = -len(matrix) % 4
    full = np.pad(matrix, (0, extra))
    starts = range(0, len(full), 4)
    tiles = [full[p : p + 4, q : q + 4] for p in starts for q in starts if q >= p]
    return np.concatenate(tiles, axis=None)


def test_index_by_hand():
    tensor = SparseTensor(
        (3, 2, 2),
        np.array([0, 2, 3, 6]),
        np.array([0, 1, 0, 0, 1, 1], np.uint16),
        np.array([1, 0, 1, 1, 0, 1], np.uint16),
        np.array([0, 0, 5, 0, 7, 1], np.uint8),
    )
    found = cells.cells_of(tensor)
    np.testing.assert_array_equal(found.starts, [0, 0, 3, 5, 6])
    np.testing.assert_array_equal(found.users[:6], [1, 0, 2, 2, 0, 2])
    np.testing.assert_array_equal(found.counted_starts, [0, 0, 1, 2, 3])
    np.testing.assert_array_equal(found.counts, [5, 7, 1])


def test_cells_are_full_from_enough_elements_on():
    n = cells.ENOUGH
    row = np.zeros(6 * n, np.uint16)
    full = SparseTensor((6 * n, 2, 3), np.arange(6 * n + 1), row, row, row)
    assert cells.are_full(full)
    fewer = SparseTensor(full.shape, full.offsets, row[1:], row[1:], row[1:])
    assert not cells.are_full(fewer)
    assert cells.are_full(SparseTensor.empty_like(full))


@pytest.mark.parametrize("z", [3, 16])
@pytest.mark.parametrize("users", [1, 7, 700, kernels.CHUNK + 300])
def test_sums_of_a_rows_cells(z, users):
    rng = np.random.default_rng(users)
    tensor = _tensor(rng, (users, 2, 3), 0.4)
    a = rng.normal(size=(users, z))
    pa = sums.padded(a)
    grams = np.full((3, sums.gram_size(pa)), np.nan, np.float32)
    moments = np.full((3, pa.shape[1]), np.nan, np.float32)
    kernels.sum_cells(cells.cells_of(tensor), 1, pa, sums.quads(pa), grams, moments)
    for column in range(3):
        here = (tensor.row == 1) & (tensor.column == column)
        f, r = a[_user(tensor)[here]], tensor.count[here].astype(float)
        tolerance = {"rtol": 1e-4, "atol": 1e-3 * max(1, users / 1000)}
        np.testing.assert_allclose(moments[column, :z], r @ f, **tolerance)
        np.testing.assert_allclose(grams[column], _tiles(f.T @ f), **tolerance)


def test_a_rows_square():
    row = np.arange(1.0, 9.0)
    out = np.empty(48)
    kernels.write_square(row, out)
    np.testing.assert_array_equal(out, _tiles(np.outer(row, row)))


def _step(observations, z, threads=None):
    state = gaussian.init(observations, z, 1)
    prior = NormalWishart.of(z, mean=0.0, strength=2.0, scale=1.0, degrees=z)
    with use_threads(threads):
        return gaussian.step(state, observations, 5.0, prior, 1)[0].factors


@pytest.mark.parametrize("z", [3, 16])
@pytest.mark.parametrize("without", [None, "transitions", "visits"])
def test_the_draws_are_those_of_sums_by_user(monkeypatch, z, without):
    """Same streams, same conditionals: they differ by single precision only."""
    rng = np.random.default_rng(3)
    tensors = {
        "transitions": _tensor(rng, (400, 19, 19), 0.1),
        "visits": _tensor(rng, (400, 19, 3), 0.1),
    }
    if without is not None:
        tensors[without] = SparseTensor.empty_like(tensors[without])
    monkeypatch.setattr(cells, "ENOUGH", 1)
    by_cell = Observations(**tensors)
    assert by_cell.cells is not None
    found = _step(by_cell, z)
    monkeypatch.setattr(cells, "ENOUGH", 10_000)
    by_user = Observations(**tensors)
    assert by_user.cells is None
    expected = _step(by_user, z)
    for name in "ABCD":
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-3, atol=1e-3, err_msg=name
        )


def test_threads_change_no_bit():
    rng = np.random.default_rng(4)
    observed = Observations(_tensor(rng, (300, 40, 40), 0.1), _tensor(rng, (300, 40, 3), 0.2))
    assert observed.cells is not None
    one, two = (_step(observed, 16, threads) for threads in (1, 2))
    for name in "ABCD":
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
