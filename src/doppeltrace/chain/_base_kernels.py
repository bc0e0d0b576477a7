"""Our chain: the population's moves, tilted by what the user likes in the slot.

With w_k = a_nk d_lk the target is π(x) ∝ Σ_k w_k b_xk. The base K is symmetric and sparse;
the proposal from a is Q*(b | a) = K(a,b) π(b) / S(a), S(a) = Σ_b K(a,b) π(b) = Σ_k w_k (K B)_ak,
so a row's sum costs O(z). Metropolis–Hastings then accepts with min(1, S(a) / S(b)), which is
near one, and

    Q(b | a) = K(a,b) π(b) min(1 / S(a), 1 / S(b)),   b ≠ a.

With probability τ the chain draws afresh from π instead; both kinds of step leave π as it is.
Nothing here costs more than O(z) per neighbour of a place, however many places there are.

Scratch for draws is empty. Scratch for probabilities holds, for each slot and place, NaN until
known: Σ_k w_k b_xk in the first L rows, 1 / S in the next L, the probability to stay in the
last L.
"""

import numpy as np
from numba import njit
from numba.extending import overload

from doppeltrace._stream_kernels import below, uniform
from doppeltrace.chain import _protocol
from doppeltrace.chain._protocol import accepts, is_chain
from doppeltrace.chain.base_chain import BaseChain

_SUMS = {"fastmath": {"contract", "reassoc", "nsz"}}


@njit(cache=True, forceinline=True, **_SUMS)
def _weighted(chain, user, slot, rows, r):
    """Return Σ_k a_nk d_lk rows[r, k]."""
    total = 0.0
    for k in range(rows.shape[1]):
        total += chain.A[user, k] * chain.D[slot, k] * rows[r, k]
    return total


@njit(cache=True, forceinline=True)
def _pick_factor(chain, user, slot, rows, r, state):
    """Draw a factor k with probability proportional to a_nk d_lk rows[r, k]."""
    last = rows.shape[1] - 1
    threshold = uniform(state) * _weighted(chain, user, slot, rows, r)
    total = 0.0
    for k in range(last):
        total += chain.A[user, k] * chain.D[slot, k] * rows[r, k]
        if total > threshold:
            return k
    return last


@njit(cache=True, forceinline=True)
def _pick_neighbour(chain, here, k, state):
    """Draw a neighbour b of here with probability K(here, b) b_bk / (K B)_{here,k}."""
    threshold = uniform(state) * chain.lift_B[here, k]
    total = 0.0
    last = chain.start[here + 1] - 1
    for e in range(chain.start[here], last):
        total += chain.lift[e] * chain.B[chain.neighbour[e], k]
        if total > threshold:
            return chain.neighbour[e]
    return chain.neighbour[last]


@njit(cache=True, forceinline=True)
def _lift_between(chain, here, there):
    """Return K(here, there): 0 if they are not neighbours."""
    low = chain.start[here]
    high = chain.start[here + 1]
    while low < high:
        middle = (low + high) // 2
        if chain.neighbour[middle] < there:
            low = middle + 1
        else:
            high = middle
    if low < chain.start[here + 1] and chain.neighbour[low] == there:
        return chain.lift[low]
    return 0.0


@njit(cache=True, forceinline=True)
def _liking(chain, user, slot, place, scratch):
    """Return Σ_k w_k b_xk, remembered in scratch."""
    if np.isnan(scratch[slot, place]):
        scratch[slot, place] = _weighted(chain, user, slot, chain.B, place)
    return scratch[slot, place]


@njit(cache=True, forceinline=True)
def _ease(chain, user, slot, place, scratch):
    """Return 1 / S(place), S(x) = Σ_k w_k (K B)_xk, remembered in scratch."""
    row = chain.D.shape[0] + slot
    if np.isnan(scratch[row, place]):
        scratch[row, place] = 1.0 / _weighted(chain, user, slot, chain.lift_B, place)
    return scratch[row, place]


@overload(_protocol.scratch_shape)
def _scratch_shape(chain, for_draws):
    if not is_chain(chain, BaseChain):
        return None

    def scratch_shape(chain, for_draws):
        if for_draws:
            return (0, 0)
        return (3 * chain.D.shape[0], chain.B.shape[0])

    return scratch_shape


@overload(_protocol.prepare)
def _prepare(chain, user, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def prepare(chain, user, scratch):
        scratch[:] = np.nan

    return prepare


@overload(_protocol.draw_first, jit_options={"forceinline": True})
def _draw_first(chain, user, slot, scratch, state):
    if not is_chain(chain, BaseChain):
        return None

    def draw_first(chain, user, slot, scratch, state):
        k = _pick_factor(chain, user, slot, chain.B_sum, 0, state)
        x = below(state, chain.cut.shape[1])
        return x if uniform(state) < chain.cut[k, x] else np.int64(chain.other[k, x])

    return draw_first


@overload(_protocol.draw_next, jit_options={"forceinline": True})
def _draw_next(chain, user, slot, here, scratch, state):
    if not is_chain(chain, BaseChain):
        return None

    def draw_next(chain, user, slot, here, scratch, state):
        if uniform(state) < chain.jump:
            return _protocol.draw_first(chain, user, slot, scratch, state)
        k = _pick_factor(chain, user, slot, chain.lift_B, here, state)
        there = np.int64(_pick_neighbour(chain, here, k, state))
        forward = _weighted(chain, user, slot, chain.lift_B, there)
        backward = _weighted(chain, user, slot, chain.lift_B, here)
        return there if accepts(forward, backward, state) else np.int64(here)

    return draw_next


@overload(_protocol.first_probability, jit_options={"forceinline": True})
def _first_probability(chain, user, slot, place, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def first_probability(chain, user, slot, place, scratch):
        total = _weighted(chain, user, slot, chain.B_sum, 0)
        return _liking(chain, user, slot, place, scratch) / total

    return first_probability


@overload(_protocol.move_probability, jit_options={"forceinline": True})
def _move_probability(chain, user, slot, here, there, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def move_probability(chain, user, slot, here, there, scratch):
        liking = _liking(chain, user, slot, there, scratch)
        ease = min(
            _ease(chain, user, slot, here, scratch), _ease(chain, user, slot, there, scratch)
        )
        step = _lift_between(chain, here, there) * liking * ease
        afresh = liking / _weighted(chain, user, slot, chain.B_sum, 0)
        return chain.jump * afresh + (1.0 - chain.jump) * step

    return move_probability


@overload(_protocol.stay_probability, jit_options={"forceinline": True})
def _stay_probability(chain, user, slot, here, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def stay_probability(chain, user, slot, here, scratch):
        row = 2 * chain.D.shape[0] + slot
        if np.isnan(scratch[row, here]):
            ease = _ease(chain, user, slot, here, scratch)
            stay = 0.0
            for e in range(chain.start[here], chain.start[here + 1]):
                b = chain.neighbour[e]
                proposed = chain.lift[e] * _liking(chain, user, slot, b, scratch)
                if b == here:
                    stay += proposed * ease
                else:  # proposed, but rejected
                    stay += proposed * max(0.0, ease - _ease(chain, user, slot, b, scratch))
            liking = _liking(chain, user, slot, here, scratch)
            afresh = liking / _weighted(chain, user, slot, chain.B_sum, 0)
            scratch[row, here] = chain.jump * afresh + (1.0 - chain.jump) * stay
        return scratch[row, here]

    return stay_probability
