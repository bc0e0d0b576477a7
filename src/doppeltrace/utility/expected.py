"""TP-TV of trivial generators without drawing: its exact expectation for n traces.

Where every event of a slot is drawn independently from a distribution q, the count of a place
among m events is X ~ Binomial(m, q), and E TV = ½ Σ E|X / m − p| over the places. With a = m p,
k = ⌊a⌋, and P and F the binomial probabilities and their sums (de Moivre's identity),

    E(X − a)⁺ = (k + 1) (1 − q) P(k + 1) + (m q − a) (1 − F(k)),
    E|X − a|  = 2 E(X − a)⁺ − (m q − a).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.utility.population import TOP, distributions, most_frequent

Floats = NDArray[np.float64]


def mean_deviation(m: NDArray[Any], q: NDArray[Any], a: NDArray[Any]) -> Floats:
    """Return E|X − a| for X ~ Binomial(m, q), element by element, m ≥ 1."""
    from scipy.special import betainc, gammaln, xlog1py, xlogy

    m, q, a = np.broadcast_arrays(
        np.asarray(m, np.float64), np.asarray(q, np.float64), np.asarray(a, np.float64)
    )
    k = np.minimum(np.floor(a), m)
    j = np.minimum(k + 1, m)
    log_p = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1) + xlogy(j, q) + xlog1py(m - j, -q)
    at_next = np.where(k < m, j * (1 - q) * np.exp(log_p), 0.0)  # nothing lies above m
    beyond = np.where(k < m, betainc(j, m - j + 1, q), 0.0)  # 1 − F(k)
    above = at_next + (m * q - a) * beyond
    result: Floats = np.maximum(0.0, 2.0 * above - (m * q - a))
    return result


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
