"""Confidence intervals for rates whose trials come in clusters (replicates of one user)."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

CONFIDENCE = 0.95


def clustered_rate_interval(
    hit: NDArray[np.bool_], cluster: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the Korn–Graubard interval of a rate: Clopper–Pearson with fewer trials.

    Trials of one cluster are alike, so n of them are worth n / deff independent ones, deff
    being the variance of the rate over clusters divided by the binomial variance (at least
    1). Where no variance can be seen (rate 0 or 1) each cluster counts as one trial.

    Parameters
    ----------
    hit : (n_trials,).
    cluster : (n_trials,) which trials belong together.
    """
    n = len(hit)
    rate = float(hit.mean())
    _, member = np.unique(cluster, return_inverse=True)
    size = np.bincount(member)
    n_clusters = len(size)
    effective = float(n_clusters)
    if 0.0 < rate < 1.0 and n_clusters > 1:
        excess = np.bincount(member, hit.astype(np.float64)) - rate * size
        variance = n_clusters / (n_clusters - 1) * float((excess**2).sum()) / n**2
        effective = n / max(1.0, variance / (rate * (1.0 - rate) / n))
    hits = rate * effective
    tail = 0.5 * (1.0 - CONFIDENCE)
    low = float(betaincinv(hits, effective - hits + 1.0, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1.0, effective - hits, 1.0 - tail)) if rate < 1 else 1.0
    return low, high
