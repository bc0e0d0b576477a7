"""The paper's chain: proposals and targets are clamped low-rank reconstructions.

Q*_n(x_b | x_a) ∝ max(φ, Σ_k a_nk b_ak c_bk) and π_{n,l}(x) ∝ max(φ, Σ_k a_nk b_xk d_lk).
A row of either costs O(X z). What is known of a user is kept in scratch, NaN until then:

    row 0            sums of the rows of Q*, before normalisation
    row 1            sums of π of each slot, before normalisation
    rows 2, 3        buffers
    next L rows      π of each slot, not normalised (for probabilities only)
    next L rows      probabilities to stay (for probabilities only)
"""

import numpy as np
from numba import njit
from numba.extending import overload

from doppeltrace._stream_kernels import uniform
from doppeltrace.chain import _protocol
from doppeltrace.chain._protocol import accepts, is_chain
from doppeltrace.chain.factor_chain import FactorChain

_SUMS = {"fastmath": {"contract", "reassoc", "nsz"}}  # sums may be vectorised; NaN stays NaN
_ROW_SUMS, _SLOT_SUMS, _BUFFER, _OTHER_BUFFER, _TABLES = range(5)


@njit(cache=True, **_SUMS)
def _row_weights(chain, user, origin, out):
    """Write max(φ, Σ_k a_nk b_ak c_bk) of every b to out (≥ X,) and return their sum.

    C is stored transposed and padded to a multiple of four factors, so that the inner loops
    run along places.
    """
    z, n_places = chain.C_t.shape
    for k in range(0, z, 4):
        w0 = chain.A[user, k] * chain.B[origin, k]
        w1 = chain.A[user, k + 1] * chain.B[origin, k + 1]
        w2 = chain.A[user, k + 2] * chain.B[origin, k + 2]
        w3 = chain.A[user, k + 3] * chain.B[origin, k + 3]
        if k == 0:
            for b in range(n_places):
                out[b] = (w0 * chain.C_t[k, b] + w1 * chain.C_t[k + 1, b]) + (
                    w2 * chain.C_t[k + 2, b] + w3 * chain.C_t[k + 3, b]
                )
        else:
            for b in range(n_places):
                out[b] += (w0 * chain.C_t[k, b] + w1 * chain.C_t[k + 1, b]) + (
                    w2 * chain.C_t[k + 2, b] + w3 * chain.C_t[k + 3, b]
                )
    total = 0.0
    for b in range(n_places):
        weight = max(out[b], chain.floor)
        out[b] = weight
        total += weight
    return total


@njit(cache=True)
def _row_sum(chain, user, origin, scratch):
    """Return the sum of a row of Q* before normalisation."""
    if np.isnan(scratch[_ROW_SUMS, origin]):
        scratch[_ROW_SUMS, origin] = _row_weights(chain, user, origin, scratch[_OTHER_BUFFER])
    return scratch[_ROW_SUMS, origin]


@njit(cache=True, **_SUMS)
def _proposal(chain, user, origin, destination, scratch):
    """Return Q*_n(destination | origin)."""
    weight = 0.0
    for k in range(chain.C_t.shape[0]):
        weight += chain.A[user, k] * chain.B[origin, k] * chain.C_t[k, destination]
    return max(weight, chain.floor) / _row_sum(chain, user, origin, scratch)


@njit(cache=True, **_SUMS)
def _visit(chain, user, slot, place):
    """Return π_{n,slot}(place), not normalised."""
    weight = 0.0
    for k in range(chain.D.shape[1]):
        weight += chain.visit_A[user, k] * chain.visit_B[place, k] * chain.D[slot, k]
    return max(weight, chain.floor)


@njit(cache=True)
def _visits(chain, user, slot, out):
    """Write π_{n,slot}, not normalised, to out (≥ X,) and return its sum."""
    total = 0.0
    for x in range(chain.C_t.shape[1]):
        out[x] = _visit(chain, user, slot, x)
        total += out[x]
    return total


@njit(cache=True)
def _pick(weights, n, threshold):
    """Return the first of n indexes at which the running sum of weights exceeds the threshold."""
    total = 0.0
    for i in range(n):
        total += weights[i]
        if total > threshold:
            return i
    return n - 1


@njit(cache=True, **_SUMS)
def _fill_stays(chain, user, here, scratch):
    """Write Q_{n,l}(here | here) of every slot l to scratch.

    A chain stays when it proposes to, or when it rejects:
    Q(a|a) = Q*(a|a) + Σ_{b≠a} max(0, Q*(b|a) − Q*(a|b) π(b) / π(a)),
    which needs no subtraction from one. The two rows of Q* serve all slots.
    """
    n_places = chain.C_t.shape[1]
    n_slots = chain.D.shape[0]
    pi = scratch[_TABLES : _TABLES + n_slots]
    stays = scratch[_TABLES + n_slots :]
    if np.isnan(pi[0, 0]):
        for slot in range(n_slots):
            _visits(chain, user, slot, pi[slot])
    backward = scratch[_BUFFER]
    for b in range(n_places):
        backward[b] = _proposal(chain, user, b, here, scratch)
    proposed = backward[here]
    backward[here] = np.inf  # proposing to stay is added by itself
    forward = scratch[_OTHER_BUFFER]
    scale_row = 1.0 / _row_weights(chain, user, here, forward)
    for slot in range(n_slots):
        scale = 1.0 / pi[slot, here]
        rejected = 0.0
        for b in range(n_places):
            rejected += max(0.0, forward[b] * scale_row - backward[b] * (scale * pi[slot, b]))
        stays[slot, here] = proposed + rejected


@overload(_protocol.scratch_shape)
def _scratch_shape(chain, for_draws):
    if not is_chain(chain, FactorChain):
        return None

    def scratch_shape(chain, for_draws):
        tables = 0 if for_draws else 2 * chain.D.shape[0]
        return (_TABLES + tables, max(chain.C_t.shape[1], chain.D.shape[0]))

    return scratch_shape


@overload(_protocol.prepare)
def _prepare(chain, user, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def prepare(chain, user, scratch):
        scratch[_ROW_SUMS] = np.nan
        scratch[_SLOT_SUMS] = np.nan
        if len(scratch) > _TABLES:
            scratch[_TABLES, 0] = np.nan
            scratch[_TABLES + chain.D.shape[0] :] = np.nan

    return prepare


@overload(_protocol.draw_first)
def _draw_first(chain, user, slot, scratch, state):
    if not is_chain(chain, FactorChain):
        return None

    def draw_first(chain, user, slot, scratch, state):
        total = _visits(chain, user, slot, scratch[_BUFFER])
        return _pick(scratch[_BUFFER], chain.C_t.shape[1], uniform(state) * total)

    return draw_first


@overload(_protocol.draw_next)
def _draw_next(chain, user, slot, here, scratch, state):
    if not is_chain(chain, FactorChain):
        return None

    def draw_next(chain, user, slot, here, scratch, state):
        total = _row_weights(chain, user, here, scratch[_BUFFER])
        scratch[_ROW_SUMS, here] = total
        there = _pick(scratch[_BUFFER], chain.C_t.shape[1], uniform(state) * total)
        if there == here:
            return here
        forward = _visit(chain, user, slot, here) * (scratch[_BUFFER, there] / total)
        backward = _visit(chain, user, slot, there) * _proposal(chain, user, there, here, scratch)
        return there if accepts(forward, backward, state) else here

    return draw_next


@overload(_protocol.first_probability)
def _first_probability(chain, user, slot, place, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def first_probability(chain, user, slot, place, scratch):
        if np.isnan(scratch[_SLOT_SUMS, slot]):
            scratch[_SLOT_SUMS, slot] = _visits(chain, user, slot, scratch[_BUFFER])
        return _visit(chain, user, slot, place) / scratch[_SLOT_SUMS, slot]

    return first_probability


@overload(_protocol.move_probability)
def _move_probability(chain, user, slot, here, there, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def move_probability(chain, user, slot, here, there, scratch):
        odds = _visit(chain, user, slot, there) / _visit(chain, user, slot, here)
        return min(
            _proposal(chain, user, here, there, scratch),
            _proposal(chain, user, there, here, scratch) * odds,
        )

    return move_probability


@overload(_protocol.stay_probability)
def _stay_probability(chain, user, slot, here, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def stay_probability(chain, user, slot, here, scratch):
        row = _TABLES + chain.D.shape[0] + slot
        if np.isnan(scratch[row, here]):
            _fill_stays(chain, user, here, scratch)
        return scratch[row, here]

    return stay_probability
