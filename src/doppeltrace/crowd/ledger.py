"""The privacy ledger: who spends which share of the budget, and what that comes to.

Every statistic is a sum of one vector per user of L2 norm at most Δ, released with Gaussian
noise of σ = Δ / √(2 ρ share): that is (ρ · share)-zCDP, and shares add up (Bun & Steinke 2016).
All of ρ together is (ε, δ)-differential privacy by the tight conversion of Canonne, Kamath and
Steinke (2020, Corollary 13). The unit is one user with all of their data, added or removed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from doppeltrace.crowd.noise import Integers, Noise
from doppeltrace.errors import require

GRID = 2**16
"""Contributions are whole multiples of 1 / GRID, so that sums are exact integers."""

_SLACK = 1e-9


def delta_of(rho: float, epsilon: float) -> float:
    """Return the smallest δ for which ρ-zCDP implies (ε, δ)-differential privacy.

    δ = min over α > 1 of exp((α − 1)(αρ − ε)) (1 − 1/α)^α / (α − 1).
    """
    if rho <= 0:
        return 0.0

    def log_delta(log_excess: float) -> float:
        excess = math.exp(log_excess)  # α − 1
        alpha = 1.0 + excess
        return excess * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(excess)

    best = minimize_scalar(log_delta, bounds=(-15, 15), method="bounded", options={"xatol": 1e-10})
    return float(min(1.0, math.exp(best.fun)))


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest ρ whose ρ-zCDP implies (ε, δ)-differential privacy."""
    require(epsilon > 0, "epsilon must be positive, or None for no noise")
    require(0 < delta < 1, "delta must be above 0 and below 1")

    def gap(log_rho: float) -> float:
        return math.log(max(delta_of(math.exp(log_rho), epsilon), 1e-300)) - math.log(delta)

    found = brentq(gap, math.log(1e-14), math.log(epsilon + 1.0), xtol=1e-13)
    return math.exp(found) * (1 - 1e-9)  # never above what the root finder's tolerance allows


@dataclass(frozen=True)
class Entry:
    """One statistic that was released: its name, cells, Δ, share of ρ, and σ (0: no noise)."""

    name: str
    cells: int
    sensitivity: float
    share: float
    sigma: float


@dataclass
class Ledger:
    """Adds noise and keeps the books; nobody else sees a statistic before its noise.

    Attributes
    ----------
    rho : the whole budget in zCDP; infinite for no noise.
    noise : where noise comes from.
    entries : what has been released.
    """

    rho: float
    noise: Noise
    entries: list[Entry] = field(default_factory=list)

    @property
    def spent(self) -> float:
        """Return the share of ρ that is gone."""
        return sum(entry.share for entry in self.entries)

    def release(
        self, name: str, total: Integers, sensitivity: float, share: float
    ) -> tuple[NDArray[np.float64], float]:
        """Return (noisy values, σ) of a sum of users' vectors, in units of one event.

        total : sum over users in units of 1 / GRID.
        sensitivity : Δ, bound of one user's L2 norm, in units of one event.
        share : of ρ; a statistic without a share is refused, as is one too many.
        """
        if share <= 0 or self.spent + share > 1 + _SLACK:
            raise RuntimeError(f"the privacy budget has no share {share} left for {name}")
        sigma = 0.0 if math.isinf(self.rho) else sensitivity / math.sqrt(2 * self.rho * share)
        noisy = total if sigma == 0 else self.noise.add(total, sigma * GRID)
        self.entries.append(Entry(name, total.size, sensitivity, share, sigma))
        return noisy.astype(np.float64) / GRID, sigma
