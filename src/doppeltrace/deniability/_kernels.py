"""Likelihoods of traces under other users, in full or dropped as soon as they cannot count.

ln p(y = M(m)) is a sum of terms that are never positive. It is added up in one fixed order:
the first place, then the moves, then the stays, each in time order, for a stay can cost as much
as a whole row of Q. Dropping a user as soon as the running sum is at or below the lower end of
the bin therefore gives the same answer as adding everything; so does leaving out the costly
stays of a user whom the stays that are known already put below it.
"""

import numpy as np
from numba import njit

from doppeltrace.chain._protocol import (
    FEW,
    MANY,
    known_log_stay,
    log_first,
    log_move,
    log_stay,
    prepare,
    scratch_shape,
)
from doppeltrace.engine.borrow import borrowed

SLACK = 1e-6
"""How far below the bin a sum added up in another order must lie to be beyond rounding."""


@njit(cache=True, inline="always")
def _bound_stays(chain, traces, y, slots, scratch, value):
    """Return value plus the stays that are already known: an upper bound of ln p."""
    for t in range(1, len(slots)):
        if traces[y, t] == traces[y, t - 1]:
            known = known_log_stay(chain, slots[t], traces[y, t], scratch)
            if known <= 0.0:  # not so if it is NaN
                value += known
    return value


@njit(cache=True, inline="always")
def _log_likelihood(chain, user, traces, y, slots, scratch, lower):
    """Return ln p(traces[y] = M(user)), or −inf as soon as it is known to be at most `lower`."""
    value = log_first(chain, user, slots[0], traces[y, 0], scratch)
    if value <= lower:
        return -np.inf
    for t in range(1, len(slots)):
        if traces[y, t] != traces[y, t - 1]:
            value += log_move(chain, user, slots[t], traces[y, t - 1], traces[y, t], scratch)
            if value <= lower:
                return -np.inf
    if _bound_stays(chain, traces, y, slots, scratch, value) <= lower - SLACK:
        return -np.inf
    for t in range(1, len(slots)):
        if traces[y, t] == traces[y, t - 1]:
            value += log_stay(chain, user, slots[t], traces[y, t], scratch)
            if value <= lower:
                return -np.inf
    return value


@njit(cache=True, nogil=True)
def log_likelihoods(first, last, chain, users, traces, slots, out):
    """Write ln p(y = M(m)) of all traces y, users m = users[first] … users[last − 1].

    traces (N, T); out (N, len(users)).
    """
    chain = borrowed(chain)
    scratch = np.empty(scratch_shape(chain, MANY))
    for u in range(first, last):
        prepare(chain, users[u], scratch)
        for y in range(len(traces)):
            out[y, u] = _log_likelihood(chain, users[u], traces, y, slots, scratch, -np.inf)


@njit(cache=True, nogil=True)
def own_log_likelihoods(first, last, chain, owners, starts, traces, slots, out):
    """Write ln p(y = M(owner of y)) to out (N,), for owners[first] … owners[last − 1].

    traces are sorted by owner: owners[u]'s traces are starts[u] … starts[u + 1] − 1.
    """
    chain = borrowed(chain)
    scratch = np.empty(scratch_shape(chain, FEW))
    for u in range(first, last):
        prepare(chain, owners[u], scratch)
        for y in range(starts[u], starts[u + 1]):
            out[y] = _log_likelihood(chain, owners[u], traces, y, slots, scratch, -np.inf)


@njit(cache=True, nogil=True)
def count_in_bin(first, last, chain, verifiers, traces, owner, slots, lower, upper, counts):
    """Count, for each trace, the verifiers with lower < ln p ≤ upper, its owner left out.

    Adds those of verifiers[first] … verifiers[last − 1] to counts (N,).
    """
    chain = borrowed(chain)
    scratch = np.empty(scratch_shape(chain, MANY))
    for v in range(first, last):
        m = verifiers[v]
        prepare(chain, m, scratch)
        for y in range(len(traces)):
            if owner[y] != m:
                value = _log_likelihood(chain, m, traces, y, slots, scratch, lower[y])
                if lower[y] < value <= upper[y]:
                    counts[y] += 1
