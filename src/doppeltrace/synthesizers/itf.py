"""ITF: the paper's ablation, in which the two tensors are factorized independently."""

from __future__ import annotations

from typing import Any, Self

from doppeltrace.errors import SettingsError
from doppeltrace.factorize.state import Factors, Observations
from doppeltrace.synthesizers.ppmtf import PPMTF
from doppeltrace.tensors import SparseTensor


class ITF(PPMTF):
    """Independent tensor factorization: R^I ≈ (A¹, B¹, C) and R^II ≈ (A², B², D).

    Settings as for `PPMTF`; training takes `iterations` for each tensor. `factors_` holds
    (A¹, B¹, C) and a D that no data informed; `visit_factors_` holds (A², B², D).
    """

    name = "itf"
    description = "ITF: two Gaussian tensor factorizations, one of transitions and one of visits"

    @property
    def clusters_(self) -> None:
        """None: two sets of factors tell two stories of who is alike."""
        return None

    @property
    def visit_factors_(self) -> Factors:
        """(A², B², ·, D) of the visit tensor."""
        self._known()
        return self._states[1].factors

    def _parts(self, observed: Observations) -> list[Observations]:
        """Return each tensor with the other one unobserved."""
        t, v = observed.transitions, observed.visits
        return [
            Observations(t, SparseTensor.empty_like(v)),
            Observations(SparseTensor.empty_like(t), v),
        ]

    @classmethod
    def from_factors(cls, *factors: Any, like: Any, **settings: Any) -> Self:
        """Refuse: one Θ is not enough for two factorizations."""
        raise SettingsError("ITF has two sets of factors; from_factors is for PPMTF")
