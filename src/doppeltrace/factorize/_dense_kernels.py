"""Small dense matrices (z, z), in a fixed order: libraries may split them over threads."""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace.engine.kernel import kernel


@kernel
def product(x, y):
    """Return x y of matrices (m, k) and (k, n)."""
    out = np.zeros((x.shape[0], y.shape[1]))
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            for j in range(y.shape[1]):
                out[i, j] += x[i, k] * y[k, j]
    return out


@kernel
def cholesky(x):
    """Return lower triangular L with L Lᵀ = x, which must be positive definite."""
    z = len(x)
    low = np.zeros((z, z))
    for p in range(z):
        for q in range(p + 1):
            value = x[p, q]
            for k in range(q):
                value -= low[p, k] * low[q, k]
            if p > q:
                low[p, q] = value / low[q, q]
            elif value > 0.0:
                low[p, p] = math.sqrt(value)
            else:
                raise ValueError("the matrix is not positive definite")
    return low


@kernel
def solve_transposed(low, y):
    """Return x with Lᵀ x = y (z, n), L lower triangular."""
    z = len(low)
    out = y.copy()
    for p in range(z - 1, -1, -1):
        for j in range(y.shape[1]):
            for q in range(p + 1, z):
                out[p, j] -= low[q, p] * out[q, j]
            out[p, j] /= low[p, p]
    return out


@kernel
def inverse(x):
    """Return the inverse of a positive definite matrix: L⁻ᵀ L⁻¹, symmetric to the last bit."""
    z = len(x)
    root = solve_transposed(cholesky(x), np.eye(z))  # L⁻ᵀ
    out = np.empty((z, z))
    for p in range(z):
        for q in range(p, z):
            value = 0.0
            for k in range(q, z):
                value += root[p, k] * root[q, k]
            out[p, q] = value
            out[q, p] = value
    return out
