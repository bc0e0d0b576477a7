"""Geweke's joint distribution test of the whole Gaussian sampler.

Two ways to draw (Ψ, Θ, data) from their joint distribution must agree: directly, from the
priors down (marginal-conditional); and as a chain that alternates one Gibbs step of ours with
fresh data given Θ (successive-conditional). A wrong conditional anywhere makes them differ.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from doppeltrace.engine.local import use_threads
from doppeltrace.factorize import _kernels as kernels
from doppeltrace.factorize import gaussian
from doppeltrace.factorize.gaussian import Factors, Observations
from doppeltrace.factorize.hyperprior import NormalWishart
from doppeltrace.tensors import SparseTensor

USERS, PLACES, SLOTS, Z = 6, 4, 3, 2
ALPHA = 1.5
# μ₀ ≠ 0 and ν₀ large enough for the moments below to exist: rows are t with ν₀ − 1 degrees
PRIOR = NormalWishart.of(Z, mean=0.4, strength=2.0, scale=0.25, degrees=12.0)
STEPS = 5_000
DIRECT = 20_000
BATCHES = 25  # of some 200 steps: correlations are gone well within one


def _pattern(rng, shape, share):
    """Return an observed set that stays fixed: about `share` of all elements."""
    user, row, column = np.nonzero(rng.random(shape) < share)
    offsets = np.searchsorted(user, np.arange(shape[0] + 1))
    return SparseTensor(
        shape,
        offsets,
        row.astype(np.uint16),
        column.astype(np.uint16),
        np.zeros(len(user), np.float32),
    )


_RNG = np.random.default_rng(0)
PATTERN = Observations(
    _pattern(_RNG, (USERS, PLACES, PLACES), 0.3), _pattern(_RNG, (USERS, PLACES, SLOTS), 0.4)
)


def _estimates(theta):
    """Return r̂ of the observed transitions and visits; theta may have leading axes."""
    for tensor, last in ((PATTERN.transitions, theta.C), (PATTERN.visits, theta.D)):
        user = np.repeat(np.arange(USERS), np.diff(tensor.offsets))
        yield np.sum(
            theta.A[..., user, :] * theta.B[..., tensor.row, :] * last[..., tensor.column, :],
            axis=-1,
        )


def _data(theta, rng):
    return [r + rng.normal(size=r.shape) / np.sqrt(ALPHA) for r in _estimates(theta)]


def _functions(theta, data):
    """Return (draws, functions): bounded functions of parameters and data."""
    squash = np.tanh
    columns = []
    for m in (theta.A, theta.B, theta.C, theta.D):
        columns += [
            squash(m[..., 0, 0]),  # one entry
            squash(m.mean(axis=(-2, -1))),  # the mean that all rows share
            squash(m[..., 0, 0] ** 2),  # the spread of a row …
            squash(m[..., 0, 0] * m[..., 1, 0]),  # … what two rows share …
            squash(m[..., 0, 0] * m[..., 0, 1]),  # … what two columns share …
            squash(m.var(axis=-2).mean(axis=-1)),  # … and the spread within a matrix
        ]
    for values, estimate in zip(data, _estimates(theta), strict=True):
        columns += [
            squash(values.mean(axis=-1)),
            squash((values**2).mean(axis=-1) / 3),
            squash(((values - estimate) ** 2).mean(axis=-1)),
        ]
    columns.append(squash(theta.A[..., 0, 0] * theta.B[..., 0, 0] * theta.C[..., 0, 0]))
    columns.append(squash(theta.A[..., 0, 0] * theta.B[..., 0, 0] * theta.D[..., 0, 0]))
    return np.stack(columns, axis=-1)


@pytest.fixture(scope="module")
def direct():
    """Functions of independent draws from the priors down, without any code under test."""
    rng = np.random.default_rng(1)
    matrices = []
    for rows in (USERS, PLACES, PLACES, SLOTS):
        precision = stats.wishart(PRIOR.degrees, PRIOR.scale).rvs(DIRECT, random_state=rng)
        root = np.linalg.cholesky(np.linalg.inv(precision))
        mean = PRIOR.mean + (
            np.einsum("npq,nq->np", root, rng.normal(size=(DIRECT, Z))) / np.sqrt(PRIOR.strength)
        )
        noise = rng.normal(size=(DIRECT, rows, Z))
        matrices.append(mean[:, None, :] + np.einsum("npq,nrq->nrp", root, noise))
    theta = Factors(*matrices)
    return _functions(theta, _data(theta, rng))


def _chain(steps=STEPS, prior=PRIOR, seed=11):
    """Return functions of the states of the successive-conditional chain."""
    rng = np.random.default_rng(seed)
    state = gaussian.init(PATTERN, Z, seed)
    matrices = [np.empty((steps, n, Z)) for n in (USERS, PLACES, PLACES, SLOTS)]
    drawn = [np.empty((steps, t.n_elements)) for t in (PATTERN.transitions, PATTERN.visits)]
    with use_threads(1):
        for s in range(steps):
            data = _data(state.factors, rng)
            observed = Observations(
                *(
                    replace(tensor, count=values.astype(np.float32))
                    for tensor, values in zip(
                        (PATTERN.transitions, PATTERN.visits), data, strict=True
                    )
                )
            )
            state, _ = gaussian.step(state, observed, ALPHA, prior, seed)
            theta = state.factors
            for store, m in zip(matrices, (theta.A, theta.B, theta.C, theta.D), strict=True):
                store[s] = m
            for store, values in zip(drawn, _data(theta, rng), strict=True):
                store[s] = values
    burn_in = steps // 20
    theta = Factors(*(m[burn_in:] for m in matrices))
    return _functions(theta, [values[burn_in:] for values in drawn])


def _differences(direct, chain):
    """Return the differences of means in standard errors (batch means for the chain)."""
    usable = len(chain) // BATCHES * BATCHES
    batches = chain[:usable].reshape(BATCHES, -1, chain.shape[1]).mean(axis=1)
    variance = batches.var(axis=0, ddof=1) / BATCHES + direct.var(axis=0, ddof=1) / len(direct)
    return (chain[:usable].mean(axis=0) - direct.mean(axis=0)) / np.sqrt(variance)


def test_chain_has_the_joint_distribution(direct):
    z = _differences(direct, _chain())
    assert np.abs(z).max() < 4, np.round(z, 1)
    assert np.sqrt(np.mean(z**2)) < 1.6  # and not all of them at 3


def test_a_wrong_alpha_in_one_conditional_is_noticed(direct, monkeypatch):
    draw_rows = kernels.draw_rows

    def wrong_for_places(first, last, gram, moment, alpha, *rest):
        factor = 2.0 if len(gram) == PLACES else 1.0
        draw_rows(first, last, gram, moment, alpha * factor, *rest)

    monkeypatch.setattr(kernels, "draw_rows", wrong_for_places)
    assert np.abs(_differences(direct, _chain(STEPS // 4))).max() > 6


def test_the_uncentred_scatter_of_the_paper_is_noticed(direct):
    """The paper's S̄ is a misprint (docs/paper.md); the test sees the difference it makes."""

    class Misprinted(NormalWishart):
        def given(self, rows):
            right = super().given(rows)
            centre = rows.mean(axis=0)
            inverse = np.linalg.inv(right.scale) + len(rows) * np.outer(centre, centre)
            return replace(right, scale=np.linalg.inv(inverse))

    prior = Misprinted(PRIOR.mean, PRIOR.strength, PRIOR.scale, PRIOR.degrees)
    assert np.abs(_differences(direct, _chain(STEPS // 4, prior=prior))).max() > 6
