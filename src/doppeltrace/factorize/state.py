"""What every sampler works on and brings forth: observations, Θ, state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from doppeltrace.engine.local import run
from doppeltrace.factorize.cells import Cells, are_full, cells_of
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
        return int(self.A.shape[1])


@dataclass(frozen=True, eq=False)
class Observations:
    """The observed elements of both tensors; see `tensors.observe`."""

    transitions: SparseTensor
    visits: SparseTensor

    @cached_property
    def cells(self) -> tuple[Cells, Cells] | None:
        """The users of each cell of both tensors, or None where cells have few."""
        if not (are_full(self.transitions) and are_full(self.visits)):
            return None
        found: dict[str, Cells] = {}

        def index(k: int) -> None:
            name = ("transitions", "visits")[k]
            found[name] = cells_of(getattr(self, name))

        run(index, 2)
        return found["transitions"], found["visits"]


@dataclass(frozen=True, eq=False)
class State:
    """The sampler after an iteration: Θ and how many iterations led to it."""

    factors: Factors
    iteration: int
