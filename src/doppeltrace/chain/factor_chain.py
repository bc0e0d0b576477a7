"""The arrays from which the paper's chain proposes and which it targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace.factorize.state import Factors

FLOOR = 1e-8
"""φ: reconstructed counts below it are set to it, for transitions and for visits."""


STEP = 8
"""Factor matrices are padded to a multiple of this many columns, which kernels take at once."""


class FactorChain(NamedTuple):
    """Q* from (A, B, C) and π from (visit_A, visit_B, D); see `_factor_kernels`.

    A, visit_A (users, Z), B, C, visit_B (places, Z), D (slots, Z), float64, with zero columns up
    to Z, a multiple of STEP; B_t, C_t and visit_B_t (Z, places) are transposed, B_single and
    C_single are B and C in float32. PPMTF shares A and B between both parts.
    """

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    B_t: NDArray[np.float64]
    C: NDArray[np.float64]
    C_t: NDArray[np.float64]
    visit_A: NDArray[np.float64]
    visit_B: NDArray[np.float64]
    visit_B_t: NDArray[np.float64]
    D: NDArray[np.float64]
    B_single: NDArray[np.float32]
    C_single: NDArray[np.float32]
    floor: float


def factor_chain(
    transitions: Factors, visits: Factors | None = None, floor: float = FLOOR
) -> FactorChain:
    """Return the chain of one Θ, or of two that were factorized independently (ITF)."""
    visits = transitions if visits is None else visits
    return FactorChain(
        _padded(transitions.A),
        _padded(transitions.B),
        np.ascontiguousarray(_padded(transitions.B).T),
        _padded(transitions.C),
        np.ascontiguousarray(_padded(transitions.C).T),
        _padded(visits.A),
        _padded(visits.B),
        np.ascontiguousarray(_padded(visits.B).T),
        _padded(visits.D),
        _padded(transitions.B).astype(np.float32),
        _padded(transitions.C).astype(np.float32),
        floor,
    )


def _padded(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    extra = -rows.shape[1] % STEP
    return np.ascontiguousarray(np.pad(rows, ((0, 0), (0, extra))))
