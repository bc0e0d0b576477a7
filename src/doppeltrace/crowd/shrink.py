"""Empirical-Bayes shrinkage: a noisy table corrects a coarser prediction as far as it can know.

A cell's residual r = y − m (y noisy, m predicted) has the variance of noise and sampling, N, and
of the truth around the prediction, v. v is modelled as a m² + b m m̄ and fitted to the squared
residuals; the shrunk residual is v / (v + N) · r. Where the residuals as a whole hardly exceed
their noise, v is lowered further.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CAUTION = 0.5
"""Standard errors by which the residuals must exceed their noise to be believed in full."""
FLOOR = 0.05
"""No cell falls below this share of its prediction: noise cannot make it impossible."""
_TINY = 1e-12


def shrink_residuals(residual: Floats, predicted: Floats, noise: Floats) -> Floats:
    """Return v / (v + N) · r.

    residual, predicted, noise : r, m > 0 and N ≥ 0, of one shape.
    """
    if residual.size == 0 or not np.any(noise > 0):
        return residual
    m, mean = predicted, predicted.mean()
    excess = residual**2 - noise
    weight = 1 / (noise + 0.5 * m**2)
    basis = np.stack([m**2, m * mean], axis=-1).reshape(-1, 2)
    a, b = _two_nonnegative(basis * weight.reshape(-1, 1), (excess * weight).ravel())
    certainty = (weight * excess).sum() / np.sqrt((2 * (weight * noise) ** 2).sum())
    v = (a * m**2 + b * m * mean) * np.clip(1 - CAUTION / max(certainty, _TINY), 0, 1)
    result: NDArray[np.float64] = v / np.maximum(v + noise, 1e-300) * residual
    return result


def shrink(noisy: Floats, predicted: Floats, sigma: float, sampling: float = 0.0) -> Floats:
    """Return the estimate, positive wherever the prediction is.

    noisy, predicted : tables of one shape.
    sigma : of the noise of every cell.
    sampling : variance of a count over its mean (1 if each user counts once); 0 takes the counts
        as the truth.
    """
    m = np.maximum(predicted, _TINY)
    noise = sigma**2 + sampling * m
    return np.maximum(m + shrink_residuals(noisy - m, m, noise), FLOOR * m)


def correction(noisy: Floats, predicted: Floats, sigma: float, sampling: float = 0.0) -> Floats:
    """Return the factor that takes the prediction to the estimate."""
    return shrink(noisy, predicted, sigma, sampling) / np.maximum(predicted, _TINY)


def _two_nonnegative(design: Floats, target: Floats) -> tuple[float, float]:
    """Return the non-negative least-squares solution of two unknowns."""
    gram, moment = design.T @ design, design.T @ target
    diagonal = np.maximum(np.diag(gram), 1e-300)
    determinant = gram[0, 0] * gram[1, 1] - gram[0, 1] ** 2
    if determinant > 1e-10 * diagonal[0] * diagonal[1]:
        a = (gram[1, 1] * moment[0] - gram[0, 1] * moment[1]) / determinant
        b = (gram[0, 0] * moment[1] - gram[0, 1] * moment[0]) / determinant
        if a >= 0 and b >= 0:
            return float(a), float(b)
    alone = np.maximum(moment / diagonal, 0)
    gain = alone * (2 * moment - alone * diagonal)  # of the sum of squares, with one alone
    return (float(alone[0]), 0.0) if gain[0] >= gain[1] else (0.0, float(alone[1]))
