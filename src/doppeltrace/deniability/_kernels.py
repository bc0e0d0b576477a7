"""Likelihoods of traces under other users, in full or dropped as soon as they cannot count.

ln p(y = M(m)) is a sum of terms that are never positive, so a user whose running sum is at or
below the lower end of the bin can be dropped. The first place and the moves are multiplied for
a group of users at once, in vectors; for those who are left the stays follow, which can cost as
much as a whole row of Q. A sum so close to an end of the bin that its rounding matters, or all
that is left where the products were bounds only, is added up once more in the order that
`log_likelihoods` takes, so that the answer is the same as if everything had been.
"""
# mypy: ignore-errors

import math

import numpy as np
from numba.extending import overload

from doppeltrace.chain._protocol import (
    FEW,
    GROUP,
    MANY,
    begin_products,
    first_probability,
    known_log_stay,
    log_probability,
    log_stay,
    move_probability,
    multiply_by_move,
    multiply_by_stay,
    only_bounds,
    prepare,
    scratch_shape,
    tables_shape,
    tabulate,
    tabulate_stays,
)
from doppeltrace.engine.kernel import kernel
from doppeltrace.engine.views import unsafe_view

# Slots and places are stored in 32 bits and widened before a chain's functions are called, so
# that these are compiled for one type of integers only.

SLACK = 1e-6
"""How far below the bin a sum added up in another order must lie to be beyond rounding."""

DEEP = -550.0
"""Where the bin lies below it, products could underflow and are not used."""


@kernel
def _log_likelihood(chain, user, traces, y, slots, scratch):
    """Return ln p(traces[y] = M(user)): the first place, then the moves, then the stays."""
    slot, here = np.int64(slots[0]), np.int64(traces[y, 0])
    value = log_probability(first_probability(chain, user, slot, here, scratch))
    for t in range(1, len(slots)):
        before, here = np.int64(traces[y, t - 1]), np.int64(traces[y, t])
        if here != before:
            slot = np.int64(slots[t])
            move = move_probability(chain, user, slot, before, here, scratch)
            value += log_probability(move)
    for t in range(1, len(slots)):
        if traces[y, t] == traces[y, t - 1]:
            slot, here = np.int64(slots[t]), np.int64(traces[y, t])
            value += log_stay(chain, user, slot, here, scratch)
    return value


@kernel(forceinline=True)
def _with_stays(chain, user, traces, y, slots, scratch, value, limit):
    """Return value plus the stays of a trace, or −inf as soon as that is at most `limit`.

    Those that are known already are tried first: one that is not can cost a whole row of Q.
    """
    bound = value
    for t in range(1, len(slots)):
        if traces[y, t] == traces[y, t - 1]:
            slot, here = np.int64(slots[t]), np.int64(traces[y, t])
            known = known_log_stay(chain, slot, here, scratch)
            if known <= 0.0:  # not so if it is NaN
                bound += known
    t = 1
    while bound > limit and value > limit and t < len(slots):
        if traces[y, t] == traces[y, t - 1]:
            slot, here = np.int64(slots[t]), np.int64(traces[y, t])
            value += log_stay(chain, user, slot, here, scratch)
        t += 1
    return value if min(bound, value) > limit else -np.inf


@kernel
def moves_of(traces, chosen):
    """Return when the chosen traces move: starts (len(chosen) + 1,), and t of every move."""
    starts = np.zeros(len(chosen) + 1, np.int64)
    at = np.empty(len(chosen) * (traces.shape[1] - 1) + 1, np.int32)
    n = 0
    for c in range(len(chosen)):
        y = chosen[c]
        for t in range(1, traces.shape[1]):  # without a branch, which no processor could predict
            at[n] = t
            n += traces[y, t] != traces[y, t - 1]
        starts[c + 1] = n
    return starts, at[:n]


@kernel(forceinline=True)
def _multiply_out(chain, traces, y, slots, least, tables, first, last, at, products):
    """Multiply the first place and the moves of a group's members, while one exceeds `least`.

    The moves are at[first] … at[last − 1]. Where products are bounds only, the stays that are
    known follow.
    """
    begin_products(chain, np.int64(slots[0]), np.int64(traces[y, 0]), tables, products)
    for k in range(first, last):
        if not _one_exceeds(products, least):
            return
        t = at[k]
        slot, before, here = np.int64(slots[t]), np.int64(traces[y, t - 1]), np.int64(traces[y, t])
        multiply_by_move(chain, slot, before, here, tables, products)
    if _one_exceeds(products, least):
        _multiply_stays(chain, traces, y, slots, tables, products)


def _multiply_stays(chain, traces, y, slots, tables, products):
    """Multiply the stays that are known, where products are bounds only."""
    raise TypeError


@overload(_multiply_stays, jit_options={"forceinline": True})
def _multiply_stays_of(chain, traces, y, slots, tables, products):
    if not only_bounds(chain):
        return lambda chain, traces, y, slots, tables, products: None

    def multiply_stays(chain, traces, y, slots, tables, products):
        for t in range(1, len(slots)):
            if traces[y, t] == traces[y, t - 1]:
                slot, here = np.int64(slots[t]), np.int64(traces[y, t])
                multiply_by_stay(chain, slot, here, tables, products)

    return multiply_stays


@kernel(forceinline=True)
def _one_exceeds(products, least):
    found = False
    for m in range(GROUP):
        found |= products[m] > least
    return found


@kernel(forceinline=True)
def _fits(chain, user, traces, y, slots, scratch, value, limit, member, tables):
    """Tell whether value plus the stays that it lacks exceeds `limit`.

    value : of products that are bounds only, with the stays at all places known before. What is
    learnt of others is put into the tables.
    """
    for t in range(1, len(slots)):
        slot, here = np.int64(slots[t]), np.int64(traces[y, t])
        if here == traces[y, t - 1] and np.isnan(known_log_stay(chain, slot, here, scratch)):
            log_stay(chain, user, slot, here, scratch)
            tabulate_stays(chain, here, member, scratch, tables)
            for s in range(t, len(slots)):
                if here == traces[y, s] == traces[y, s - 1]:
                    value += known_log_stay(chain, np.int64(slots[s]), here, scratch)
            if value <= limit:
                return False
    return True


def _value(chain, user, traces, y, slots, scratch, product, lower, upper, member, tables):
    """Return ln p(y = M(user)) accurately enough to tell whether it is in (lower, upper].

    product : as `_multiply_out` made it, or 0 where it may have underflowed.
    """
    raise TypeError


@overload(_value, jit_options={"forceinline": True})
def _value_of(chain, user, traces, y, slots, scratch, product, lower, upper, member, tables):
    """Compile what the kind of chain needs, and no more."""

    def value_within_bounds(
        chain, user, traces, y, slots, scratch, product, lower, upper, member, tables
    ):
        if product > 0.0:
            value = math.log(product)
            limit = lower - SLACK
            if not _fits(chain, user, traces, y, slots, scratch, value, limit, member, tables):
                return -np.inf
        return _log_likelihood(chain, user, traces, y, slots, scratch)

    def value(chain, user, traces, y, slots, scratch, product, lower, upper, member, tables):
        if product > 0.0:
            limit = lower - SLACK
            value = math.log(product)
            value = _with_stays(chain, user, traces, y, slots, scratch, value, limit)
            if value <= limit or abs(value - lower) > SLACK < abs(value - upper):
                return value
        return _log_likelihood(chain, user, traces, y, slots, scratch)

    return value_within_bounds if only_bounds(chain) else value


@kernel
def log_likelihoods(first, last, chain, users, traces, slots, out):
    """Write ln p(y = M(m)) of all traces y, users m = users[first] … users[last − 1].

    traces (N, T); out (N, len(users)).
    """
    chain = unsafe_view(chain)
    scratch = np.empty(scratch_shape(chain, MANY))
    for u in range(first, last):
        prepare(chain, users[u], scratch)
        for y in range(len(traces)):
            out[y, u] = _log_likelihood(chain, users[u], traces, y, slots, scratch)


@kernel
def own_log_likelihoods(first, last, chain, owners, starts, traces, slots, out):
    """Write ln p(y = M(owner of y)) to out (N,), for owners[first] … owners[last − 1].

    traces are sorted by owner: owners[u]'s traces are starts[u] … starts[u + 1] − 1.
    """
    chain = unsafe_view(chain)
    scratch = np.empty(scratch_shape(chain, FEW))
    for u in range(first, last):
        prepare(chain, owners[u], scratch)
        for y in range(starts[u], starts[u + 1]):
            out[y] = _log_likelihood(chain, owners[u], traces, y, slots, scratch)


@kernel
def _count_groups(
    first, last, chain, verifiers, times, traces, owner, slots, lower, upper, chosen, least,
    starts, at, scratch, tables, products, counts,
):  # fmt: skip
    """Do what `count_in_bin` does, with the memory that it allocated."""
    chain = unsafe_view(chain)
    scratch = unsafe_view(scratch)
    tables = unsafe_view(tables)
    products = unsafe_view(products)
    for start in range(first, last, GROUP):
        members = min(GROUP, last - start)
        for m in range(members):
            prepare(chain, verifiers[start + m], scratch[m])
            tabulate(chain, verifiers[start + m], m, scratch[m], tables)
        for c in range(len(chosen)):
            y = chosen[c]
            if least[c] > 0.0:
                _multiply_out(
                    chain, traces, y, slots, least[c], tables, starts[c], starts[c + 1],
                    at, products,
                )  # fmt: skip
            else:
                products[:] = 0.0
            for m in range(members):
                if products[m] > least[c] and verifiers[start + m] != owner[y]:
                    value = _value(
                        chain, verifiers[start + m], traces, y, slots, scratch[m], products[m],
                        lower[y], upper[y], m, tables,
                    )  # fmt: skip
                    if lower[y] < value <= upper[y]:
                        counts[c] += times[start + m]


@kernel
def count_in_bin(
    first, last, chain, verifiers, times, traces, owner, slots, lower, upper, chosen, counts
):
    """Count, for each chosen trace, the verifiers with lower < ln p ≤ upper, its owner left out.

    Adds those of verifiers[first] … verifiers[last − 1], each `times` over, to counts
    (len(chosen),).
    """
    rows, columns = scratch_shape(chain, MANY)
    scratch = np.empty((GROUP, rows, columns))
    tables = np.ones(tables_shape(chain))  # members that are missing divide by one
    starts, at = moves_of(traces, chosen)
    least = np.empty(len(chosen))  # −1: products may underflow
    for c in range(len(chosen)):
        limit = lower[chosen[c]] - SLACK
        least[c] = math.exp(limit) if limit > DEEP else -1.0
    _count_groups(
        first, last, chain, verifiers, times, traces, owner, slots, lower, upper, chosen, least,
        starts, at, scratch, tables, np.empty(GROUP), counts,
    )  # fmt: skip
