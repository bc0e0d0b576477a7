"""The noise itself: its law, and that no seed decides it."""

import builtins

import numpy as np
import pytest
from scipy import stats

from doppeltrace.crowd.noise import DiscreteGaussian, NoNoise
from doppeltrace.errors import SettingsError


def test_it_is_a_discrete_gaussian():
    """Cell probabilities ∝ exp(−k² / 2σ²): a chi-square test at one in ten thousand."""
    sigma, n = 3.0, 20_000
    drawn = DiscreteGaussian().add(np.zeros(n, np.int64), sigma)
    k = np.arange(-9, 10)
    p = np.exp(-(k**2) / (2 * sigma**2))
    every = np.exp(-(np.arange(-60, 61) ** 2) / (2 * sigma**2)).sum()
    inside = np.abs(drawn) <= 9
    expected = np.append(p / every, 1 - p.sum() / every) * n
    seen = np.append(np.bincount(drawn[inside] + 9, minlength=19), np.sum(~inside))
    assert stats.chisquare(seen, expected).pvalue > 1e-4


def test_shape_and_centre_are_kept():
    value = np.arange(12, dtype=np.int64).reshape(3, 4) * 1000
    noisy = DiscreteGaussian().add(value, 1.0)
    assert noisy.shape == (3, 4) and noisy.dtype == np.int64
    assert np.abs(noisy - value).max() < 12


def test_two_draws_differ_whatever_numpy_is_seeded_with():
    drawn = []
    for _ in range(2):
        np.random.seed(1)  # noqa: NPY002
        drawn.append(DiscreteGaussian().add(np.zeros(50, np.int64), 1e6))
    assert not np.array_equal(*drawn)


def test_no_noise_copies():
    value = np.arange(3)
    out = NoNoise().add(value, 5.0)
    assert out is not value and out.tolist() == [0, 1, 2]


def test_without_opendp_one_line_names_the_remedy(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **more):
        if name.startswith("opendp"):
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(SettingsError, match=r"pip install 'doppeltrace\[private\]'"):
        DiscreteGaussian()
