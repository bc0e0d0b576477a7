"""What every sampler works on and brings forth: observations, Θ, state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.tensors import SparseTensor


@dataclass(frozen=True, eq=False)
class Factors:
    """Θ = (A, B, C, D), float64: users, locations, next locations, slots × z."""

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    C: NDArray[np.float64]
    D: NDArray[np.float64]

    @property
    def n_factors(self) -> int:
        """Return z."""
        return self.A.shape[1]


@dataclass(frozen=True, eq=False)
class Observations:
    """The observed elements of both tensors; see `tensors.observe`."""

    transitions: SparseTensor
    visits: SparseTensor


@dataclass(frozen=True, eq=False)
class State:
    """The sampler after an iteration: Θ and how many iterations led to it."""

    factors: Factors
    iteration: int
