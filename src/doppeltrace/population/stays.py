"""How long a slot holds people: the chain is to move as often as they do, hour by hour.

The base says where people go from a place, all hours together. How many stay differs between
rush hour and night, and the base exaggerates it: moves of few users are left out, stays are not.
Each slot therefore multiplies the base's diagonal by its own h (`BaseChain.stay_multiplier`), so
that the share of steps that stay is the training users' share in that slot.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.chain import _base_kernels as _base_kernels  # gives the protocol its bodies
from doppeltrace.chain import _kernels as kernels
from doppeltrace.chain.base_chain import BaseChain
from doppeltrace.engine.local import run_blocks
from doppeltrace.traces import Traces

MIN_FOLLOWED = 0.5
"""Share of events that must follow another, one instant before, for stays to be recorded."""
DRAWS = 400
"""Users and places drawn per slot, on which the share of stays is computed exactly."""
SMALLEST, LARGEST = 1e-3, 1e3
HALVINGS = 14
"""Halvings of the logarithm of [SMALLEST, LARGEST]: h is found to 0.1 %."""


def records_stays(traces: Traces) -> bool:
    """Tell whether people are seen often enough for a stay to show: check-ins are not."""
    return len(traces.transitions()[0]) >= MIN_FOLLOWED * traces.n_events


def stay_shares(traces: Traces, min_users: int) -> NDArray[np.float64]:
    """Return (slots,) the share of transitions into a slot that stay at the place.

    A slot in which fewer than `min_users` users are seen moving or staying gets the share of all
    transitions.
    """
    user, origin, destination, slot = traces.transitions()
    n_slots = traces.clock.n_slots
    stayed, seen = (
        np.bincount(slot, weight, minlength=n_slots)
        for weight in ((origin == destination).astype(np.float64), np.ones(len(slot)))
    )
    who = np.unique(slot.astype(np.int64) * traces.n_users + user) // max(traces.n_users, 1)
    enough = np.bincount(who, minlength=n_slots) >= max(min_users, 1)
    return np.where(enough, stayed / np.maximum(seen, 1), stayed.sum() / max(seen.sum(), 1))


def follow_stays(chain: BaseChain, traces: Traces, min_users: int, seed: int) -> BaseChain:
    """Return the chain that stays as often, slot by slot, as the training users do."""
    return fit_holding(chain, stay_shares(traces, min_users), seed)


def fit_holding(chain: BaseChain, shares: NDArray[np.float64], seed: int) -> BaseChain:
    """Return the chain with the h of each slot that gives these shares of stays, or nearly.

    shares : (slots,). The share of a slot is the mean of Q_{n,l}(x | x) over users n drawn at
    random and x from π_{n,l}. Where rejections alone keep too many, h is as small as it may be.
    """
    n_slots = len(shares)
    rng = streams.generator(seed, "holding users")
    users = rng.integers(len(chain.A), size=(n_slots, DRAWS))
    places = kernels.draw_places(chain, users, streams.key(seed, "holding places"))
    low, high = (np.full(n_slots, np.log(bound)) for bound in (SMALLEST, LARGEST))
    stays = np.empty(n_slots)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = chain._replace(stay_multiplier=np.exp(middle))
        run_blocks(partial(_mean_stays, tried, users, places, stays), n_slots)
        too_many = stays > shares
        low, high = np.where(too_many, low, middle), np.where(too_many, middle, high)
    return chain._replace(stay_multiplier=np.exp((low + high) / 2))


def _mean_stays(
    chain: BaseChain,
    users: NDArray[np.int64],
    places: NDArray[np.int32],
    out: NDArray[np.float64],
    first: int,
    last: int,
) -> None:
    kernels.mean_stays(first, last, chain, users, places, out)
