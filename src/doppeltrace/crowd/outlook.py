"""Whether a release can be worth anything, before and after: noise against counts."""

from __future__ import annotations

import math

from doppeltrace.crowd.ledger import rho_of
from doppeltrace.crowd.statistics import SHARES
from doppeltrace.traces import Places

GROUPS = 64
"""Groups of places on whose map noise and counts are compared."""
FREQUENCIES = 6
"""Numbers that describe the course of a day well enough."""


def noise_to_count(users: float, epsilon: float | None, delta: float, places: Places) -> float:
    """Return about how large the noise is beside the counts, on a map of 64 groups of places.

    For users with an event at every instant; above 1 the traces are worth little.
    """
    if epsilon is None:
        return 0.0
    rho = rho_of(epsilon, delta)
    groups = min(GROUPS, len(places))
    share = SHARES["dense"]
    precision = (
        2 * rho * (share["visits of 64 groups"] + share["visits of places"] * groups / len(places))
    )
    # a user of T events has norm √T; what is left of the noise of T slots is √(F / T)
    return math.sqrt(FREQUENCIES) * groups / (max(users, 1.0) * math.sqrt(precision))


def caution(users: float, epsilon: float | None, delta: float, places: Places) -> str | None:
    """Return one sentence if the traces will be worth little, else None."""
    ratio = noise_to_count(users, epsilon, delta, places)
    if ratio <= 1:
        return None
    enough = math.ceil(users * ratio / 100) * 100
    return (
        f"with about {users:,.0f} users and ε = {epsilon:g} the noise is about {ratio:.1f} times "
        f"the counts of a map of {min(GROUPS, len(places))} groups of places, so the traces are "
        f"worth little: have about {enough:,} users or more, or a larger ε"
    )
