"""Bayesian re-identification: name the user a synthetic trace was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.attacks._kernels import most_likely_users
from doppeltrace.attacks.intervals import clustered_rate_interval
from doppeltrace.attacks.knowledge import BUDGET, FLOOR, Matrices, owned, probe, random_subset
from doppeltrace.streams import generator
from doppeltrace.traces import SyntheticTraces, Traces


@dataclass(frozen=True)
class Reidentification:
    """How often the attacker names the input user.

    Attributes
    ----------
    rate : correct guesses / traces attacked.
    low, high : 95 % interval that allows for the replicates of a user being alike.
    chance : 1 / |𝒰|, the rate of a blind guess.
    per_replicate : the rate of each replicate.
    n_attacked, n_traces : traces attacked, a seeded random subset if fewer than all.
    """

    rate: float
    low: float
    high: float
    chance: float
    per_replicate: tuple[float, ...]
    n_attacked: int
    n_traces: int


def guess_users(train: Traces, traces: Traces) -> NDArray[np.int64]:
    """Return (n_traces,) the training user with the highest posterior for each trace.

    The posterior under a uniform prior goes with Σ ln W_n(x_{t+1} | x_t) over the transitions
    inside the trace, W_n the user's maximum-likelihood matrix with 1e-8 for what it does not
    hold. Of equally likely users the one with the lowest index is named.
    """
    return _guess(Matrices.of(train), traces)


def _guess(matrices: Matrices, traces: Traces) -> NDArray[np.int64]:
    start, pair = matrices.look_up(traces)
    log = np.log(matrices.probability)
    result: NDArray[np.int64] = most_likely_users(
        start, pair, matrices.start, matrices.user, log, np.log(FLOOR), matrices.n_users
    )
    return result


def reidentification(
    train: Traces, synthetic: SyntheticTraces, *, seed: int = 0, budget: int = BUDGET
) -> Reidentification | None:
    """Attack the synthetic traces whose owner is known; None if there are none.

    With more than `budget` additions to do, a random subset of the traces is attacked
    (against all training users), which leaves the rate unbiased.
    """
    known = owned(synthetic)
    if len(known) == 0:
        return None
    matrices = Matrices.of(train)
    draws = generator(seed, "re-identification subset")
    tried = probe(len(known), draws)
    _, pair = matrices.look_up(known.select(tried).as_traces())
    work = matrices.work(pair) * len(known) / len(tried)
    subset = random_subset(len(known), work, budget, draws)
    attacked = known if subset is None else known.select(subset)
    hit = _guess(matrices, attacked.as_traces()) == attacked.owner
    low, high = clustered_rate_interval(hit, attacked.owner)
    replicates = np.unique(attacked.replicate)
    return Reidentification(
        rate=float(hit.mean()),
        low=low,
        high=high,
        chance=1.0 / train.n_users,
        per_replicate=tuple(float(hit[attacked.replicate == r].mean()) for r in replicates),
        n_attacked=len(attacked),
        n_traces=len(synthetic),
    )
