"""The sparse kernels against plain dense twins."""

import numpy as np
import pytest

from doppeltrace.attacks.knowledge import FLOOR, Matrices
from doppeltrace.attacks.membership import membership_scores
from doppeltrace.attacks.reidentification import guess_users


def dense(traces) -> np.ndarray:
    """Return (n_users, n_places, n_places) maximum-likelihood matrices, zero where unseen."""
    n = len(traces.places)
    counts = np.zeros((traces.n_users, n, n))
    user, origin, destination, _ = traces.transitions()
    np.add.at(counts, (user, origin, destination), 1)
    return counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)


def filled_log(matrix: np.ndarray) -> np.ndarray:
    return np.log(np.where(matrix < 1e-15, FLOOR, matrix))


@pytest.fixture
def world(city, people):
    """Few places, so that users overlap; some events are missing."""
    draws = np.random.default_rng(7)

    def rows(seed, n):
        return np.where(draws.random((n, 24)) < 0.1, -1, people(seed, n) % 9)

    train, test = (city(rows(seed, 15)).as_traces() for seed in (1, 2))
    synthetic = city(rows(3, 40), owner=np.arange(40) % 15, replicate=np.arange(40) // 15)
    return train, test, synthetic


def test_matrices_hold_the_dense_probabilities(world):
    train, test, _ = world
    matrices = Matrices.of(train, test)
    expected = np.concatenate([dense(train), dense(test)])
    found = np.zeros_like(expected)
    pair = np.repeat(matrices.pair, matrices.holders)
    found[matrices.user, pair // matrices.n_places, pair % matrices.n_places] = (
        matrices.probability
    )
    np.testing.assert_allclose(found, expected)


def test_guesses_equal_the_dense_argmax(world):
    train, _, synthetic = world
    log = filled_log(dense(train))
    traces = synthetic.as_traces()
    trace, origin, destination, _ = traces.transitions()
    expected = []
    for y in range(len(synthetic)):
        steps = trace == y
        terms = log[:, origin[steps], destination[steps]]
        expected.append(np.cumsum(terms, axis=1)[:, -1].argmax())
    np.testing.assert_array_equal(guess_users(train, traces), expected)


def test_traces_nobody_knows_go_to_the_first_user(city):
    train = city([[0] * 24, [1] * 24]).as_traces()
    strangers = city([[5] * 24, [1] * 24, [0, -1] * 12]).as_traces()
    np.testing.assert_array_equal(guess_users(train, strangers), [0, 1, 0])


@pytest.mark.parametrize("users", [np.arange(30), np.array([29, 3, 17])])
def test_membership_scores_equal_the_dense_ones(world, users):
    train, test, synthetic = world
    all_users = np.concatenate([dense(train), dense(test)])
    total = all_users.sum(axis=0)
    trace, origin, destination, _ = synthetic.as_traces().transitions()
    expected = np.full((len(users), 3), -np.inf)
    for i, n in enumerate(users):
        others = (total - all_users[n]) / (len(all_users) - 1)
        ratio = filled_log(all_users[n]) - filled_log(others)
        sums = np.bincount(trace, ratio[origin, destination], minlength=len(synthetic))
        for r in range(3):
            expected[i, r] = sums[synthetic.replicate == r].max()
    matrices = Matrices.of(train, test)
    found = matrices.look_up(synthetic.as_traces())
    scores = membership_scores(matrices, *found, synthetic.replicate, users)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
