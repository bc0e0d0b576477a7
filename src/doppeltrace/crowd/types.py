"""Types of users: latent classes from who is here in the morning and there in the evening.

The mean of s_p s_p′ᵀ over users (s_p: a user's shares of groups in part p of the cycle) is
Σ_k w_k φ_pk φ_p′kᵀ if users of type k have mean shares φ_pk and the parts are independent given
the type. w and φ follow by non-negative least squares on the off-diagonal blocks; mobility classes
are one more "part". The number of types is the one with the smallest residual plus twice the
noise of every free number.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.statistics import Noisy

Floats = NDArray[np.float64]

CHOICES = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of types that are tried, up to the largest allowed."""
STARTS = 2
FILLING_ROUNDS = 10
ROUNDS = 60


@dataclass(frozen=True, eq=False)
class Types:
    """Types of users.

    Attributes
    ----------
    weight : (K,) share of each type, sum 1.
    share : (P, G, K) where users of a type are in each part of the cycle; sums to 1 over groups.
    mobility : (Q, K) share of each mobility class; sums to 1 over classes.
    """

    weight: Floats
    share: Floats
    mobility: Floats


def fit_types(
    table: Noisy, public: PublicInputs, n_classes: int, largest: int, rng: np.random.Generator
) -> Types:
    """Return the types that the co-occurrences support, at most `largest`."""
    groups = int(public.type_group.max()) + 1
    parts = public.n_parts
    sizes = [groups] * parts + ([n_classes] if n_classes > 1 else [])
    if len(sizes) < 2:
        return Types(np.ones(1), np.full((parts, groups, 1), 1 / groups), np.ones((1, 1)))
    blocks = _blocks(table, sizes, parts)
    beside = [
        np.concatenate([blocks[v, u] for u in range(len(sizes)) if u != v], axis=1)
        for v in range(len(sizes))
    ]
    best: tuple[float, Floats, list[Floats]] | None = None
    behind = 0
    for number in [c for c in CHOICES if c <= largest]:
        score, weight, shares = min(
            (_attempt(beside, blocks, number, table.sigma, rng) for _ in range(STARTS)),
            key=lambda found: found[0],
        )
        if best is None or score < best[0]:
            best, behind = (score, weight, shares), 0
        else:
            behind += 1
            if behind == 2:
                break
    assert best is not None
    _, weight, shares = best
    mobility = shares[parts] if n_classes > 1 else np.ones((1, len(weight)))
    return Types(weight / weight.sum(), np.stack(shares[:parts]), mobility)


def _blocks(table: Noisy, sizes: list[int], parts: int) -> dict[tuple[int, int], Floats]:
    """Return the co-occurrence blocks both ways round."""
    value, rare = table.value, table.rare
    pairs = list(combinations(range(parts), 2))
    pairs += [(p, parts) for p in range(parts)] if len(sizes) > parts else []
    found: dict[tuple[int, int], Floats] = {}
    at = 0
    for u, v in pairs:
        cells = slice(at, at + sizes[u] * sizes[v])
        block = value[cells].reshape(sizes[u], sizes[v])
        if rare is not None:
            block = _without_types(block, rare[cells].reshape(block.shape))
        found[u, v], found[v, u] = block, block.T
        at += block.size
    return found


def _without_types(block: Floats, rare: NDArray[np.bool_]) -> Floats:
    """Return the block with its rare cells as if both parts were independent of each other.

    They keep their sum, and tell nothing of which groups go together.
    """
    total = block[rare].sum()
    if total <= 0:
        return block
    filled = block.copy()
    for _ in range(FILLING_ROUNDS):
        alone = np.outer(filled.sum(axis=1), filled.sum(axis=0))[rare]
        filled[rare] = alone * (total / max(alone.sum(), 1e-300))
    return filled


def _attempt(
    beside: list[Floats],
    blocks: dict[tuple[int, int], Floats],
    number: int,
    sigma: float,
    rng: np.random.Generator,
) -> tuple[float, Floats, list[Floats]]:
    """Return (score, weights, shares) of one start with this many types."""
    weight, shares = _least_squares(beside, number, sigma, rng)
    residual = sum(
        float(((block - (shares[u] * weight) @ shares[v].T) ** 2).sum())
        for (u, v), block in blocks.items()
        if u < v
    )
    free = sum(int((share > 1e-9).sum()) for share in shares)
    return residual + 2 * sigma**2 * free, weight, shares


def _least_squares(
    beside: list[Floats], number: int, sigma: float, rng: np.random.Generator
) -> tuple[Floats, list[Floats]]:
    """Return (weights, shares) by alternating coordinate descent, thresholded at the noise."""
    n = len(beside)
    total = max(float(np.median([b.sum() for b in beside])) / (n - 1), 1.0)
    shares = []
    for block in beside:
        mean = np.maximum(block.sum(axis=1), 1e-9 * total)
        start = (rng.gamma(1.0, size=(len(mean), number)) + 0.1) * mean[:, None]
        shares.append(start / start.sum(axis=0))
    weight = np.full(number, total / number)
    for turn in range(ROUNDS):
        for v in range(n):
            others = np.concatenate([shares[u] for u in range(n) if u != v])
            gram, match = others.T @ others, beside[v] @ others
            mass = shares[v] * weight
            for _ in range(2):
                for k in range(number):
                    pull = match[:, k] - mass @ gram[:, k] + mass[:, k] * gram[k, k]
                    threshold = sigma * np.sqrt(gram[k, k])
                    mass[:, k] = np.maximum(pull - threshold, 0) / max(gram[k, k], 1e-12)
            small = mass.sum(axis=0) < 1e-6 * total
            mass[:, small] = 1e-6 * total / len(mass)
            column = mass.sum(axis=0)
            shares[v] = mass / column
            weight = column if turn < 3 else 0.5 * (weight + column)
    return weight, shares
