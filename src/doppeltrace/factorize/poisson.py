"""Beyond the paper: both tensors as coupled Poisson counts, factorized by Gibbs sampling.

    r^I_{nij} ~ Poisson(E_ij Σ_k a_nk b_ik c_jk),   r^II_{nil} ~ Poisson(Σ_k a_nk b_ik d_lk),

with Gamma(shape, rate) priors on all entries. Given Θ, each positive count splits over the
factors (multinomial, weights a b c or a b d); given the split, every entry is Gamma. All zeros
count, exactly, at no cost: the rates need only column sums. E, the exposure, is what the
population's moves say of a step by themselves; without it E = 1. A sweep costs the number of
positive elements × z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from doppeltrace import streams
from doppeltrace.engine import exact
from doppeltrace.engine.local import run, run_blocks, threads
from doppeltrace.errors import require
from doppeltrace.factorize import _poisson_kernels as kernels
from doppeltrace.factorize.state import Factors, Observations, State


@dataclass(frozen=True)
class GammaPrior:
    """Shape and rate of the Gamma priors of A, B, C, D."""

    shape: float = 0.1
    rate: float = 1.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(0 < self.shape < math.inf, "shape must be positive and finite")
        require(0 < self.rate < math.inf, "rate must be positive and finite")


@dataclass(frozen=True, eq=False)
class Exposure:
    """E = sparse + floor: (places, places), every entry positive."""

    sparse: csr_array
    floor: float

    def onward(self, c: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (places, z) Σ_j E_ij c_jk."""
        found: NDArray[np.float64] = self.sparse @ c + self.floor * c.sum(axis=0)
        return found

    def inward(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (places, z) Σ_i E_ij b_ik."""
        found: NDArray[np.float64] = self.sparse.T @ b + self.floor * b.sum(axis=0)
        return found


@dataclass(frozen=True)
class Info:
    """What a step tells: Σ (r ln r̂ − r̂) per event, at the Θ it started from.

    It differs from the log-likelihood by terms that Θ does not change: ln r! and r ln E.
    """

    log_likelihood: float


def init(observations: Observations, factors: int, seed: int) -> State:
    """Return a start near the data's scale: equal entries, shaken by ±10 %."""
    users, places, slots = observations.visits.shape
    rng = streams.generator(seed, "initial factors")
    events = max(int(observations.visits.count.sum()), 1)
    level = (events / users / places / slots / factors) ** (1 / 3)
    return State(
        Factors(
            *(
                level * rng.uniform(0.9, 1.1, (rows, factors))
                for rows in (users, places, places, slots)
            )
        ),
        0,
    )


def step(
    state: State,
    observations: Observations,
    prior: GammaPrior,
    seed: int,
    exposure: Exposure | None = None,
) -> tuple[State, Info]:
    """Split all counts given Θ, then draw A, B, C, D in turn."""
    iteration = state.iteration + 1
    old = state.factors
    t, v = observations.transitions, observations.visits
    lanes = threads()
    b_parts, c_parts, d_parts = (
        np.zeros((lanes, *rows.shape), np.int64) for rows in (old.B, old.C, old.D)
    )
    a = np.empty_like(old.A)
    fit = np.empty(len(a))
    # What a place leads to, by a step or by its slots: (places, z), or (z,) without exposure.
    onward = old.C.sum(axis=0) if exposure is None else exposure.onward(old.C)
    onward = onward + old.D.sum(axis=0)
    of_users = (old.B * onward).sum(axis=0)
    rate = prior.rate + of_users
    key = streams.key(seed, "draw A", iteration)
    run(  # whole numbers add up to the same whatever the lanes
        lambda lane: kernels.draw_users(
            len(a) * lane // lanes, len(a) * (lane + 1) // lanes,
            t.offsets, t.row, t.column, t.count, v.offsets, v.row, v.column, v.count,
            old.A, old.B, old.C, old.D, prior.shape, rate, key, a, fit,
            b_parts[lane], c_parts[lane], d_parts[lane],
        ),
        lanes,
    )  # fmt: skip

    def draw(name: str, parts: NDArray[Any], weight: NDArray[Any]) -> NDArray[np.float64]:
        rows = np.empty(parts.shape[1:])
        rate = np.ascontiguousarray(np.broadcast_to(prior.rate + weight, rows.shape))
        units = parts.sum(axis=0)
        key = streams.key(seed, f"draw {name}", iteration)
        run_blocks(
            lambda first, last: kernels.draw_rows(
                first, last, units, prior.shape, rate, key, rows
            ),
            len(rows),
        )
        return rows

    a_sum = exact.column_sums(a)
    b = draw("B", b_parts, a_sum * onward)
    inward = b.sum(axis=0) if exposure is None else exposure.inward(b)
    c = draw("C", c_parts, a_sum * inward)
    d = draw("D", d_parts, a_sum * b.sum(axis=0))
    expected = float(np.sum(exact.column_sums(old.A) * of_users))
    events = max(int(v.count.sum()), 1)
    info = Info((exact.total(fit) - expected) / events)
    return State(Factors(a, b, c, d), iteration), info
