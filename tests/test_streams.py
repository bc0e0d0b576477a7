"""The random streams: NumPy's SFC64 bit for bit, independent starts, right distributions."""

import secrets

import numpy as np
import pytest
from scipy import stats

from doppeltrace import _stream_kernels as kernels
from doppeltrace import streams

DRAWS = 60_000
MIN_P = 1e-4  # one seeded draw: fails by chance once in ten thousand choices of the seed


def _state(seed=0, user=0, purpose="test"):
    state = np.empty(4, np.uint64)
    kernels.seed_stream(streams.key(seed, purpose), user, state)
    return state


def _draws(draw, *arguments, n=DRAWS, seed=0):
    state = _state(seed)
    return np.array([draw(state, *arguments) for _ in range(n)])


def test_bits_are_those_of_numpy():
    state = np.array([3, 2**63 + 5, 2**64 - 1, 2**64 - 40], np.uint64)  # the counter wraps
    twin = np.random.SFC64(0)
    twin.state = {
        "bit_generator": "SFC64",
        "state": {"state": state.copy()},
        "has_uint32": 0,
        "uinteger": 0,
    }
    expected = twin.random_raw(1000)
    assert [int(kernels.next_uint64(state)) for _ in range(1000)] == [int(x) for x in expected]
    np.testing.assert_array_equal(state, twin.state["state"]["state"])


def test_uniform_is_that_of_numpy():
    state = _state()
    twin = np.random.SFC64(0)
    twin.state = {
        "bit_generator": "SFC64",
        "state": {"state": state.copy()},
        "has_uint32": 0,
        "uinteger": 0,
    }
    expected = np.random.Generator(twin).random(100)
    np.testing.assert_array_equal([kernels.uniform(state) for _ in range(100)], expected)


def test_streams_differ_between_users_purposes_paths_and_seeds():
    keys = [
        streams.key(seed, purpose, *path)
        for seed in (0, 1, 2**100)
        for purpose in ("traces", "draw A")
        for path in ((), (0,), (1,), (0, 1), (1, 0))
    ]
    first = set()
    for key in keys:
        for user in (0, 1, 2, 3, 2**20, 2**40):
            state = np.empty(4, np.uint64)
            kernels.seed_stream(key, user, state)
            first.add(tuple(int(kernels.next_uint64(state)) for _ in range(2)))
    assert len(first) == len(keys) * 6


def test_streams_of_neighbouring_users_are_unrelated():
    key = streams.key(7, "traces")
    values = np.empty((400, 400))
    state = np.empty(4, np.uint64)
    for user in range(len(values)):
        kernels.seed_stream(key, user, state)
        values[user] = [kernels.uniform(state) for _ in range(values.shape[1])]
    # the first number of each user's stream, in user order, is a uniform sample …
    assert stats.kstest(values[:, 0], "uniform").pvalue > MIN_P
    # … and correlations of neighbours have mean 0 and standard error 1/√400 each
    z = (values - 0.5) * np.sqrt(12)
    correlation = (z[1:] * z[:-1]).mean(axis=1) * np.sqrt(values.shape[1])
    assert abs(correlation.mean()) * np.sqrt(len(correlation)) < 4
    assert 0.8 < correlation.var() < 1.25


def test_same_key_and_user_give_the_same_stream():
    for one, other in ((_state(5, 9), _state(5, 9)), (_state(2**127, 0), _state(2**127, 0))):
        assert [kernels.normal(one) for _ in range(5)] == [kernels.normal(other) for _ in range(5)]
    np.testing.assert_array_equal(
        streams.generator(3, "subset", 1).random(4), streams.generator(3, "subset", 1).random(4)
    )
    assert streams.generator(3, "subset", 1).random() != streams.generator(3, "subset", 2).random()


def test_fresh_seeds_differ(monkeypatch):
    monkeypatch.setattr(streams, "secrets", secrets)  # not this test's own
    assert streams.fresh_seed() != streams.fresh_seed()


def test_uniform_distribution():
    values = _draws(kernels.uniform)
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > MIN_P


def test_normal_distribution():
    values = _draws(kernels.normal)
    assert abs(values.mean()) < 4 / np.sqrt(DRAWS)
    assert abs(values.var() - 1) < 4 * np.sqrt(2 / DRAWS)
    assert stats.kstest(values, "norm").pvalue > MIN_P
    # successive values are independent: they do not share a Box–Muller pair
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 4 / np.sqrt(DRAWS)


@pytest.mark.parametrize("shape", [0.1, 0.7, 1.0, 2.5, 40.0])
def test_gamma_distribution(shape):
    values = _draws(kernels.gamma, shape, n=20_000)
    assert abs(values.mean() - shape) < 4 * np.sqrt(shape / len(values))
    # Var of the sample variance: (μ₄ − σ⁴)/n with μ₄ = 3k² + 6k
    spread = np.sqrt((2 * shape**2 + 6 * shape) / len(values))
    assert abs(values.var() - shape) < 4 * spread
    assert stats.kstest(values, stats.gamma(shape).cdf).pvalue > MIN_P


@pytest.mark.parametrize("bound", [1, 2, 7, 1000])
def test_below_is_uniform_on_the_integers(bound):
    values = _draws(kernels.below, bound, n=20_000)
    counts = np.bincount(values, minlength=bound)
    assert len(counts) == bound
    assert bound == 1 or stats.chisquare(counts).pvalue > MIN_P
