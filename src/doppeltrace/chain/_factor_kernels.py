"""The paper's chain: proposals and targets are clamped low-rank reconstructions.

Q*_n(x_b | x_a) ∝ max(φ, Σ_k a_nk b_ak c_bk) and π_{n,l}(x) ∝ max(φ, Σ_k a_nk b_xk d_lk).
A row of either costs O(X z). What is known of a user is kept in scratch:

    row 0            one over the sums of the rows of Q*, before normalisation; NaN until known
    row 1            sums of π of each slot, before normalisation (for probabilities only)
    rows 2, 3        buffers
    next L rows      π of each slot, not normalised (for probabilities only)
    next L rows      logarithms of the probabilities to stay, NaN until known (likewise)
"""
# mypy: ignore-errors

import numpy as np
from numba.extending import overload

from doppeltrace._stream_kernels import uniform
from doppeltrace.chain import _protocol
from doppeltrace.chain._protocol import DRAWS, GROUP, accepts, is_chain, log_probability
from doppeltrace.chain._simd import (
    MIN_FLOOR,
    PLACES,
    ROWS,
    SUMS,
    add_clamped,
    bound_move,
    multiply_by_entry,
)
from doppeltrace.chain.factor_chain import STEP, FactorChain
from doppeltrace.engine.kernel import kernel

_SUMS = {"fastmath": {"contract", "reassoc", "nsz"}}  # sums may be vectorised; NaN stays NaN
_BAND = 32
"""Rows summed together, a multiple of ROWS: their weights stay in the first cache."""

_ROUNDED_UP = 1.0 + 1e-6
"""More than what two roundings to single precision take from a probability."""

_TINY = 1e-30
"""More than what underflow in single precision takes from it."""

assert STEP == 8, "_eight_products, _eight_rows and _dot are written out for eight columns"
assert _BAND % ROWS == 0, "a band holds whole groups of rows"

_INVERSE_SUMS, _SLOT_SUMS, _BUFFER, _OTHER_BUFFER, _TABLES = range(5)


@kernel(inline="always")
def _eight_products(x, i, y, j, k):
    """Return x_ik y_jk and the next seven."""
    return (
        x[i, k] * y[j, k], x[i, k + 1] * y[j, k + 1],
        x[i, k + 2] * y[j, k + 2], x[i, k + 3] * y[j, k + 3],
        x[i, k + 4] * y[j, k + 4], x[i, k + 5] * y[j, k + 5],
        x[i, k + 6] * y[j, k + 6], x[i, k + 7] * y[j, k + 7],
    )  # fmt: skip


@kernel(inline="always")
def _eight_rows(m, k):
    """Return the rows k … k + 7 of m."""
    return (m[k], m[k + 1], m[k + 2], m[k + 3], m[k + 4], m[k + 5], m[k + 6], m[k + 7])


@kernel(inline="always")
def _dot(w, rows, b):
    """Return Σ w_k rows[k][b] of eight weights."""
    low = (w[0] * rows[0][b] + w[1] * rows[1][b]) + (w[2] * rows[2][b] + w[3] * rows[3][b])
    high = (w[4] * rows[4][b] + w[5] * rows[5][b]) + (w[6] * rows[6][b] + w[7] * rows[7][b])
    return low + high


@kernel(**_SUMS)
def _weights(x, i, y, j, others_t, floor, out):
    """Write max(φ, Σ_k x_ik y_jk others_bk) of every place b to out (≥ X,); return their sum.

    others_t (Z, X) is transposed and Z a multiple of eight, so that the inner loops run along
    places and store seldom.
    """
    z, n_places = others_t.shape
    out[:n_places] = 0.0
    for k in range(0, z - STEP, STEP):
        w = _eight_products(x, i, y, j, k)
        rows = _eight_rows(others_t, k)
        for b in range(n_places):
            out[b] += _dot(w, rows, b)
    w = _eight_products(x, i, y, j, z - STEP)
    rows = _eight_rows(others_t, z - STEP)
    total = 0.0
    for b in range(n_places):
        weight = out[b] + _dot(w, rows, b)
        weight = weight if weight > floor else floor
        out[b] = weight
        total += weight
    return total


@kernel(fastmath={"contract"})
def _triple(x, i, y, j, w, k):
    """Return Σ_f x_if y_jf w_kf."""
    total = 0.0
    for f in range(x.shape[1]):
        total += (y[j, f] * w[k, f]) * x[i, f]
    return total


@kernel
def _row_weights(chain, user, origin, out):
    """Write Q*_n(· | origin), not normalised, to out and return its sum."""
    return _weights(chain.A, user, chain.B, origin, chain.C_t, chain.floor, out)


@kernel(error_model="numpy", **_SUMS)
def inverse_row_sums(x, i, rows, others_t, floor, out):
    """Write one over Σ_b max(φ, Σ_k x_ik rows_ak others_bk) of every row a to out.

    A band of rows at a time, so that a stretch of others_t (Z, X) serves many rows.
    """
    z, n_places = others_t.shape
    whole = n_places - n_places % PLACES
    weights = np.zeros((_BAND, z))
    for start in range(0, len(rows), _BAND):
        n = min(_BAND, len(rows) - start)
        for r in range(n):
            for k in range(z):
                weights[r, k] = x[i, k] * rows[start + r, k]
        sums = np.zeros((_BAND, SUMS))
        for b in range(0, whole, PLACES):
            for r in range(0, n, ROWS):
                add_clamped(weights, r, others_t, b, floor, sums)
        for r in range(n):
            total = 0.0
            for part in range(SUMS):
                total += sums[r, part]
            for b in range(whole, n_places):
                weight = 0.0
                for k in range(z):
                    weight += weights[r, k] * others_t[k, b]
                total += weight if weight > floor else floor
            out[start + r] = 1.0 / total


@kernel
def _know_all_sums(chain, user, scratch):
    """Fill the inverse row sums of all places, if they are not known yet: all or none are."""
    inverse = scratch[_INVERSE_SUMS]
    if np.isnan(inverse[0]):
        inverse_row_sums(chain.A, user, chain.B, chain.C_t, chain.floor, inverse)


@kernel(inline="always")
def _proposal(chain, user, origin, destination, scratch):
    """Return Q*_n(destination | origin)."""
    if np.isnan(scratch[_INVERSE_SUMS, origin]):
        scratch[_INVERSE_SUMS, origin] = 1.0 / _row_weights(
            chain, user, origin, scratch[_OTHER_BUFFER]
        )
    weight = _triple(chain.A, user, chain.B, origin, chain.C, destination)
    return max(weight, chain.floor) * scratch[_INVERSE_SUMS, origin]


@kernel(inline="always")
def _visit(chain, user, slot, place):
    """Return π_{n,slot}(place), not normalised."""
    return max(_triple(chain.visit_A, user, chain.visit_B, place, chain.D, slot), chain.floor)


@kernel
def _visits(chain, user, slot, out):
    """Write π_{n,slot}, not normalised, to out (≥ X,) and return its sum."""
    return _weights(chain.visit_A, user, chain.D, slot, chain.visit_B_t, chain.floor, out)


@kernel
def _pick(weights, n, threshold):
    """Return the first of n indexes at which the running sum of weights exceeds the threshold."""
    total = 0.0
    for i in range(n):
        total += weights[i]
        if total > threshold:
            return i
    return n - 1


@kernel(**_SUMS)
def _rejected(forward, backward, pi, n_places, scale):
    """Return Σ_b max(0, forward_b − backward_b π_b scale): the mass of rejected proposals."""
    total = 0.0
    for b in range(n_places):
        lost = forward[b] - backward[b] * (scale * pi[b])
        total += lost if lost > 0.0 else 0.0
    return total


@kernel
def _fill_stays(chain, user, here, scratch):
    """Write ln Q_{n,l}(here | here) of every slot l to scratch.

    A chain stays when it proposes to, or when it rejects:
    Q(a|a) = Q*(a|a) + Σ_{b≠a} max(0, Q*(b|a) − Q*(a|b) π(b) / π(a)),
    which needs no subtraction from one. The two rows of Q* serve all slots.
    """
    n_places = chain.C_t.shape[1]
    n_slots = chain.D.shape[0]
    pi = scratch[_TABLES : _TABLES + n_slots]
    stays = scratch[_TABLES + n_slots :]
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
        rejected = _rejected(forward, backward, pi[slot], n_places, 1.0 / pi[slot, here])
        stays[slot, here] = log_probability(proposed + rejected)


@overload(_protocol.scratch_shape)
def _scratch_shape(chain, purpose):
    if not is_chain(chain, FactorChain):
        return None

    def scratch_shape(chain, purpose):
        tables = 0 if purpose == DRAWS else 2 * chain.D.shape[0]
        return (_TABLES + tables, max(chain.C_t.shape[1], chain.D.shape[0]))

    return scratch_shape


@overload(_protocol.prepare)
def _prepare(chain, user, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def prepare(chain, user, scratch):
        scratch[_INVERSE_SUMS] = np.nan
        if len(scratch) > _TABLES:
            n_slots = chain.D.shape[0]
            for slot in range(n_slots):
                total = _visits(chain, user, slot, scratch[_TABLES + slot])
                scratch[_SLOT_SUMS, slot] = total
            scratch[_TABLES + n_slots :] = np.nan

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
        return scratch[_TABLES + slot, place] / scratch[_SLOT_SUMS, slot]

    return first_probability


@overload(_protocol.move_probability, inline="always")
def _move_probability(chain, user, slot, here, there, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def move_probability(chain, user, slot, here, there, scratch):
        if np.isnan(scratch[_INVERSE_SUMS, here]):
            _know_all_sums(chain, user, scratch)  # the stays will need them all
        odds = scratch[_TABLES + slot, there] / scratch[_TABLES + slot, here]
        forward = _proposal(chain, user, here, there, scratch)
        backward = _proposal(chain, user, there, here, scratch)
        return min(forward, backward * odds)

    return move_probability


@overload(_protocol.log_stay, inline="always")
def _log_stay(chain, user, slot, here, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def log_stay(chain, user, slot, here, scratch):
        row = _TABLES + chain.D.shape[0] + slot
        if np.isnan(scratch[row, here]):
            _fill_stays(chain, user, here, scratch)
        return scratch[row, here]

    return log_stay


@overload(_protocol.known_log_stay, inline="always")
def _known_log_stay(chain, slot, here, scratch):
    if not is_chain(chain, FactorChain):
        return None

    def known_log_stay(chain, slot, here, scratch):
        return scratch[_TABLES + chain.D.shape[0] + slot, here]

    return known_log_stay


@overload(_protocol.tables_shape)
def _tables_shape(chain):
    """Rows: L of π, then one over the row sums of Q*, A transposed, one over the sums of π.

    The last also holds, at L, the largest |a_nk|. Then L of no less than the probabilities to
    stay: 1 until known. All is float32: two in the place of a float64.
    """
    if not is_chain(chain, FactorChain):
        return None

    def tables_shape(chain):
        n_slots = chain.D.shape[0]
        return (2 * n_slots + 3, max(max(chain.C_t.shape), n_slots + 1), GROUP // 2)

    return tables_shape


@overload(_protocol.tabulate)
def _tabulate(chain, user, member, scratch, tables):
    if not is_chain(chain, FactorChain):
        return None

    def tabulate(chain, user, member, scratch, tables):
        _know_all_sums(chain, user, scratch)
        n_slots = chain.D.shape[0]
        entries = tables.view(np.float32)
        for slot in range(n_slots):
            for x in range(chain.C_t.shape[1]):
                entries[slot, x, member] = scratch[_TABLES + slot, x]
                entries[n_slots + 3 + slot, x, member] = 1.0
            entries[n_slots + 2, slot, member] = 1.0 / scratch[_SLOT_SUMS, slot]
        for x in range(chain.C_t.shape[1]):
            entries[n_slots, x, member] = scratch[_INVERSE_SUMS, x]
        largest = 0.0
        for k in range(chain.A.shape[1]):
            entries[n_slots + 1, k, member] = chain.A[user, k]
            largest = max(largest, abs(chain.A[user, k]))
        entries[n_slots + 2, n_slots, member] = largest

    return tabulate


@overload(_protocol.begin_products, jit_options={"forceinline": True})
def _begin_products(chain, slot, place, tables, products):
    if not is_chain(chain, FactorChain):
        return None

    def begin_products(chain, slot, place, tables, products):
        sums = chain.D.shape[0] + 2
        entries = tables.view(np.float32)
        for m in range(GROUP):
            first = np.float64(entries[slot, place, m]) * np.float64(entries[sums, slot, m])
            products[m] = first * _ROUNDED_UP if chain.floor >= MIN_FLOOR else np.inf

    return begin_products


@overload(_protocol.multiply_by_move, jit_options={"forceinline": True})
def _multiply_by_move(chain, slot, here, there, tables, products):
    if not is_chain(chain, FactorChain):
        return None

    def multiply_by_move(chain, slot, here, there, tables, products):
        bound_move(
            chain.B_single, chain.C_single, tables, chain.D.shape[0], slot, here, there,
            chain.floor, products,
        )  # fmt: skip

    return multiply_by_move


@overload(_protocol.multiply_by_stay, jit_options={"forceinline": True})
def _multiply_by_stay(chain, slot, here, tables, products):
    if not is_chain(chain, FactorChain):
        return None

    def multiply_by_stay(chain, slot, here, tables, products):
        multiply_by_entry(tables, chain.D.shape[0] + 3 + slot, here, products)

    return multiply_by_stay


@overload(_protocol.tabulate_stays)
def _tabulate_stays(chain, here, member, scratch, tables):
    if not is_chain(chain, FactorChain):
        return None

    def tabulate_stays(chain, here, member, scratch, tables):
        n_slots = chain.D.shape[0]
        entries = tables.view(np.float32)
        for slot in range(n_slots):
            stay = np.exp(scratch[_TABLES + n_slots + slot, here])
            entries[n_slots + 3 + slot, here, member] = stay * _ROUNDED_UP + _TINY

    return tabulate_stays


_protocol.ONLY_BOUNDS.add(FactorChain)
