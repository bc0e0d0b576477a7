"""Our chain: the population's moves, tilted by what the user likes in the slot.

With w_k = a_nk d_lk the target is π(x) ∝ Σ_k w_k b_xk. The base K_l is symmetric and sparse, and
the same in all slots but for its diagonal, K_l(a,a) = h_l K(a,a): in some slots people stay more.
The proposal from a is Q*(b | a) = K_l(a,b) π(b) / S(a), S(a) = Σ_b K_l(a,b) π(b), and with K° for
K without its diagonal

    S(a) = Σ_k w_k (K° B)_ak + h_l K(a,a) Σ_k w_k b_ak,

so a row's sum costs O(z). Metropolis–Hastings then accepts with min(1, S(a) / S(b)), which is
near one, and

    Q(b | a) = K(a,b) π(b) min(1 / S(a), 1 / S(b)),   b ≠ a.

With probability τ the chain draws afresh from π instead; both kinds of step leave π as it is.
Nothing here costs more than O(z) per neighbour of a place, however many places there are.

Scratch for draws and for a few traces is empty: what is asked for is computed. For many traces
it holds, for each slot and place, Σ_k w_k b_xk in the first L rows, 1 / S in the next L, and in
the next L the logarithm of the probability to stay, NaN until known; the last row holds one
over the sum of Σ_k w_k b_xk of each slot. Sums go over k in order and are never regrouped, so
that both ways give the same bits.
"""
# mypy: ignore-errors

import numpy as np
from numba.extending import overload

from doppeltrace._stream_kernels import below, uniform
from doppeltrace.chain import _protocol
from doppeltrace.chain._protocol import GROUP, MANY, accepts, is_chain, log_probability
from doppeltrace.chain.base_chain import BaseChain
from doppeltrace.engine.kernel import kernel

# Helpers take arrays, not the chain: passing so many arrays by value would cost more than the
# sums themselves.


_INLINED = {"forceinline": True}  # by LLVM: Numba's own inlining is compiled again in every caller

_FIRST = np.int64(0)
"""The only row of B_sum: of the type of all other rows, so that helpers are compiled once."""


@kernel
def _weighted(A, user, D, slot, rows, r):
    """Return Σ_k a_nk d_lk rows[r, k]."""
    total = 0.0
    for k in range(rows.shape[1]):
        total += A[user, k] * D[slot, k] * rows[r, k]
    return total


@kernel
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


@kernel
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


@kernel
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


@kernel
def _fill(A, user, D, slot, rows_t, out):
    """Write Σ_k a_nk d_lk rows_t[k, x] of every place x to out (≥ X,); rows_t (z, X)."""
    z, n_places = rows_t.shape
    out[:n_places] = 0.0
    for k in range(0, z - 1, 2):
        v = A[user, k] * D[slot, k]
        w = A[user, k + 1] * D[slot, k + 1]
        for x in range(n_places):
            out[x] = (out[x] + v * rows_t[k, x]) + w * rows_t[k + 1, x]
    if z % 2:
        w = A[user, z - 1] * D[slot, z - 1]
        for x in range(n_places):
            out[x] += w * rows_t[z - 1, x]


@kernel
def _to_inverse_row_sums(sums, affinities, stay_multiplier, own):
    """Turn Σ_k w_k (K° B)_xk of every place into 1 / S; affinities : Σ_k w_k b_xk."""
    for x in range(len(own)):
        sums[x] = 1.0 / (sums[x] + stay_multiplier * own[x] * affinities[x])


@kernel
def _affinity_and_row_sum(A, user, D, slot, B, own, stay_multiplier, lift_B, place):
    """Return Σ_k w_k b_xk and S of a place, both in one pass."""
    affinity = 0.0
    away = 0.0
    for k in range(B.shape[1]):
        w = A[user, k] * D[slot, k]
        affinity += w * B[place, k]
        away += w * lift_B[place, k]
    return affinity, away + stay_multiplier[slot] * own[place] * affinity


@kernel
def _known_step_stay(start, neighbour, lift, own_here, here, affinities, inverse_sums):
    """Return the probability to stay of a step along the base: to propose it, or to reject.

    own_here : K_l(here, here). affinities, inverse_sums : (≥ X,) Σ_k w_k b_xk and 1 / S of this
    slot.
    """
    inverse_sum = inverse_sums[here]
    stay = own_here * affinities[here] * inverse_sum
    for e in range(start[here], start[here + 1]):
        b = neighbour[e]
        lost = inverse_sum - inverse_sums[b]
        stay += lift[e] * affinities[b] * (lost if lost > 0.0 else 0.0)
    return stay


@kernel
def _step_stay(A, user, D, slot, B, own, stay_multiplier, lift_B, start, neighbour, lift, here):
    """Return the same without tables."""
    affinity, row_sum = _affinity_and_row_sum(
        A, user, D, slot, B, own, stay_multiplier, lift_B, here
    )
    inverse_sum = 1.0 / row_sum
    stay = stay_multiplier[slot] * own[here] * affinity * inverse_sum
    for e in range(start[here], start[here + 1]):
        b = np.int64(neighbour[e])
        affinity, row_sum = _affinity_and_row_sum(
            A, user, D, slot, B, own, stay_multiplier, lift_B, b
        )
        lost = inverse_sum - 1.0 / row_sum
        stay += lift[e] * affinity * (lost if lost > 0.0 else 0.0)
    return stay


@kernel(forceinline=True)
def _affinity(chain, user, slot, place, scratch):
    """Return Σ_k w_k b_xk, which is π up to a factor."""
    if len(scratch) > 0:
        return scratch[slot, place]
    return _weighted(chain.A, user, chain.D, slot, chain.B, place)


@kernel(forceinline=True)
def _inverse_row_sum(chain, user, slot, place, scratch):
    """Return 1 / S(place)."""
    if len(scratch) > 0:
        return scratch[chain.D.shape[0] + slot, place]
    _, row_sum = _affinity_and_row_sum(
        chain.A, user, chain.D, slot, chain.B, chain.own, chain.stay_multiplier,
        chain.lift_B, place,
    )  # fmt: skip
    return 1.0 / row_sum


@kernel(forceinline=True)
def _inverse_norm(chain, user, slot, scratch):
    """Return 1 / Σ_x Σ_k w_k b_xk, the factor that makes affinities a distribution."""
    if len(scratch) > 0:
        return scratch[3 * chain.D.shape[0], slot]
    return 1.0 / _weighted(chain.A, user, chain.D, slot, chain.B_sum, _FIRST)


@overload(_protocol.scratch_shape)
def _scratch_shape(chain, purpose):
    if not is_chain(chain, BaseChain):
        return None

    def scratch_shape(chain, purpose):
        if purpose != MANY:
            return (0, 0)
        n_slots = chain.D.shape[0]
        return (3 * n_slots + 1, max(chain.B.shape[0], n_slots))

    return scratch_shape


@overload(_protocol.prepare)
def _prepare(chain, user, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def prepare(chain, user, scratch):
        if len(scratch) == 0:
            return
        n_slots = chain.D.shape[0]
        for slot in range(n_slots):
            _fill(chain.A, user, chain.D, slot, chain.B_t, scratch[slot])
            _fill(chain.A, user, chain.D, slot, chain.lift_B_t, scratch[n_slots + slot])
            _to_inverse_row_sums(
                scratch[n_slots + slot], scratch[slot], chain.stay_multiplier[slot], chain.own
            )
            total = _weighted(chain.A, user, chain.D, slot, chain.B_sum, _FIRST)
            scratch[3 * n_slots, slot] = 1.0 / total
        scratch[2 * n_slots : 3 * n_slots] = np.nan

    return prepare


@overload(_protocol.draw_first)
def _draw_first(chain, user, slot, scratch, state):
    if not is_chain(chain, BaseChain):
        return None

    def draw_first(chain, user, slot, scratch, state):
        k = _pick_factor(chain.A, user, chain.D, slot, chain.B_sum, _FIRST, state)
        x = below(state, chain.cut.shape[1])
        return x if uniform(state) < chain.cut[k, x] else np.int64(chain.other[k, x])

    return draw_first


@overload(_protocol.draw_next, jit_options=_INLINED)
def _draw_next(chain, user, slot, here, scratch, state):
    if not is_chain(chain, BaseChain):
        return None

    def draw_next(chain, user, slot, here, scratch, state):
        there = here
        if uniform(state) < chain.jump:
            there = _protocol.draw_first(chain, user, slot, scratch, state)
        else:
            affinity, row_sum = _affinity_and_row_sum(
                chain.A, user, chain.D, slot, chain.B, chain.own, chain.stay_multiplier,
                chain.lift_B, here,
            )  # fmt: skip
            stay = chain.stay_multiplier[slot] * chain.own[here] * affinity
            if uniform(state) * row_sum >= stay:
                k = _pick_factor(chain.A, user, chain.D, slot, chain.lift_B, here, state)
                b = _pick_neighbour(
                    chain.start, chain.neighbour, chain.lift, chain.B, here, k,
                    chain.lift_B[here, k], state,
                )  # fmt: skip
                _, back = _affinity_and_row_sum(
                    chain.A, user, chain.D, slot, chain.B, chain.own, chain.stay_multiplier,
                    chain.lift_B, b,
                )  # fmt: skip
                if accepts(back, row_sum, state):
                    there = b
        return there

    return draw_next


@overload(_protocol.first_probability, jit_options=_INLINED)
def _first_probability(chain, user, slot, place, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def first_probability(chain, user, slot, place, scratch):
        affinity = _affinity(chain, user, slot, place, scratch)
        return affinity * _inverse_norm(chain, user, slot, scratch)

    return first_probability


@overload(_protocol.move_probability, jit_options=_INLINED)
def _move_probability(chain, user, slot, here, there, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def move_probability(chain, user, slot, here, there, scratch):
        lift = _lift_between(chain.start, chain.neighbour, chain.lift, here, there)
        step = lift * min(
            _inverse_row_sum(chain, user, slot, here, scratch),
            _inverse_row_sum(chain, user, slot, there, scratch),
        )
        inverse_norm = _inverse_norm(chain, user, slot, scratch)
        affinity = _affinity(chain, user, slot, there, scratch)
        return affinity * (chain.jump * inverse_norm + (1.0 - chain.jump) * step)

    return move_probability


@kernel
def _log_of_stay(chain, user, slot, here, scratch):
    """Return ln Q(here | here)."""
    n_slots = chain.D.shape[0]
    if len(scratch) > 0:
        step = _known_step_stay(
            chain.start, chain.neighbour, chain.lift,
            chain.stay_multiplier[slot] * chain.own[here], here,
            scratch[slot], scratch[n_slots + slot],
        )  # fmt: skip
    else:
        step = _step_stay(
            chain.A, user, chain.D, slot, chain.B, chain.own, chain.stay_multiplier, chain.lift_B,
            chain.start, chain.neighbour, chain.lift, here,
        )  # fmt: skip
    target = _affinity(chain, user, slot, here, scratch)
    target *= _inverse_norm(chain, user, slot, scratch)
    return log_probability(chain.jump * target + (1.0 - chain.jump) * step)


@overload(_protocol.log_stay, jit_options=_INLINED)
def _log_stay(chain, user, slot, here, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def log_stay(chain, user, slot, here, scratch):
        if len(scratch) == 0:
            return _log_of_stay(chain, user, slot, here, scratch)
        row = 2 * chain.D.shape[0] + slot
        if np.isnan(scratch[row, here]):
            scratch[row, here] = _log_of_stay(chain, user, slot, here, scratch)
        return scratch[row, here]

    return log_stay


@overload(_protocol.known_log_stay, jit_options=_INLINED)
def _known_log_stay(chain, slot, here, scratch):
    if not is_chain(chain, BaseChain):
        return None

    def known_log_stay(chain, slot, here, scratch):
        return scratch[2 * chain.D.shape[0] + slot, here]

    return known_log_stay


@overload(_protocol.tables_shape)
def _tables_shape(chain):
    if not is_chain(chain, BaseChain):
        return None

    def tables_shape(chain):
        n_slots = chain.D.shape[0]
        return (2 * n_slots + 1, max(chain.B.shape[0], n_slots), GROUP)

    return tables_shape


@overload(_protocol.tabulate)
def _tabulate(chain, user, member, scratch, tables):
    """Affinities, 1 / S and norms, in the rows that they have in scratch, less the stays."""
    if not is_chain(chain, BaseChain):
        return None

    def tabulate(chain, user, member, scratch, tables):
        n_slots = chain.D.shape[0]
        for row in range(2 * n_slots):
            for x in range(chain.B.shape[0]):
                tables[row, x, member] = scratch[row, x]
        for slot in range(n_slots):
            tables[2 * n_slots, slot, member] = scratch[3 * n_slots, slot]

    return tabulate


@overload(_protocol.begin_products, jit_options=_INLINED)
def _begin_products(chain, slot, place, tables, products):
    if not is_chain(chain, BaseChain):
        return None

    def begin_products(chain, slot, place, tables, products):
        last = 2 * chain.D.shape[0]
        for m in range(GROUP):
            products[m] = tables[slot, place, m] * tables[last, slot, m]

    return begin_products


@kernel
def _multiply(tables, n_slots, slot, here, there, lift, jump, products):
    """Multiply by affinity · (τ / norm + (1 − τ) K min(1 / S, 1 / S)), as `move_probability`."""
    lift *= 1.0 - jump
    inverse_sums = n_slots + slot
    for m in range(GROUP):
        step = lift * min(tables[inverse_sums, here, m], tables[inverse_sums, there, m])
        products[m] *= tables[slot, there, m] * (jump * tables[2 * n_slots, slot, m] + step)


@overload(_protocol.multiply_by_move, jit_options=_INLINED)
def _multiply_by_move(chain, slot, here, there, tables, products):
    if not is_chain(chain, BaseChain):
        return None

    def multiply_by_move(chain, slot, here, there, tables, products):
        lift = _lift_between(chain.start, chain.neighbour, chain.lift, here, there)
        _multiply(tables, chain.D.shape[0], slot, here, there, lift, chain.jump, products)

    return multiply_by_move
