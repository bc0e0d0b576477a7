"""Likelihoods of traces under other users, in full or dropped as soon as they cannot count.

ln p(y = M(m)) is a sum of terms that are never positive. It is added up in one fixed order:
the first place, then the moves, then the stays, each in time order. Moves need two entries of
Q*; a stay needs two whole rows, so it comes last. Dropping a user as soon as the running sum
is at or below the lower end of the bin therefore gives the same answer as adding everything.
"""

import math

import numpy as np
from numba import njit, prange

from doppeltrace.chain._protocol import prepare, proposal, proposal_row, scratch_size, visit


@njit(cache=True)
def _visits(model, user, pi):
    """Write π_{m,l}(x), not normalised, of every slot and place to pi (L, X)."""
    for slot in range(pi.shape[0]):
        for x in range(pi.shape[1]):
            pi[slot, x] = visit(model, user, slot, x)


@njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
def _fill_stays(model, user, place, pi, scratch, rows, stays):
    """Write ln Q_{m,l}(place | place) of every slot l to stays[:, place].

    A chain stays when it proposes to, or when it rejects:
    Q(a|a) = Q*(a|a) + Σ_{b≠a} max(0, Q*(b|a) − Q*(a|b) π(b) / π(a)),
    which needs no subtraction from one. rows : (2, X) scratch.
    """
    n_slots, n_places = pi.shape
    forward, backward = rows[0], rows[1]
    proposal_row(model, user, place, scratch, forward)
    for b in range(n_places):
        backward[b] = proposal(model, user, b, place, scratch)
    backward[place] = np.inf  # proposing to stay is added by itself
    for slot in range(n_slots):
        scale = 1.0 / pi[slot, place]
        rejected = 0.0
        for b in range(n_places):
            rejected += max(0.0, forward[b] - backward[b] * scale * pi[slot, b])
        stays[slot, place] = math.log(forward[place] + rejected)


@njit(cache=True)
def _log_likelihood(model, user, trace, slots, pi, total, scratch, rows, stays, lower):
    """Return ln p(trace = M(user)), or −inf as soon as it is known to be at most `lower`."""
    value = math.log(pi[slots[0], trace[0]] / total)
    if value <= lower:
        return -np.inf
    for t in range(1, len(trace)):
        a = trace[t - 1]
        b = trace[t]
        if a != b:
            p = min(
                proposal(model, user, a, b, scratch),
                proposal(model, user, b, a, scratch) * pi[slots[t], b] / pi[slots[t], a],
            )
            value += math.log(p)
            if value <= lower:
                return -np.inf
    for t in range(1, len(trace)):
        a = trace[t]
        if a == trace[t - 1]:
            if np.isnan(stays[slots[t], a]):
                _fill_stays(model, user, a, pi, scratch, rows, stays)
            value += stays[slots[t], a]
            if value <= lower:
                return -np.inf
    return value


@njit(cache=True, parallel=True)
def log_likelihoods(model, users, traces, slots, n_slots, n_places, out):
    """Write ln p(y = M(m)) of all traces y (N, T) under all users m to out (N, len(users))."""
    for u in prange(len(users)):
        scratch = np.empty(scratch_size(model))
        pi = np.empty((n_slots, n_places))
        stays = np.full((n_slots, n_places), np.nan)
        rows = np.empty((2, n_places))
        prepare(model, users[u], scratch)
        _visits(model, users[u], pi)
        total = pi[slots[0]].sum()
        for y in range(len(traces)):
            out[y, u] = _log_likelihood(
                model, users[u], traces[y], slots, pi, total, scratch, rows, stays, -np.inf
            )


@njit(cache=True, parallel=True)
def own_log_likelihoods(model, owners, starts, traces, slots, n_slots, n_places, out):
    """Write ln p(y = M(owner of y)) to out (N,).

    traces are sorted by owner: owners[u]'s traces are starts[u] … starts[u + 1] − 1.
    """
    for u in prange(len(owners)):
        scratch = np.empty(scratch_size(model))
        pi = np.empty((n_slots, n_places))
        stays = np.full((n_slots, n_places), np.nan)
        rows = np.empty((2, n_places))
        prepare(model, owners[u], scratch)
        _visits(model, owners[u], pi)
        total = pi[slots[0]].sum()
        for y in range(starts[u], starts[u + 1]):
            out[y] = _log_likelihood(
                model, owners[u], traces[y], slots, pi, total, scratch, rows, stays, -np.inf
            )


@njit(cache=True, parallel=True)
def count_in_bin(model, verifiers, traces, owner, slots, n_slots, n_places, lower, upper, counts):
    """Count, for each trace, the verifiers with lower < ln p ≤ upper, its owner left out.

    counts : (lanes, N) int64, each lane's own; lane i takes verifiers i, i + lanes, …
    """
    lanes = len(counts)
    for lane in prange(lanes):
        scratch = np.empty(scratch_size(model))
        pi = np.empty((n_slots, n_places))
        stays = np.empty((n_slots, n_places))
        rows = np.empty((2, n_places))
        for v in range(lane, len(verifiers), lanes):
            m = verifiers[v]
            prepare(model, m, scratch)
            _visits(model, m, pi)
            total = pi[slots[0]].sum()
            stays[:] = np.nan
            for y in range(len(traces)):
                if owner[y] != m:
                    value = _log_likelihood(
                        model, m, traces[y], slots, pi, total, scratch, rows, stays, lower[y]
                    )
                    if lower[y] < value <= upper[y]:
                        counts[lane, y] += 1
