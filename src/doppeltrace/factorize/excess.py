"""κ: how far reconstructed counts leave the range of the counts, over every element."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CHUNK = 2**18
"""Elements reconstructed at once."""

Matrices = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def excess(matrices: Matrices, max_count: float) -> float:
    """Return the smallest κ ≥ 0 with −κ ≤ r̂ ≤ r_max + κ for all elements of one tensor.

    r̂_{nij} = Σ_k a_nk b_ik c_jk, in time users × places × columns × z and little memory. Summed
    in a fixed order, so that no number of threads changes a bit.

    Parameters
    ----------
    matrices : A (users, z), B (places, z), and C (places, z) or D (slots, z).
    max_count : r_max.
    """
    a, b, last = matrices
    rows = max(1, CHUNK // max(len(last), 1))
    kappa = 0.0
    for user in a:
        for first in range(0, len(b), rows):
            counts = np.einsum("ik,jk->ij", b[first : first + rows] * user, last, optimize=False)
            kappa = max(kappa, float(-counts.min()), float(counts.max()) - max_count)
    return kappa
