"""Level 2: the likelihood-ratio attack (LiRA, Carlini et al. 2022) on files as published.

Over the runs every candidate is in the training about half of the time. For each of them the
statistics of the release are taken as Gaussian with one mean when in and another when out; a run
is scored by the log-likelihood ratio under Gaussians fitted to all *other* runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.streams import generator

NULLS = 8
"""Times the labels are shuffled."""

RESAMPLES = 40
"""Bootstrap resamples of users and runs."""

WORST = 20
"""Most exposed users that are looked at by themselves."""

CURVE = tuple(float(x) for x in np.round(np.geomspace(1e-3, 1.0, 61), 6))
"""False positive rates of the curve."""

MARGIN = 0.02
"""AUC or advantage by which an attack may exceed its null: what 64 runs cannot tell from 0."""

RIDGE = 1e-3
MIN_SPREAD = 1e-6


@dataclass(frozen=True)
class Curve:
    """True positive rates at `fpr`, and with shuffled labels."""

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    null_tpr: tuple[float, ...]


@dataclass(frozen=True)
class Lira:
    """How well members are told from others, over all users and runs.

    Attributes
    ----------
    auc : probability that a member's score exceeds another's; 0.5 is a blind guess.
    auc_low, auc_high : 95 % interval, by resampling users and runs.
    advantage : the largest TPR − FPR.
    tpr_at_1_percent, tpr_at_01_percent : TPR where the FPR is 1 % and 0.1 %.
    worst20_auc : AUC of the 20 most exposed users: chosen on the even runs, judged on the odd
        ones; None where there are too few users or runs to choose.
    null_… : the same with the labels of each user shuffled over the runs, mean of several
        shuffles. The attack with few runs is not exactly blind then; compare with this.
    runs, users : trainings and candidates.
    """

    auc: float
    auc_low: float
    auc_high: float
    null_auc: float
    advantage: float
    null_advantage: float
    tpr_at_1_percent: float
    null_tpr_at_1_percent: float
    tpr_at_01_percent: float
    null_tpr_at_01_percent: float
    worst20_auc: float | None
    null_worst20_auc: float | None
    runs: int
    users: int
    curve: Curve

    @property
    def exceeds_null(self) -> bool:
        """Whether members show by more than 64 runs can tell from nothing."""
        beyond = max(self.auc - self.null_auc, self.advantage - self.null_advantage)
        return beyond > MARGIN

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by their names."""
        plain = {name: value for name, value in vars(self).items() if name != "curve"}
        curve = {name: list(values) for name, values in vars(self.curve).items()}
        return {**plain, "curve": curve, "exceeds_null": self.exceeds_null}


def lira(scores: NDArray[np.float32], member: NDArray[np.bool_], seed: int) -> Lira:
    """Attack all runs.

    Parameters
    ----------
    scores : (runs, users, n) statistics of every candidate in every release.
    member : (runs, users) whether the candidate was in the training.
    """
    # what all candidates have in common, such as the size of the file, tells nothing of one
    centred = scores.astype(np.float64)
    centred -= centred.mean(axis=1, keepdims=True)
    ratio = log_ratios(centred, member)
    draws = generator(seed, "audit resamples")
    boot = np.array([_resampled(ratio, member, draws) for _ in range(RESAMPLES)])
    auc_low, auc_high = np.quantile(boot, [0.025, 0.975])
    nulls = []
    for _ in range(NULLS):
        shuffled = draws.permuted(member, axis=0)
        null_ratio = log_ratios(centred, shuffled)
        nulls.append((_figures(null_ratio, shuffled), worst_auc(centred, null_ratio, shuffled)))
    found = _figures(ratio, member)
    mean = np.mean([figures for figures, _ in nulls], axis=0)
    worst = worst_auc(centred, ratio, member)
    return Lira(
        auc=float(found[0]),
        auc_low=float(auc_low),
        auc_high=float(auc_high),
        null_auc=float(mean[0]),
        advantage=float(found[1]),
        null_advantage=float(mean[1]),
        tpr_at_1_percent=float(found[2]),
        null_tpr_at_1_percent=float(mean[2]),
        tpr_at_01_percent=float(found[3]),
        null_tpr_at_01_percent=float(mean[3]),
        worst20_auc=worst,
        null_worst20_auc=_mean([w for _, w in nulls]),
        runs=len(member),
        users=member.shape[1],
        curve=Curve(CURVE, tuple(found[4:].tolist()), tuple(mean[4:].tolist())),
    )


def log_ratios(scores: NDArray[np.float64], member: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (runs, users) ln p(statistics | in) − ln p(statistics | out), leave-one-out.

    With x the statistics in units of their spread around the two means m₁, m₀ of the other runs,
    and C the correlations of those residuals, pooled over users: (m₁ − m₀)ᵀ C⁻¹ (x − ½(m₁ + m₀)).
    The differences m₁ − m₀ are shrunk to their mean over users as far as their scatter is that of
    noise (empirical Bayes): with 32 runs on each side a single user's is mostly noise. What the
    noise adds to the quadratic term on average is taken off.
    """
    runs, _, n = scores.shape
    is_in = member[:, :, None]
    n_in, n_out = is_in.sum(axis=0), (~is_in).sum(axis=0)
    sum_in = np.where(is_in, scores, 0.0).sum(axis=0)
    sum_out = scores.sum(axis=0) - sum_in
    residual = scores - np.where(
        is_in, sum_in / np.maximum(n_in, 1), sum_out / np.maximum(n_out, 1)
    )
    squares = (residual**2).sum(axis=0)
    z = (residual / _spread(squares, runs - 2)).reshape(-1, n)
    precision = np.linalg.inv(z.T @ z / len(z) + RIDGE * np.eye(n))
    noise = 4.0 / runs
    out = np.zeros(member.shape)
    for r in range(runs):
        left_in, left_out = n_in - is_in[r], n_out - ~is_in[r]
        mean_in = (sum_in - np.where(is_in[r], scores[r], 0.0)) / np.maximum(left_in, 1)
        mean_out = (sum_out - np.where(is_in[r], 0.0, scores[r])) / np.maximum(left_out, 1)
        # without run r the squares around its group's mean are fewer by n / (n − 1) · residual²
        group, left = np.where(is_in[r], n_in, n_out), np.where(is_in[r], left_in, left_out)
        own = group / np.maximum(left, 1) * residual[r] ** 2
        spread = _spread(squares - own, runs - 3)
        gap = (mean_in - mean_out) / spread
        common = gap.mean(axis=0)
        signal = np.maximum((gap - common).var(axis=0) - noise, 1e-4)
        trust = signal / (signal + noise)
        gap = common + trust * (gap - common)
        x = (scores[r] - 0.5 * (mean_in + mean_out)) / spread
        # what noise adds to the square of either mean tells how often a user is in
        excess = 0.5 * trust.sum() * (1.0 / np.maximum(left_in, 1) - 1.0 / np.maximum(left_out, 1))
        ratio = ((gap @ precision) * x).sum(axis=1) + excess[:, 0]
        known = ((left_in > 0) & (left_out > 0))[:, 0]  # else nothing is learned of this user
        out[r] = np.where(known, ratio, 0.0)
    return out


def _spread(squares: NDArray[np.float64], freedom: int) -> NDArray[np.float64]:
    """Return the standard deviation of the residuals, never zero."""
    return np.sqrt(np.maximum(squares, 0.0) / max(freedom, 1)) + MIN_SPREAD


def auc(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Return the probability that one of the first exceeds one of the second, ties half."""
    if len(inside) == 0 or len(outside) == 0:
        return 0.5
    outside = np.sort(outside)
    below = np.searchsorted(outside, inside, side="left")
    not_above = np.searchsorted(outside, inside, side="right")
    return float((below + not_above).mean() / (2 * len(outside)))


def worst_auc(
    scores: NDArray[np.float64], ratio: NDArray[np.float64], member: NDArray[np.bool_]
) -> float | None:
    """Return the AUC of the most exposed users, chosen on even runs and judged on odd ones.

    To choose, the attack sees the even runs alone; to judge it may know all other runs.
    """
    runs, users = member.shape
    even = np.arange(runs) % 2 == 0
    if users < 2 * WORST or runs < 16:
        return None
    seen = log_ratios(scores[even], member[even])
    each = [auc(score[m], score[~m]) for score, m in zip(seen.T, member[even].T, strict=True)]
    worst = np.argsort(-np.array(each), kind="stable")[:WORST]
    judged, is_in = ratio[~even][:, worst], member[~even][:, worst]
    return auc(judged[is_in], judged[~is_in])


def rates(
    inside: NDArray[np.float64], outside: NDArray[np.float64], fpr: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the largest TPR at which the FPR is at most `fpr`."""
    rank = np.minimum(np.floor(fpr * len(outside)).astype(np.int64), len(outside) - 1)
    threshold = np.sort(outside)[::-1][rank]
    above = len(inside) - np.searchsorted(np.sort(inside), threshold, side="right")
    return np.where(fpr >= 1.0, 1.0, above / len(inside))


def advantage(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Return the largest TPR − FPR over all thresholds."""
    cut = np.unique(np.concatenate([inside, outside]))
    below_in = np.searchsorted(np.sort(inside), cut, side="right") / len(inside)
    below_out = np.searchsorted(np.sort(outside), cut, side="right") / len(outside)
    return max(0.0, float((below_out - below_in).max()))


def _mean(values: list[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    return float(np.mean(measured)) if measured else None


def _figures(ratio: NDArray[np.float64], member: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return AUC, advantage, TPR at 1 % and 0.1 %, and the curve."""
    inside, outside = ratio[member], ratio[~member]
    if len(inside) == 0 or len(outside) == 0:
        return np.array([0.5, 0.0, 0.01, 0.001, *CURVE])
    at = rates(inside, outside, np.array([0.01, 0.001, *CURVE]))
    return np.array([auc(inside, outside), advantage(inside, outside), *at])


def _resampled(
    ratio: NDArray[np.float64], member: NDArray[np.bool_], draws: np.random.Generator
) -> float:
    """Return the AUC of a resample of users and runs."""
    runs, users = member.shape
    run, user = draws.integers(runs, size=runs), draws.integers(users, size=users)
    score, is_in = ratio[np.ix_(run, user)], member[np.ix_(run, user)]
    return auc(score[is_in], score[~is_in])
