"""The paper's chain: proposals and targets are clamped low-rank reconstructions.

Q*_n(x_b | x_a) ∝ max(φ, Σ_k a_nk b_ak c_bk) and π_{n,l}(x) ∝ max(φ, Σ_k a_nk b_xk d_lk).
A row costs O(X z); its sum is kept in scratch, NaN until it is known.
"""

import numpy as np
from numba import njit
from numba.extending import overload

from doppeltrace._stream_kernels import uniform
from doppeltrace.chain import _protocol
from doppeltrace.chain.factor_chain import FactorChain

_SUMS = {"fastmath": {"contract", "reassoc", "nsz"}}  # sums may be vectorised; NaN stays NaN


@njit(cache=True, **_SUMS)
def _row_weights(model, user, origin, out):
    """Write max(φ, Σ_k a_nk b_ak c_bk) of every b to out (X,) and return their sum.

    C is stored transposed and padded to a multiple of four factors, so that the inner loops
    run along places.
    """
    n_places = out.shape[0]
    z = model.C_t.shape[0]
    for k in range(0, z, 4):
        w0 = model.A[user, k] * model.B[origin, k]
        w1 = model.A[user, k + 1] * model.B[origin, k + 1]
        w2 = model.A[user, k + 2] * model.B[origin, k + 2]
        w3 = model.A[user, k + 3] * model.B[origin, k + 3]
        if k == 0:
            for b in range(n_places):
                out[b] = (w0 * model.C_t[k, b] + w1 * model.C_t[k + 1, b]) + (
                    w2 * model.C_t[k + 2, b] + w3 * model.C_t[k + 3, b]
                )
        else:
            for b in range(n_places):
                out[b] += (w0 * model.C_t[k, b] + w1 * model.C_t[k + 1, b]) + (
                    w2 * model.C_t[k + 2, b] + w3 * model.C_t[k + 3, b]
                )
    total = 0.0
    for b in range(n_places):
        weight = max(out[b], model.floor)
        out[b] = weight
        total += weight
    return total


@njit(cache=True)
def _row_sum(model, user, origin, scratch):
    """Return the sum of the row, from scratch or computed with its second half as buffer."""
    n_places = model.C_t.shape[1]
    if np.isnan(scratch[origin]):
        scratch[origin] = _row_weights(model, user, origin, scratch[n_places:])
    return scratch[origin]


@njit(cache=True)
def _pick(weights, threshold):
    """Return the first index at which the running sum of weights exceeds the threshold."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
        if total > threshold:
            return i
    return len(weights) - 1


@overload(_protocol.scratch_size)
def _scratch_size(model):
    if _protocol.is_model(model, FactorChain):
        return lambda model: 2 * model.C_t.shape[1]
    return None


@overload(_protocol.prepare)
def _prepare(model, user, scratch):
    if not _protocol.is_model(model, FactorChain):
        return None

    def prepare(model, user, scratch):
        scratch[: model.C_t.shape[1]] = np.nan

    return prepare


@overload(_protocol.proposal, jit_options=_SUMS)
def _proposal(model, user, origin, destination, scratch):
    if not _protocol.is_model(model, FactorChain):
        return None

    def proposal(model, user, origin, destination, scratch):
        weight = 0.0
        for k in range(model.C_t.shape[0]):
            weight += model.A[user, k] * model.B[origin, k] * model.C_t[k, destination]
        return max(weight, model.floor) / _row_sum(model, user, origin, scratch)

    return proposal


@overload(_protocol.proposal_row)
def _proposal_row(model, user, origin, scratch, out):
    if not _protocol.is_model(model, FactorChain):
        return None

    def proposal_row(model, user, origin, scratch, out):
        total = _row_weights(model, user, origin, out)
        for b in range(len(out)):
            out[b] /= total

    return proposal_row


@overload(_protocol.draw_proposal)
def _draw_proposal(model, user, origin, scratch, buffer, state):
    if not _protocol.is_model(model, FactorChain):
        return None

    def draw_proposal(model, user, origin, scratch, buffer, state):
        scratch[origin] = _row_weights(model, user, origin, buffer)
        return _pick(buffer, uniform(state) * scratch[origin])

    return draw_proposal


@overload(_protocol.visit, jit_options=_SUMS)
def _visit(model, user, slot, place):
    if not _protocol.is_model(model, FactorChain):
        return None

    def visit(model, user, slot, place):
        weight = 0.0
        for k in range(model.D.shape[1]):
            weight += model.visit_A[user, k] * model.visit_B[place, k] * model.D[slot, k]
        return max(weight, model.floor)

    return visit


@overload(_protocol.draw_visit)
def _draw_visit(model, user, slot, buffer, state):
    if not _protocol.is_model(model, FactorChain):
        return None

    def draw_visit(model, user, slot, buffer, state):
        total = 0.0
        for x in range(len(buffer)):
            buffer[x] = _protocol.visit(model, user, slot, x)
            total += buffer[x]
        return _pick(buffer, uniform(state) * total)

    return draw_visit
