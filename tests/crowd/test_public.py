"""Public inputs: from places and clock alone."""

import datetime

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.crowd.graph import MoveGraph, Moves
from doppeltrace.crowd.public import PublicInputs, bands, kd_groups, length_edges, nearest


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).random((200, 2)) * 10


def test_groups_are_even_and_deeper_ones_refine(points):
    coarse, fine = kd_groups(points, 3), kd_groups(points, 5)
    assert coarse.max() + 1 == 8 and fine.max() + 1 == 32
    assert np.bincount(coarse).tolist() == [25] * 8
    assert np.ptp(np.bincount(fine)) <= 1
    for group in range(32):
        assert len(np.unique(coarse[fine == group])) == 1


def test_no_more_groups_than_places(points):
    assert kd_groups(points[:3], 6).tolist() in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0],
                                                 [2, 0, 1], [2, 1, 0])  # fmt: skip
    assert kd_groups(points[:1], 6).tolist() == [0]


def test_nearest_places(points):
    found = nearest(points, 5)
    away = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(away, np.inf)
    np.testing.assert_array_equal(found, np.sort(np.argsort(away, axis=1)[:, :5], axis=1))
    assert nearest(points[:1], 5).shape == (1, 0)
    same = np.zeros((4, 2))  # four places at one point
    assert all(x not in row for x, row in enumerate(nearest(same, 3)))


def test_edges_grow(points):
    assert np.all(np.diff(length_edges(points)) > 0)
    assert len(length_edges(points[:1])) == 1
    assert len(length_edges(np.zeros((3, 2)))) == 1


def test_bands():
    assert bands(6, 3).tolist() == [0, 0, 1, 1, 2, 2]
    assert bands(2, 6).tolist() == [0, 1]


@pytest.mark.parametrize("n", [1, 2, 30, 700])
def test_every_move_is_near_or_far_and_sums_agree(n):
    rng = np.random.default_rng(n)
    places = dt.Places(np.arange(n), 35 + rng.random(n), 139 + rng.random(n))
    clock = dt.Clock(np.arange(4), 1200, datetime.datetime(2020, 1, 1, 9))
    public = PublicInputs.of(places, clock)
    graph = MoveGraph.of(public, 4)
    near = np.zeros((n, n), bool)
    near[graph.origin, graph.place] = True
    assert not near.diagonal().any()
    apart = graph.group[:, None] != graph.group
    assert np.all(near | apart | np.eye(n, dtype=bool))
    between = rng.random((graph.n_groups,) * 2)
    np.fill_diagonal(between, 0)
    moves = Moves(graph, rng.random(len(graph.place)), rng.random(n), between, rng.random(n))
    matrix = moves.out[:, None] * between[graph.group][:, graph.group] * moves.into
    matrix[graph.origin, graph.place] += moves.near
    np.testing.assert_allclose(moves.leaving(), matrix.sum(axis=1))
    np.testing.assert_allclose(moves.arriving(), matrix.sum(axis=0))
    assert moves.total() == pytest.approx(matrix.sum())
    level = public.levels[-1]
    top = level.max() + 1
    sums = np.zeros((top, top))
    np.add.at(sums, (level[:, None], level[None]), matrix)
    np.testing.assert_allclose(moves.between_parents(), sums)
    assert np.all(graph.find(graph.origin, graph.place) == np.arange(len(graph.place)))
    here = np.arange(n)
    assert np.all(graph.find(here, here) == -1)
    factor = rng.random((top, top))
    np.testing.assert_allclose(moves.times_parents(factor).between_parents(), sums * factor)
