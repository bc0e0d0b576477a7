"""How much a release tells of one canary, as a lower bound of ε in differential privacy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

CONFIDENCE = 0.95


def clopper_pearson(hits: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact interval of a rate: quantiles of Beta(k, n − k + 1), Beta(k + 1, n − k)."""
    tail = 0.5 * (1.0 - confidence)
    low = float(betaincinv(hits, trials - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1.0 - tail)) if hits < trials else 1.0
    return low, high


def epsilon_bound(true: int, n_in: int, false: int, n_out: int) -> float:
    """Return the ε that a test with these outcomes proves, at least, with 95 % confidence.

    Under ε-differential privacy TPR ≤ e^ε FPR and TNR ≤ e^ε FNR, so
    ε ≥ max(ln(TPR / FPR), ln(TNR / FNR)), each rate at the end of its interval that weakens it.

    Parameters
    ----------
    true, n_in : trials with the canary in the training that the test called so, and all of them.
    false, n_out : trials without it that the test called so all the same, and all of them.
    """
    if n_in == 0 or n_out == 0:
        return 0.0
    tpr_low, tpr_high = clopper_pearson(true, n_in)
    fpr_low, fpr_high = clopper_pearson(false, n_out)
    bounds = [0.0]
    if tpr_low > 0.0:
        bounds.append(math.log(tpr_low / fpr_high))
    if fpr_high < 1.0:
        bounds.append(math.log((1.0 - fpr_high) / (1.0 - tpr_low)))
    return max(bounds)


def epsilon_ceiling(runs: int, instances: int) -> float:
    """Return the largest ε that so many runs can prove: when the test never errs."""
    trials = runs * instances // 2
    return epsilon_bound(trials, trials, 0, trials)


def judged_epsilon(
    counts: NDArray[np.int64], is_in: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return (ε, TPR, FPR) of the test "at least h", h chosen on other runs than it judges.

    Even runs are judged by the threshold that is best on the odd ones and the other way round;
    the outcomes of both halves are counted together.

    Parameters
    ----------
    counts : (runs, instances) what the release shows of each canary.
    is_in : (runs, instances) whether it was in the training.
    """
    even = np.arange(len(counts)) % 2 == 0
    outcome = np.zeros(4, dtype=np.int64)
    for judged in (even, ~even):
        threshold = _best_threshold(counts[~judged], is_in[~judged])
        outcome += _outcome(counts[judged], is_in[judged], threshold)
    true, n_in, false, n_out = (int(x) for x in outcome)
    return (
        epsilon_bound(true, n_in, false, n_out),
        true / n_in if n_in else 0.0,
        false / n_out if n_out else 0.0,
    )


def _best_threshold(counts: NDArray[np.int64], is_in: NDArray[np.bool_]) -> int:
    """Return the threshold with the largest bound, the lowest among equals, at least 1."""
    candidates = np.unique(np.append(counts[counts > 0], 1))
    bounds = [epsilon_bound(*_outcome(counts, is_in, int(h)).tolist()) for h in candidates]
    return int(candidates[int(np.argmax(bounds))])


def _outcome(
    counts: NDArray[np.int64], is_in: NDArray[np.bool_], threshold: int
) -> NDArray[np.int64]:
    """Return true positives, trials in, false positives, trials out."""
    called = counts >= threshold
    return np.array(
        [(called & is_in).sum(), is_in.sum(), (called & ~is_in).sum(), (~is_in).sum()],
        dtype=np.int64,
    )
