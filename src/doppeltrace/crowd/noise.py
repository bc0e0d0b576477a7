"""Where privacy noise comes from: OpenDP's exact discrete Gaussian over integers.

It draws from the operating system, never from a seed, and has none of the holes that noise in
floating-point numbers has (Mironov, CCS 2012).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from doppeltrace.errors import SettingsError

Integers = NDArray[np.int64]


class Noise(Protocol):
    """Adds noise to integers."""

    def add(self, value: Integers, scale: float) -> Integers:
        """Return value + noise; `scale` is the σ of each entry, in the integers' unit."""


class DiscreteGaussian:
    """Noise of the discrete Gaussian: P(k) ∝ exp(−k² / 2σ²)."""

    def __init__(self) -> None:
        try:
            import opendp.prelude as dp
        except ImportError as error:
            raise SettingsError(
                "noise needs OpenDP: pip install 'doppeltrace[private]' (or epsilon=None: no "
                "noise and no guarantee)"
            ) from error
        dp.enable_features("contrib")
        self._dp = dp

    def add(self, value: Integers, scale: float) -> Integers:
        """Return value + noise."""
        dp = self._dp
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
        measurement = dp.m.make_gaussian(*space, scale=scale)
        noisy = measurement(value.ravel().tolist())
        return np.array(noisy, dtype=np.int64).reshape(value.shape)


class NoNoise:
    """Adds nothing: what `epsilon=None` asks for."""

    def add(self, value: Integers, scale: float) -> Integers:
        """Return the value itself."""
        return value.copy()
