"""Likelihood-ratio membership inference: tell training users from others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.attacks._kernels import largest_scores
from doppeltrace.attacks.intervals import CONFIDENCE
from doppeltrace.attacks.knowledge import BUDGET, FLOOR, Matrices, random_subset
from doppeltrace.engine.exact import segment_sums
from doppeltrace.streams import generator
from doppeltrace.traces import SyntheticTraces, Traces

THRESHOLDS = 1000
MAX_TARGETS = 8000
"""Users attacked at most: bounds the table of users × thresholds."""
RESAMPLES = 500


@dataclass(frozen=True)
class Membership:
    """How well the attacker tells training users (members) from testing users.

    Attributes
    ----------
    advantage : the largest TPR − FPR over the thresholds.
    low, high : 95 % basic bootstrap interval over users (2 · advantage minus the quantiles of
        the resampled maxima, which takes off their upward bias), within [0, 1].
    chance : mean advantage when the labels member / non-member are shuffled. It is above 0
        because the best of many thresholds is taken.
    chance_high : 95 % quantile of the same; an advantage below it is no evidence of a leak.
    p_value : share of shuffles, this one included, that reach the advantage.
    threshold, true_positive_rate, false_positive_rate : at the maximum.
    per_replicate : TPR − FPR of each replicate at that threshold.
    n_members, n_nonmembers : users attacked, seeded random subsets if fewer than `n_users`.
    """

    advantage: float
    low: float
    high: float
    chance: float
    chance_high: float
    p_value: float
    threshold: float
    true_positive_rate: float
    false_positive_rate: float
    per_replicate: tuple[float, ...]
    n_members: int
    n_nonmembers: int
    n_users: int


def membership_scores(
    matrices: Matrices,
    start: NDArray[np.int64],
    pair: NDArray[np.int64],
    replicate: NDArray[np.int64],
    users: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return (len(users), n_replicates) each user's largest ln(z₁ / z₀) in each replicate.

    z₁ is the likelihood of a trace under W_n and z₀ under W₀, the mean of all other users'
    matrices, both with 1e-8 where zero. A user who does not know a transition adds
    ln 1e-8 − ln W₀, the same for all such users: the base, over which the others gain.

    Parameters
    ----------
    start, pair : the synthetic transitions, as `Matrices.look_up` returns them.
    replicate : (n_traces,).
    users : indexes of the users to score.
    """
    others = matrices.n_users - 1
    pair_of = np.repeat(np.arange(len(matrices.pair)), matrices.holders)
    total = segment_sums(matrices.probability, matrices.start)
    base = np.log(FLOOR) - np.log(total / others)
    part, kept = matrices.restrict(users)
    rest = (total[pair_of] - matrices.probability) / others
    # a pair that only this user knows is zero in W₀; the difference may miss it by rounding
    rest[matrices.holders[pair_of] == 1] = FLOOR
    gain = np.log(matrices.probability) - np.log(rest) - base[pair_of]
    replicates, group = np.unique(replicate, return_inverse=True)
    return largest_scores(
        start,
        pair,
        group,
        len(replicates),
        base,
        part.start,
        part.user,
        gain[kept],
        part.n_users,
    )


def thresholds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1000 thresholds from the largest per-replicate minimum up to the maximum, and ∞.

    At ∞ nobody is called a member: the attacker can always have an advantage of 0.
    """
    low, high = float(scores.min(axis=0).max()), float(scores.max())
    return np.append(low + (high - low) * np.arange(THRESHOLDS) / THRESHOLDS, np.inf)


def membership_inference(
    train: Traces,
    test: Traces,
    synthetic: SyntheticTraces,
    *,
    seed: int = 0,
    budget: int = BUDGET,
) -> Membership:
    """Attack every training and testing user, replicate by replicate, as the paper does.

    A user is called a member in a replicate if the largest score exceeds the threshold;
    rates are over users × replicates. With more than `budget` additions to do, random
    subsets of the training and of the testing users are attacked, with all traces and with
    W₀ from all users, which leaves the rates unbiased.
    """
    return membership_attacks(train, test, synthetic, seed=seed, budget=budget)[0]


def file_membership_inference(
    train: Traces,
    test: Traces,
    released: SyntheticTraces,
    *,
    seed: int = 0,
    budget: int = BUDGET,
) -> Membership:
    """Attack with all traces of a file at once, as it is published.

    A user is called a member if the largest score over all of them exceeds the threshold.
    """
    return membership_attacks(train, test, released, seed=seed, budget=budget)[1]


def membership_attacks(
    train: Traces,
    test: Traces,
    synthetic: SyntheticTraces,
    *,
    seed: int = 0,
    budget: int = BUDGET,
) -> tuple[Membership, Membership]:
    """Return both attacks, replicate by replicate and on the file, from the same scores."""
    matrices = Matrices.of(train, test)
    found = matrices.look_up(synthetic.as_traces())
    work = matrices.work(found[1]) + len(synthetic) * matrices.n_users
    work = max(work, budget * matrices.n_users // MAX_TARGETS)
    members, nonmembers = (
        first + _targets(traces.n_users, work, budget, seed, purpose)
        for traces, first, purpose in ((train, 0, "members"), (test, train.n_users, "others"))
    )
    targets = np.concatenate([members, nonmembers])
    scores = membership_scores(matrices, *found, synthetic.replicate, targets)
    whole = scores.max(axis=1, keepdims=True)
    n_members, n_users = len(members), matrices.n_users
    return _judge(scores, n_members, n_users, seed), _judge(whole, n_members, n_users, seed)


def _judge(scores: NDArray[np.float64], n_members: int, n_users: int, seed: int) -> Membership:
    """Return what (n_targets, n_groups) scores tell, the members first."""
    cut = thresholds(scores)
    n_replicates = scores.shape[1]
    # (n_targets, n_thresholds) replicates in which the user is called a member. Whole numbers
    # in float64: their sums are exact, whatever order a matrix product takes.
    called = n_replicates - np.stack(
        [np.searchsorted(np.sort(row), cut, side="right") for row in scores]
    ).astype(np.float64)
    is_member = np.arange(len(scores)) < n_members
    gap = _gap(called, is_member, n_replicates)
    best = int(np.argmax(gap))
    advantage = float(gap[best])
    boot, null = _resample(called, is_member, n_replicates, seed)
    tail = 0.5 * (1.0 - CONFIDENCE)
    low, high = 2.0 * advantage - np.quantile(boot, [1.0 - tail, tail])
    hit = scores > cut[best]
    tpr, fpr = hit[is_member].mean(axis=0), hit[~is_member].mean(axis=0)
    return Membership(
        advantage=advantage,
        low=float(np.clip(low, 0.0, 1.0)),
        high=float(np.clip(high, 0.0, 1.0)),
        chance=float(null.mean()),
        chance_high=float(np.quantile(null, CONFIDENCE)),
        p_value=float((1 + (null >= advantage).sum()) / (1 + len(null))),
        threshold=float(cut[best]),
        true_positive_rate=float(tpr.mean()),
        false_positive_rate=float(fpr.mean()),
        per_replicate=tuple(float(x) for x in tpr - fpr),
        n_members=n_members,
        n_nonmembers=len(scores) - n_members,
        n_users=n_users,
    )


def _targets(n: int, work: int, budget: int, seed: int, purpose: str) -> NDArray[np.int64]:
    subset = random_subset(n, work, budget, generator(seed, f"membership {purpose}"))
    return np.arange(n) if subset is None else subset


def _gap(
    called: NDArray[np.float64], is_member: NDArray[np.bool_], n_replicates: int
) -> NDArray[np.float64]:
    """Return (n_thresholds,) TPR − FPR."""
    true = called[is_member].sum(axis=0) / (is_member.sum() * n_replicates)
    false = called[~is_member].sum(axis=0) / ((~is_member).sum() * n_replicates)
    return true - false


def _resample(
    called: NDArray[np.float64], is_member: NDArray[np.bool_], n_replicates: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the advantages of bootstrap resamples of users, and of shuffled labels."""
    n, n_members = len(called), int(is_member.sum())
    n_others = n - n_members
    draws = generator(seed, "membership resamples")

    def bootstrap(group: NDArray[np.float64]) -> NDArray[np.float64]:
        size = len(group)
        times = draws.multinomial(size, np.full(size, 1.0 / size), size=RESAMPLES)
        return times.astype(np.float64) @ group / (size * n_replicates)

    boot = (bootstrap(called[is_member]) - bootstrap(called[~is_member])).max(axis=1)
    shuffled = draws.permuted(np.tile(is_member, (RESAMPLES, 1)), axis=1).astype(np.float64)
    as_member = shuffled @ called
    as_other = called.sum(axis=0) - as_member
    null = (as_member / (n_members * n_replicates) - as_other / (n_others * n_replicates)).max(
        axis=1
    )
    return boot, null
