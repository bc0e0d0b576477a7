"""Groups of users who are alike: their sizes, what they keep together, odd cases."""

import numpy as np
import pytest

from doppeltrace.population.groups import alike, group_means


@pytest.mark.parametrize("n", [20, 39, 40, 157, 1000])
@pytest.mark.parametrize("size", [1, 2, 10])
def test_sizes(n, size):
    rows = np.random.default_rng(n).dirichlet([0.3] * 6, n)
    label = alike(rows, size)
    sizes = np.bincount(label)
    assert size <= sizes.min()
    assert sizes.max() < 2 * size
    firsts = np.unique(label, return_index=True)[1]
    assert np.all(np.diff(firsts) > 0)  # numbered in the order of their first members


def test_few_rows_are_one_group():
    assert not alike(np.eye(19), 10).any()


def test_the_same_rows_are_halved_all_the_same():
    sizes = np.bincount(alike(np.ones((100, 3)), 10))
    assert 10 <= sizes.min() <= sizes.max() < 20


def test_clumps_that_fit_are_found():
    """Eight clumps of 12 in five dimensions, 20 standard deviations apart: each is a group."""
    rng = np.random.default_rng(3)
    clump = rng.permutation(np.repeat(np.arange(8), 12))
    rows = 20.0 * rng.normal(size=(8, 5))[clump] + rng.normal(size=(96, 5)) * 0.1
    label = alike(rows, 10)
    assert len(np.unique(np.stack([clump, label]), axis=1).T) == 8


def test_groups_are_nearer_than_chance():
    """Rows along a line in noise: within a group they differ far less than among all."""
    rng = np.random.default_rng(1)
    place = rng.uniform(0, 10, 400)
    rows = place[:, None] * np.array([1.0, -2.0, 0.5]) + rng.normal(0, 0.05, (400, 3))
    label = alike(rows, 10)
    within = rows - group_means(rows, label)[label]
    assert within.var() < 0.01 * rows.var()


def test_means():
    rows, label = np.arange(8.0).reshape(4, 2), np.array([1, 0, 1, 0])
    np.testing.assert_allclose(group_means(rows, label), [[4, 5], [2, 3]])
