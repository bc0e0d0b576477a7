"""The normal–Wishart hyperprior: update against the formula, draws against their moments."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.factorize.hyperprior import NormalWishart

DRAWS = 8_000


def _prior(z=3):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(z, z)) / 2
    return NormalWishart(rng.normal(size=z), 1.5, root @ root.T + np.eye(z) / 4, z + 5.0)


def _assert_mean(samples, expected):
    """Assert that the mean over draws is within 4.5 standard errors, entry by entry."""
    error = samples.std(axis=0) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0) - expected) < 4.5 * error)


def test_defaults_are_those_of_the_paper():
    prior = NormalWishart.of(5)
    np.testing.assert_array_equal(prior.mean, np.zeros(5))
    np.testing.assert_array_equal(prior.scale, np.eye(5))
    assert (prior.strength, prior.degrees) == (2.0, 5.0)


def test_draws_have_the_moments_of_the_distribution():
    prior = _prior()
    rng = np.random.default_rng(1)
    draws = [prior.draw(rng) for _ in range(DRAWS)]
    precision = np.array([psi.precision for psi in draws])
    mean = np.array([psi.mean for psi in draws])
    z, nu, w = 3, prior.degrees, prior.scale
    _assert_mean(precision, nu * w)
    # Cov[Λ_ij, Λ_kl] = ν (W_ik W_jl + W_il W_jk)
    variance = nu * (w**2 + np.outer(np.diag(w), np.diag(w)))
    _assert_mean((precision - nu * w) ** 2, variance)
    _assert_mean(mean, prior.mean)
    # Cov[μ] = E[Λ⁻¹] / β₀, E[Λ⁻¹] = W⁻¹ / (ν − z − 1)
    apart = mean - prior.mean
    expected = np.linalg.inv(w) / (nu - z - 1) / prior.strength
    _assert_mean(apart[:, :, None] * apart[:, None, :], expected)
    # given Λ the mean has precision β₀ Λ: β₀ (μ − μ₀)ᵀ Λ (μ − μ₀) is χ² with z degrees
    _assert_mean(prior.strength * np.einsum("ni,nij,nj->n", apart, precision, apart), z)


def test_posterior_follows_the_conjugate_update():
    prior = _prior()
    rows = np.random.default_rng(2).normal(1.0, 2.0, size=(7, 3))
    post = prior.given(rows)
    beta, n = prior.strength, 7
    # the same posterior from uncentred sums: W*⁻¹ = W⁻¹ + Σ aaᵀ + β₀μ₀μ₀ᵀ − β*μ*μ*ᵀ
    mean = (beta * prior.mean + rows.sum(axis=0)) / (beta + n)
    inverse = (
        np.linalg.inv(prior.scale)
        + rows.T @ rows
        + beta * np.outer(prior.mean, prior.mean)
        - (beta + n) * np.outer(mean, mean)
    )
    np.testing.assert_allclose(post.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.inv(post.scale), inverse, rtol=1e-9, atol=1e-9)
    assert (post.strength, post.degrees) == (beta + n, prior.degrees + n)


def test_posterior_does_not_depend_on_how_the_rows_arrive():
    prior = _prior()
    rows = np.random.default_rng(3).normal(size=(9, 3))
    at_once, in_turn = prior.given(rows), prior.given(rows[:4]).given(rows[4:])
    np.testing.assert_allclose(in_turn.mean, at_once.mean, rtol=1e-12)
    np.testing.assert_allclose(in_turn.scale, at_once.scale, rtol=1e-9)


def test_posterior_of_many_rows_finds_their_distribution():
    rng = np.random.default_rng(4)
    precision = np.array([[2.0, 0.8], [0.8, 1.0]])
    rows = rng.multivariate_normal([1.0, -2.0], np.linalg.inv(precision), size=50_000)
    psi = NormalWishart.of(2).given(rows).draw(rng)
    np.testing.assert_allclose(psi.mean, [1.0, -2.0], atol=0.05)
    np.testing.assert_allclose(psi.precision, precision, atol=0.06)


@pytest.mark.parametrize("wrong", [{"strength": 0}, {"scale": 0}, {"degrees": 2.5}])
def test_settings_out_of_range(wrong):
    with pytest.raises(dt.SettingsError):
        NormalWishart.of(3, **wrong)
