"""Geweke's joint distribution test of the Poisson sampler; see `test_geweke`.

Factors and data drawn from the priors down, and a chain that alternates a Gibbs step of ours
with fresh data given Θ, must have the same distribution.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from doppeltrace.engine.local import use_threads
from doppeltrace.factorize import _poisson_kernels as kernels
from doppeltrace.factorize import poisson
from doppeltrace.factorize.state import Factors, Observations, State
from explicit_counts import expected, sparse

USERS, PLACES, SLOTS, Z = 4, 3, 2, 2
SHAPE, RATE = 1.5, 1.8
STEPS = 6_000
DIRECT = 20_000
BATCHES = 30


def _functions(theta, data):
    """Return (draws, functions): bounded functions of parameters and data."""
    values = []
    for m in (theta.A, theta.B, theta.C, theta.D):
        total = m.sum(axis=1)
        values += [
            m[:, 0, 0],
            m.mean(axis=(1, 2)),
            m[:, 0, 0] * m[:, 1, 0],
            m[:, 0, 0] * m[:, 0, 1],
            total[:, 0] * total[:, 1],
        ]
    for counts, rate in zip(data, expected(theta), strict=True):
        for value in (counts, counts > 0, counts * rate, (counts - rate) ** 2):
            values.append(value.mean(axis=(1, 2, 3)))
    for last in (theta.C, theta.D):
        values.append(theta.A[:, 0, 0] * theta.B[:, 0, 0] * last[:, 0, 0])
    columns = np.stack(values, axis=-1)
    return columns / (1 + columns)


def _prior_factors(rng, *draws):
    rows = (USERS, PLACES, PLACES, SLOTS)
    return Factors(*(rng.gamma(SHAPE, 1 / RATE, (*draws, n, Z)) for n in rows))


def _exposed(exposure):
    """Return E (places, places) written out, 1 without exposure."""
    return 1.0 if exposure is None else exposure.sparse.toarray() + exposure.floor


def _counts(rng, theta, exposure):
    moves, visits = expected(theta)
    return [rng.poisson(moves * _exposed(exposure)), rng.poisson(visits)]


def _direct(exposure):
    rng = np.random.default_rng(1)
    theta = _prior_factors(rng, DIRECT)
    return _functions(theta, _counts(rng, theta, exposure))


@pytest.fixture(scope="module")
def direct():
    """Functions of independent draws from the priors down."""
    return _direct(None)


def _chain(steps=STEPS, seed=11, exposure=None):
    """Return functions of the states of the successive-conditional chain."""
    rng = np.random.default_rng(seed)
    prior = poisson.GammaPrior(SHAPE, RATE)
    state = State(_prior_factors(rng), 0)
    factors, counts = [], []
    with use_threads(1):
        for _ in range(steps):
            data = _counts(rng, state.factors, exposure)
            factors.append(state.factors)
            counts.append(data)
            observed = Observations(*(sparse(tensor) for tensor in data))
            state, _ = poisson.step(state, observed, prior, seed, exposure)
    theta = Factors(*(np.array([getattr(f, name) for f in factors]) for name in "ABCD"))
    return _functions(theta, [np.array(tensor) for tensor in zip(*counts, strict=True)])


def _differences(direct, chain):
    """Return the differences of means in standard errors (batch means for the chain)."""
    batches = chain.reshape(BATCHES, -1, chain.shape[1]).mean(axis=1)
    variance = batches.var(axis=0, ddof=1) / BATCHES + direct.var(axis=0, ddof=1) / len(direct)
    return (chain.mean(axis=0) - direct.mean(axis=0)) / np.sqrt(variance)


def test_chain_has_the_joint_distribution(direct):
    z = _differences(direct, _chain())
    assert np.abs(z).max() < 4, np.round(z, 1)
    assert np.sqrt(np.mean(z**2)) < 1.6


def test_chain_has_the_joint_distribution_under_exposure():
    sparse_part = np.random.default_rng(3).gamma(1.0, 1.0, (PLACES, PLACES))
    sparse_part[0, 1:] = 0.0  # not symmetric, and with gaps
    exposure = poisson.Exposure(csr_array(sparse_part), 0.3)
    z = _differences(_direct(exposure), _chain(exposure=exposure))
    assert np.abs(z).max() < 4, np.round(z, 1)
    assert np.sqrt(np.mean(z**2)) < 1.6


@pytest.mark.parametrize("rows", [PLACES, SLOTS])
def test_a_wrong_rate_is_noticed(direct, monkeypatch, rows):
    draw_rows = kernels.draw_rows

    def wrong(first, last, counts, shape, rate, *rest):
        draw_rows(first, last, counts, shape, rate * (1.2 if len(counts) == rows else 1), *rest)

    monkeypatch.setattr(kernels, "draw_rows", wrong)
    assert np.abs(_differences(direct, _chain(STEPS // 2))).max() > 6


def test_a_wrong_split_is_noticed(direct, monkeypatch):
    """Weights a b² c in place of a b c: the units go to the right rows, in wrong shares."""
    draw_users = kernels.draw_users

    def wrong(*arguments):
        changed = list(arguments)
        changed[11] = arguments[11] ** 2
        draw_users(*changed)

    monkeypatch.setattr(kernels, "draw_users", wrong)
    assert np.abs(_differences(direct, _chain(STEPS // 2))).max() > 6
