import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.utility import cluster_members, cluster_tv
from doppeltrace.utility.clusters import uniform_cluster_tv


def test_members_are_the_top_tenth_of_each_column():
    factors = np.zeros((20, 2))
    factors[[3, 7], 0] = [1.0, 5.0]
    factors[[3, 9], 1] = [2.0, 1.0]
    np.testing.assert_array_equal(cluster_members(factors, 20), [[7, 3], [3, 9]])


def test_scale_of_a_column_does_not_matter():
    draws = np.random.default_rng(0)
    factors = draws.normal(size=(50, 3))
    scaled = factors * [1e-6, 1.0, 1e6]
    np.testing.assert_array_equal(cluster_members(factors, 50), cluster_members(scaled, 50))


def test_cluster_tv_by_hand(made, places, clock):
    train = made([0, 0, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3])
    synthetic = dt.SyntheticTraces(
        np.array([[2, 2, 2, 2], [0, 0, 0, 1]]), np.array([1, 0]), np.zeros(2), places, clock
    )
    members = np.array([[0], [1], [2]])
    # user 0: ½, ½ against ¾, ¼; user 1: equal; user 2 has no synthetic trace: uniform
    np.testing.assert_allclose(cluster_tv(train, synthetic, members), [0.25, 0.0, 0.75])
    np.testing.assert_allclose(uniform_cluster_tv(train, members), [0.5, 0.75, 0.75])


def test_wrong_shape_is_named():
    with pytest.raises(dt.InputError, match="3 training users"):
        cluster_members(np.ones((4, 2)), 3)
