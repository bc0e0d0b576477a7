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


# Helpers take arrays, not the chain: passing so many arrays by value would cost more than the
# sums themselves.


@njit(cache=True, **_SUMS)
def _weighted(A, user, D, slot, rows, r):
    """Return Σ_k a_nk d_lk rows[r, k]."""
    total = 0.0
    for k in range(rows.shape[1]):
        total += A[user, k] * D[slot, k] * rows[r, k]
    return total


@njit(cache=True)
def _pick_factor(A, user, D, slot, rows, r, state):
    """Draw a factor k with probability proportional to a_nk d_lk rows[r, k]."""
    last = rows.shape[1] - 1
    threshold = uniform(state) * _weighted(A, user, D, slot, rows, r)
    total = 0.0
    for k in range(last):
        total += A[user, k] * D[slot, k] * rows[r, k]
        if total > threshold:
            return k
    return last


@njit(cache=True)
def _pick_neighbour(start, neighbour, lift, B, here, k, mass, state):
    """Draw a neighbour b of here with probability K(here, b) b_bk / mass."""
    threshold = uniform(state) * mass
    total = 0.0
    last = start[here + 1] - 1
    for e in range(start[here], last):
        total += lift[e] * B[neighbour[e], k]
        if total > threshold:
            return np.int64(neighbour[e])
    return np.int64(neighbour[last])


@njit(cache=True)
def _lift_between(start, neighbour, lift, here, there):
    """Return K(here, there): 0 if they are not neighbours."""
    low = start[here]
    high = start[here + 1]
    while low < high:
        middle = (low + high) // 2
        if neighbour[middle] < there:
            low = middle + 1
        else:
            high = middle
    if low < start[here + 1] and neighbour[low] == there:
        return lift[low]
    return 0.0


@njit(cache=True)
def _stay(A, user, D, slot, B, lift_B, start, neighbour, lift, here, likes, eases):
    """Return the probability to stay of a step along the base: to propose it, or to reject.

    likes, eases : (X,) Σ_k w_k b_xk and 1 / S of this slot, NaN where not known yet.
    """
    stay = 0.0
    ease = eases[here]
    for e in range(start[here], start[here + 1]):
        b = neighbour[e]
        if np.isnan(eases[b]):
            eases[b] = 1.0 / _weighted(A, user, D, slot, lift_B, b)
        if np.isnan(likes[b]):
            likes[b] = _weighted(A, user, D, slot, B, b)
        if b == here:
            stay += lift[e] * likes[b] * ease
        elif eases[b] < ease:  # may be rejected
            stay += lift[e] * likes[b] * (ease - eases[b])
    return stay


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


@overload(_protocol.draw_first)
def _draw_first(chain, user, slot, scratch, state):
    if not is_chain(chain, BaseChain):
        return None

    def draw_first(chain, user, slot, scratch, state):
        k = _pick_factor(chain.A, user, chain.D, slot, chain.B_sum, 0, state)
        x = below(state, chain.cut.shape[1])
        return x if uniform(state) < chain.cut[k, x] else np.int64(chain.other[k, x])

    return draw_first


@overload(_protocol.draw_next, inline="always")
def _draw_next(chain, user, slot, here, scratch, state):
    if not is_chain(chain, BaseChain):
        return None

    def draw_next(chain, user, slot, here, scratch, state):
        there = np.int64(here)
        if uniform(state) < chain.jump:
            there = _protocol.draw_first(chain, user, slot, scratch, state)
        else:
            k = _pick_factor(chain.A, user, chain.D, slot, chain.lift_B, here, state)
            b = _pick_neighbour(
                chain.start, chain.neighbour, chain.lift, chain.B, here, k,
                chain.lift_B[here, k], state,
            )  # fmt: skip
            forward = _weighted(chain.A, user, chain.D, slot, chain.lift_B, b)
            backward = _weighted(chain.A, user, chain.D, slot, chain.lift_B, here)
            if accepts(forward, backward, state):
                there = b
        return there

    return draw_next


@overload(_protocol.first_probability, inline="always")
def _first_probability(chain, user, slot, place, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def first_probability(chain, user, slot, place, scratch):
        if np.isnan(scratch[slot, place]):
            scratch[slot, place] = _weighted(chain.A, user, chain.D, slot, chain.B, place)
        return scratch[slot, place] / _weighted(chain.A, user, chain.D, slot, chain.B_sum, 0)

    return first_probability


@overload(_protocol.move_probability, inline="always")
def _move_probability(chain, user, slot, here, there, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def move_probability(chain, user, slot, here, there, scratch):
        ease_row = chain.D.shape[0] + slot
        if np.isnan(scratch[slot, there]):
            scratch[slot, there] = _weighted(chain.A, user, chain.D, slot, chain.B, there)
        if np.isnan(scratch[ease_row, there]):
            scratch[ease_row, there] = 1.0 / _weighted(
                chain.A, user, chain.D, slot, chain.lift_B, there
            )
        if np.isnan(scratch[ease_row, here]):
            scratch[ease_row, here] = 1.0 / _weighted(
                chain.A, user, chain.D, slot, chain.lift_B, here
            )
        lift = _lift_between(chain.start, chain.neighbour, chain.lift, here, there)
        step = lift * min(scratch[ease_row, here], scratch[ease_row, there])
        afresh = 1.0 / _weighted(chain.A, user, chain.D, slot, chain.B_sum, 0)
        return scratch[slot, there] * (chain.jump * afresh + (1.0 - chain.jump) * step)

    return move_probability


@overload(_protocol.stay_probability, inline="always")
def _stay_probability(chain, user, slot, here, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def stay_probability(chain, user, slot, here, scratch):
        ease_row = chain.D.shape[0] + slot
        stay_row = ease_row + chain.D.shape[0]
        if np.isnan(scratch[stay_row, here]):
            if np.isnan(scratch[ease_row, here]):
                scratch[ease_row, here] = 1.0 / _weighted(
                    chain.A, user, chain.D, slot, chain.lift_B, here
                )
            step = _stay(
                chain.A, user, chain.D, slot, chain.B, chain.lift_B, chain.start, chain.neighbour,
                chain.lift, here, scratch[slot], scratch[ease_row],
            )  # fmt: skip
            afresh = scratch[slot, here] / _weighted(chain.A, user, chain.D, slot, chain.B_sum, 0)
            stay = chain.jump * afresh + (1.0 - chain.jump) * step
            scratch[stay_row, here] = min(stay, 1.0)  # rounding must not make ln p positive
        return scratch[stay_row, here]

    return stay_probability


@overload(_protocol.known_stay, inline="always")
def _known_stay(chain, slot, here, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def known_stay(chain, slot, here, scratch):
        return scratch[2 * chain.D.shape[0] + slot, here]

    return known_stay
