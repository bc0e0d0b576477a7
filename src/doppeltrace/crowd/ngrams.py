"""A noisy tree of n-grams, grown level by level, and walks along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.contributions import clipped_sum, counts_of_users, norms, release_clip
from doppeltrace.crowd.ledger import Ledger
from doppeltrace.traces import Traces

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STANDS_OUT = 4.0
"""σ that a noisy count must exceed for its gram to be kept."""
MAX_CELLS = 500_000
"""Candidates of one level at most: the grams with the largest counts are extended first."""


@dataclass(frozen=True, eq=False)
class NGrams:
    """Contexts (grams with known continuations; 0 is the empty one) and where they lead.

    Attributes
    ----------
    start : (C + 1,) continuations of context c are start[c] … start[c + 1] − 1.
    place : (E,) the next place; reached : (E,) cumulative shares within the context.
    context : (E,) the context after it: the longest known suffix.
    """

    start: Integers
    place: Integers
    reached: Floats
    context: Integers

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {
            "start": self.start,
            "place": self.place,
            "reached": self.reached,
            "context": self.context,
        }

    def walk(self, draws: Floats, out: NDArray[np.int32]) -> None:
        """Fill `out` (n, T) from uniform numbers (T, n)."""
        owner = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        flat = self.reached + owner
        context = np.zeros(len(out), dtype=np.int64)
        for t in range(out.shape[1]):
            at = np.searchsorted(flat, context + draws[t], side="right")
            at = np.clip(at, self.start[context], self.start[context + 1] - 1)
            out[:, t] = self.place[at]
            context = self.context[at]


def grow(traces: Traces, ledger: Ledger, longest: int, share: float, norms_share: float) -> NGrams:
    """Return the grams that stand out of the noise.

    share : of ρ, for each level, of which `norms_share` / longest goes to its clip.
    """
    n_places, n_users = len(traces.places), traces.n_users
    place, user = traces.location.astype(np.int64), traces.user
    goes_on = np.zeros(len(place), dtype=bool)  # the event before is one instant earlier
    goes_on[1:] = (np.diff(traces.instant) == 1) & (np.diff(user) == 0)
    ending = np.where(np.ones(len(place), bool), 0, -1)  # context that ends before each event
    grams: list[tuple[int, ...]] = [()]
    extended = np.array([0])
    children: dict[tuple[int, ...], tuple[Integers, Floats]] = {}
    for level in range(longest):
        number = np.full(len(grams), -1, dtype=np.int64)
        number[extended] = np.arange(len(extended))
        known = (ending >= 0) & (number[ending] >= 0)
        size = len(extended) * n_places
        who, what, count = counts_of_users(
            user[known], number[ending[known]] * n_places + place[known]
        )
        clip = release_clip(
            ledger, f"norms of {level + 1}-grams", norms(who, count, n_users), size,
            norms_share / longest,
        )  # fmt: skip
        value, sigma = ledger.release(
            f"{level + 1}-grams",
            clipped_sum(who, what, count, n_users, size, clip),
            clip,
            share - norms_share / longest,
        )
        kept = np.flatnonzero(value > max(STANDS_OUT * sigma, 0.5))
        if level == 0 and len(kept) == 0:
            value, kept = np.ones(size), np.arange(size)
        parent, last = extended[kept // n_places], kept % n_places
        first_new = len(grams)
        of_cell = np.full(size, -1, dtype=np.int64)
        of_cell[kept] = first_new + np.arange(len(kept))
        for gram in np.unique(parent):
            mine = parent == gram
            children[grams[gram]] = last[mine], value[kept[mine]]
        grams += [(*grams[p], int(x)) for p, x in zip(parent, last, strict=True)]
        grown = np.full(len(place), -1, dtype=np.int64)
        grown[known] = of_cell[number[ending[known]] * n_places + place[known]]
        ending = np.full(len(place), -1, dtype=np.int64)
        ending[1:] = np.where(goes_on[1:], grown[:-1], -1)
        largest = np.argsort(-value[kept], kind="stable")[: MAX_CELLS // n_places]
        extended = first_new + np.sort(largest)
        if len(extended) == 0:
            break
    return _contexts(children)


def _contexts(children: dict[tuple[int, ...], tuple[Integers, Floats]]) -> NGrams:
    number = {gram: i for i, gram in enumerate(children)}
    start, place, reached, context = [0], [], [], []
    for gram, (last, value) in children.items():
        total = np.cumsum(value)
        for x in last.tolist():
            longer = (*gram, x)
            context.append(next(number[longer[i:]] for i in range(len(longer) + 1)
                                if longer[i:] in number))  # fmt: skip
        place.append(last)
        reached.append(total / total[-1])
        start.append(start[-1] + len(last))
    return NGrams(
        np.array(start), np.concatenate(place), np.concatenate(reached), np.array(context)
    )
