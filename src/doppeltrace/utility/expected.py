"""TP-TV of trivial generators without drawing: its exact expectation for n traces.

Where every event of a slot is drawn independently from a distribution q, the count of a place
among m events is X ~ Binomial(m, q), and E TV = ½ Σ E|X / m − p| over the places. With a = m p,

    E|X − a| = m q − a + 2 (a F(⌊a⌋; m, q) − m q F(⌊a⌋ − 1; m − 1, q)),

where F is the binomial distribution function.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.utility.population import TOP, distributions, most_frequent

Floats = NDArray[np.float64]


def mean_deviation(m: NDArray, q: NDArray, a: NDArray) -> Floats:
    """Return E|X − a| for X ~ Binomial(m, q), element by element, m ≥ 1."""
    from scipy.special import bdtr

    m, q, a = np.broadcast_arrays(
        np.asarray(m, np.float64), np.asarray(q, np.float64), np.asarray(a, np.float64)
    )
    k = np.minimum(np.floor(a), m)
    below = bdtr(k, m, q)
    # F(k − 1; m − 1, q): 0 below 0, and 1 from m − 1 on
    one_less = np.where(k >= m, 1.0, bdtr(np.clip(k - 1, 0, np.maximum(m - 2, 0)), m - 1, q))
    one_less = np.where(k >= 1, one_less, 0.0)
    return np.maximum(0.0, m * q - a + 2.0 * (a * below - m * q * one_less))


def expected_tp(
    test: NDArray[np.int64], drawn_from: Floats, draws: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the expected TP-TV and TP-TV-Top50 of independent draws.

    Parameters
    ----------
    test : (n_slots, n_places) testing events.
    drawn_from : (n_slots, n_places) the distribution of each draw.
    draws : (n_slots,) independent draws per slot; a slot with none counts as uniform.
    """
    p = distributions(test)
    error = np.abs(p - 1.0 / p.shape[1])
    some = draws > 0
    m = draws[some][:, None]
    q, a = drawn_from[some], m * p[some]
    deviation = a.copy()  # where q is 0, X is always 0
    at = q > 0
    deviation[at] = mean_deviation(np.broadcast_to(m, q.shape)[at], q[at], a[at])
    error[some] = deviation / m
    top = np.where(most_frequent(test, TOP), error, 0.0)
    return float(0.5 * error.sum(axis=1).mean()), float(0.5 * top.sum(axis=1).mean())
