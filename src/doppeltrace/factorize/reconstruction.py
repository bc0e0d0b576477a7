"""How far the reconstruction is from the counts: the paper's appendix on sharing A and B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace import tensors
from doppeltrace.factorize.state import Factors, Observations
from doppeltrace.tensors import SparseTensor

CHUNK = 2**18
"""Elements reconstructed at once."""


@dataclass(frozen=True)
class TensorError:
    """Absolute errors |r − r̂| of one tensor, summed.

    Attributes
    ----------
    observed : sum over the elements that training saw, positive or zero.
    unobserved : estimated sum over the zero elements that training took as missing.
    unobserved_se : standard error of that estimate; 0 where all of them were computed.
    unobserved_median : median over the sampled unobserved elements, NaN without any. The sum
        may hang on a few elements; the median tells of an ordinary one.
    n_observed, n_unobserved : how many elements there are of each kind.
    """

    observed: float
    unobserved: float
    unobserved_se: float
    unobserved_median: float
    n_observed: int
    n_unobserved: int


@dataclass(frozen=True)
class ReconstructionErrors:
    """The errors of both tensors, R^I and R^II."""

    transitions: TensorError
    visits: TensorError


def reconstruction_errors(
    transition_factors: Factors,
    visit_factors: Factors,
    counts: Observations,
    observed: Observations,
    *,
    unobserved_per_user: int = 1000,
    seed: int,
) -> ReconstructionErrors:
    """Sum |r − r̂| over observed and unobserved elements.

    Parameters
    ----------
    transition_factors, visit_factors : Θ of R^I (A, B, C count) and of R^II (A, B, D count);
        the same where the tensors share A and B.
    counts : both tensors in full. A positive element that was not observed (trimmed or held
        out) is neither an observed nor an unobserved element.
    observed : what training saw; positive counts are cut at r_max there.
    unobserved_per_user : unobserved elements sampled per user and tensor; where a user has no
        more than these, all are computed.
    seed : of that sample.
    """
    sample = {"per_user": unobserved_per_user, "seed": seed}
    theta_t, theta_v = transition_factors, visit_factors
    return ReconstructionErrors(
        _tensor_error(
            (theta_t.A, theta_t.B, theta_t.C), counts.transitions, observed.transitions,
            name="transitions", **sample,
        ),
        _tensor_error(
            (theta_v.A, theta_v.B, theta_v.D), counts.visits, observed.visits,
            name="visits", **sample,
        ),
    )  # fmt: skip


Matrices = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _tensor_error(
    matrices: Matrices,
    counts: SparseTensor,
    observed: SparseTensor,
    *,
    per_user: int,
    seed: int,
    name: str,
) -> TensorError:
    """Return the errors of one tensor.

    Each user's sampled errors are scaled by that user's ζ_n / sampled. The paper scales all by
    ζ / (1000 |𝒰|), the same where users have alike many unobserved elements.
    """
    sample, zeta = tensors.unobserved(counts, observed, per_user=per_user, seed=seed, name=name)
    error = _absolute_errors(matrices, sample)
    drawn = np.diff(sample.offsets)
    total = _sum_by_user(error, sample)
    mean = total / np.maximum(drawn, 1)
    spread = (error - np.repeat(mean, drawn)) ** 2
    variance = _sum_by_user(spread, sample) / np.maximum(drawn - 1, 1)
    # sampling without replacement: no variance is left where all elements were drawn
    squared_se = zeta * (zeta - drawn) * variance / np.maximum(drawn, 1)
    return TensorError(
        observed=float(_absolute_errors(matrices, observed).sum()),
        unobserved=float(np.sum(zeta * mean)),
        unobserved_se=float(np.sqrt(squared_se.sum())),
        unobserved_median=float(np.median(error)) if len(error) else float("nan"),
        n_observed=observed.n_elements,
        n_unobserved=int(zeta.sum()),
    )


def _absolute_errors(matrices: Matrices, tensor: SparseTensor) -> NDArray[np.float64]:
    """Return (n_elements,) |r − r̂|, r̂ = Σ_k a b c or Σ_k a b d, eq. (hr_one+two)."""
    a, b, last = matrices
    user = np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))
    error = np.empty(tensor.n_elements)
    for first in range(0, tensor.n_elements, CHUNK):
        part = slice(first, first + CHUNK)
        estimate = np.einsum(
            "ek,ek,ek->e", a[user[part]], b[tensor.row[part]], last[tensor.column[part]]
        )
        error[part] = np.abs(estimate - tensor.count[part])
    return error


def _sum_by_user(values: NDArray[np.float64], tensor: SparseTensor) -> NDArray[np.float64]:
    user = np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))
    return np.bincount(user, values, tensor.shape[0]).astype(np.float64, copy=False)
