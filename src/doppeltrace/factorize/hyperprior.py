"""The normal–Wishart hyperprior of a factor matrix and its conjugate update."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.errors import require


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
        centre = rows.mean(axis=0)
        apart = self.mean - centre
        scatter = (rows - centre).T @ (rows - centre)
        pull = self.strength * n / (self.strength + n)
        inverse = np.linalg.inv(self.scale) + scatter + pull * np.outer(apart, apart)
        return NormalWishart(
            (self.strength * self.mean + n * centre) / (self.strength + n),
            self.strength + n,
            np.linalg.inv(inverse),
            self.degrees + n,
        )

    def draw(self, rng: np.random.Generator) -> Hyper:
        """Draw Ψ: Λ by Bartlett's decomposition, then μ given Λ."""
        z = len(self.mean)
        root = np.tril(rng.standard_normal((z, z)), -1)
        root[np.diag_indices(z)] = np.sqrt(rng.chisquare(self.degrees - np.arange(z)))
        root = np.linalg.cholesky((self.scale + self.scale.T) / 2) @ root  # Λ = root rootᵀ
        offset = np.linalg.solve(root.T, rng.standard_normal(z))
        return Hyper(self.mean + offset / np.sqrt(self.strength), root @ root.T)
