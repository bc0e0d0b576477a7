"""The paper's chain: proposals and targets are clamped low-rank reconstructions.

Q*_n(x_b | x_a) ∝ max(φ, Σ_k a_nk b_ak c_bk) and π_{n,l}(x) ∝ max(φ, Σ_k a_nk b_xk d_lk).
A row of either costs O(X z). What is known of a user is kept in scratch, NaN until then:

    row 0            one over the sums of the rows of Q*, before normalisation
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
_INVERSE_SUMS, _SLOT_SUMS, _BUFFER, _OTHER_BUFFER, _TABLES = range(5)


@njit(cache=True, **_SUMS)
def _weights(x, i, y, j, others_t, floor, out):
    """Write max(φ, Σ_k x_ik y_jk others_bk) of every place b to out (≥ X,); return their sum.

    others_t (Z, X) is transposed and Z a multiple of eight, so that the inner loops run along
    places and store seldom.
    """
    z, n_places = others_t.shape
    out[:n_places] = 0.0
    for k in range(0, z, 8):
        w0, w1 = x[i, k] * y[j, k], x[i, k + 1] * y[j, k + 1]
        w2, w3 = x[i, k + 2] * y[j, k + 2], x[i, k + 3] * y[j, k + 3]
        w4, w5 = x[i, k + 4] * y[j, k + 4], x[i, k + 5] * y[j, k + 5]
        w6, w7 = x[i, k + 6] * y[j, k + 6], x[i, k + 7] * y[j, k + 7]
        o0, o1, o2, o3 = others_t[k], others_t[k + 1], others_t[k + 2], others_t[k + 3]
        o4, o5, o6, o7 = others_t[k + 4], others_t[k + 5], others_t[k + 6], others_t[k + 7]
        for b in range(n_places):
            low = (w0 * o0[b] + w1 * o1[b]) + (w2 * o2[b] + w3 * o3[b])
            high = (w4 * o4[b] + w5 * o5[b]) + (w6 * o6[b] + w7 * o7[b])
            out[b] += low + high
    total = 0.0
    for b in range(n_places):
        weight = out[b] if out[b] > floor else floor
        out[b] = weight
        total += weight
    return total


@njit(cache=True, **_SUMS)
def _triple(x, i, y, j, w, k):
    """Return Σ_f x_if y_jf w_kf."""
    total = 0.0
    for f in range(x.shape[1]):
        total += x[i, f] * y[j, f] * w[k, f]
    return total


@njit(cache=True)
def _row_weights(chain, user, origin, out):
    """Write Q*_n(· | origin), not normalised, to out and return its sum."""
    return _weights(chain.A, user, chain.B, origin, chain.C_t, chain.floor, out)


@njit(cache=True, **_SUMS)
def _two_sums(A, user, B, i, j, C_t, floor, first, second):
    """Return the sums of the rows i and j at once: loads serve both. first, second : buffers."""
    z, n_places = C_t.shape
    first[:n_places] = 0.0
    second[:n_places] = 0.0
    for k in range(0, z, 8):
        a0, a1, a2, a3 = A[user, k], A[user, k + 1], A[user, k + 2], A[user, k + 3]
        a4, a5, a6, a7 = A[user, k + 4], A[user, k + 5], A[user, k + 6], A[user, k + 7]
        v0, v1, v2, v3 = a0 * B[i, k], a1 * B[i, k + 1], a2 * B[i, k + 2], a3 * B[i, k + 3]
        v4, v5, v6, v7 = a4 * B[i, k + 4], a5 * B[i, k + 5], a6 * B[i, k + 6], a7 * B[i, k + 7]
        w0, w1, w2, w3 = a0 * B[j, k], a1 * B[j, k + 1], a2 * B[j, k + 2], a3 * B[j, k + 3]
        w4, w5, w6, w7 = a4 * B[j, k + 4], a5 * B[j, k + 5], a6 * B[j, k + 6], a7 * B[j, k + 7]
        c0, c1, c2, c3 = C_t[k], C_t[k + 1], C_t[k + 2], C_t[k + 3]
        c4, c5, c6, c7 = C_t[k + 4], C_t[k + 5], C_t[k + 6], C_t[k + 7]
        for b in range(n_places):
            x0, x1, x2, x3 = c0[b], c1[b], c2[b], c3[b]
            x4, x5, x6, x7 = c4[b], c5[b], c6[b], c7[b]
            low = (v0 * x0 + v1 * x1) + (v2 * x2 + v3 * x3)
            first[b] += low + ((v4 * x4 + v5 * x5) + (v6 * x6 + v7 * x7))
            low = (w0 * x0 + w1 * x1) + (w2 * x2 + w3 * x3)
            second[b] += low + ((w4 * x4 + w5 * x5) + (w6 * x6 + w7 * x7))
    total = 0.0
    other = 0.0
    for b in range(n_places):
        total += first[b] if first[b] > floor else floor
        other += second[b] if second[b] > floor else floor
    return total, other


@njit(cache=True)
def _know_all_sums(chain, user, scratch):
    """Fill the inverse row sums of all places."""
    inverse = scratch[_INVERSE_SUMS]
    n_places = chain.C_t.shape[1]
    waiting = -1
    for b in range(n_places):
        if np.isnan(inverse[b]):
            if waiting < 0:
                waiting = b
            else:
                total, other = _two_sums(
                    chain.A, user, chain.B, waiting, b, chain.C_t, chain.floor,
                    scratch[_BUFFER], scratch[_OTHER_BUFFER],
                )  # fmt: skip
                inverse[waiting] = 1.0 / total
                inverse[b] = 1.0 / other
                waiting = -1
    if waiting >= 0:
        inverse[waiting] = 1.0 / _row_weights(chain, user, waiting, scratch[_BUFFER])


@njit(cache=True, inline="always")
def _proposal(chain, user, origin, destination, scratch):
    """Return Q*_n(destination | origin)."""
    if np.isnan(scratch[_INVERSE_SUMS, origin]):
        scratch[_INVERSE_SUMS, origin] = 1.0 / _row_weights(
            chain, user, origin, scratch[_OTHER_BUFFER]
        )
    weight = _triple(chain.A, user, chain.B, origin, chain.C, destination)
    return max(weight, chain.floor) * scratch[_INVERSE_SUMS, origin]


@njit(cache=True, inline="always")
def _visit(chain, user, slot, place):
    """Return π_{n,slot}(place), not normalised."""
    return max(_triple(chain.visit_A, user, chain.visit_B, place, chain.D, slot), chain.floor)


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
def _rejected(forward, backward, pi, n_places, scale):
    """Return Σ_b max(0, forward_b − backward_b π_b scale): the mass of rejected proposals."""
    total = 0.0
    for b in range(n_places):
        lost = forward[b] - backward[b] * (scale * pi[b])
        total += lost if lost > 0.0 else 0.0
    return total


@njit(cache=True)
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
    _know_all_sums(chain, user, scratch)
    inverse = scratch[_INVERSE_SUMS]
    backward = scratch[_BUFFER]
    _weights(chain.A, user, chain.C, here, chain.B_t, chain.floor, backward)
    forward = scratch[_OTHER_BUFFER]
    _row_weights(chain, user, here, forward)
    scale = inverse[here]
    for b in range(n_places):
        backward[b] *= inverse[b]
        forward[b] *= scale
    proposed = forward[here]
    forward[here] = 0.0  # proposing to stay is added by itself
    for slot in range(n_slots):
        stays[slot, here] = proposed + _rejected(
            forward, backward, pi[slot], n_places, 1.0 / pi[slot, here]
        )


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
        scratch[_INVERSE_SUMS] = np.nan
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
        scratch[_INVERSE_SUMS, here] = 1.0 / total
        there = _pick(scratch[_BUFFER], chain.C_t.shape[1], uniform(state) * total)
        if there == here:
            return here
        forward = _visit(chain, user, slot, here) * (scratch[_BUFFER, there] / total)
        backward = _visit(chain, user, slot, there) * _proposal(chain, user, there, here, scratch)
        return there if accepts(forward, backward, state) else here

    return draw_next


@overload(_protocol.first_probability, inline="always")
def _first_probability(chain, user, slot, place, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def first_probability(chain, user, slot, place, scratch):
        if np.isnan(scratch[_SLOT_SUMS, slot]):
            scratch[_SLOT_SUMS, slot] = _visits(chain, user, slot, scratch[_BUFFER])
        return _visit(chain, user, slot, place) / scratch[_SLOT_SUMS, slot]

    return first_probability


@overload(_protocol.move_probability, inline="always")
def _move_probability(chain, user, slot, here, there, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def move_probability(chain, user, slot, here, there, scratch):
        if np.isnan(scratch[_INVERSE_SUMS, here]):
            _know_all_sums(chain, user, scratch)  # the stays will need them all
        odds = _visit(chain, user, slot, there) / _visit(chain, user, slot, here)
        return min(
            _proposal(chain, user, here, there, scratch),
            _proposal(chain, user, there, here, scratch) * odds,
        )

    return move_probability


@overload(_protocol.stay_probability, inline="always")
def _stay_probability(chain, user, slot, here, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def stay_probability(chain, user, slot, here, scratch):
        row = _TABLES + chain.D.shape[0] + slot
        if np.isnan(scratch[row, here]):
            _fill_stays(chain, user, here, scratch)
        return scratch[row, here]

    return stay_probability


@overload(_protocol.known_stay, inline="always")
def _known_stay(chain, slot, here, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def known_stay(chain, slot, here, scratch):
        return scratch[_TABLES + chain.D.shape[0] + slot, here]

    return known_stay
