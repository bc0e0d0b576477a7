"""The normal–Wishart hyperprior of a factor matrix and its conjugate update.

No matrix product is left to a library, whose own threads would change the last bits of a draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.engine import exact
from doppeltrace.errors import require
from doppeltrace.factorize import _dense_kernels as dense


@dataclass(frozen=True, eq=False)
class Hyper:
    """Ψ = (μ, Λ): mean (z,) and precision (z, z) of the rows of a factor matrix."""

    mean: NDArray[np.float64]
    precision: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NormalWishart:
    """p(Ψ) = N(μ | μ₀, (β₀Λ)⁻¹) W(Λ | W₀, ν₀).

    Attributes
    ----------
    mean : μ₀ (z,).
    strength : β₀ > 0.
    scale : W₀ (z, z), positive definite.
    degrees : ν₀ ≥ z.
    """

    mean: NDArray[np.float64]
    strength: float
    scale: NDArray[np.float64]
    degrees: float

    @classmethod
    def of(
        cls,
        factors: int,
        *,
        mean: float = 0.0,
        strength: float = 2.0,
        scale: float = 1.0,
        degrees: float | None = None,
    ) -> NormalWishart:
        """Return the paper's prior: μ₀ = 0, β₀ = 2, W₀ = I, ν₀ = z unless given otherwise."""
        degrees = float(factors) if degrees is None else degrees
        require(strength > 0, "beta0 must be positive")
        require(scale > 0, "w0 must be positive")
        require(degrees >= factors, f"nu0 must be at least the number of factors ({factors})")
        return cls(np.full(factors, mean), strength, np.eye(factors) * scale, degrees)

    def given(self, rows: NDArray[np.float64]) -> NormalWishart:
        """Return the posterior given the rows (R, z), eqs. (p_psiA_A) to (bar_S).

        The paper's S̄ is the uncentred second moment, after a misprint in the BPMF paper;
        the conjugate update needs the centred scatter, which stands here.
        """
        n = len(rows)
        centre = exact.column_means(rows)
        apart = self.mean - centre
        scatter = exact.scatter(rows, centre)
        pull = self.strength * n / (self.strength + n)
        inverse = dense.inverse(self.scale) + scatter + pull * np.outer(apart, apart)
        return NormalWishart(
            (self.strength * self.mean + n * centre) / (self.strength + n),
            self.strength + n,
            dense.inverse(inverse),
            self.degrees + n,
        )

    def draw(self, rng: np.random.Generator) -> Hyper:
        """Draw Ψ: Λ by Bartlett's decomposition, then μ given Λ."""
        z = len(self.mean)
        root = np.tril(rng.standard_normal((z, z)), -1)
        root[np.diag_indices(z)] = np.sqrt(rng.chisquare(self.degrees - np.arange(z)))
        root = dense.product(dense.cholesky(self.scale), root)  # lower, Λ = root rootᵀ
        offset = dense.solve_transposed(root, rng.standard_normal((z, 1)))[:, 0]
        precision = dense.product(root, np.ascontiguousarray(root.T))
        return Hyper(self.mean + offset / np.sqrt(self.strength), precision)
