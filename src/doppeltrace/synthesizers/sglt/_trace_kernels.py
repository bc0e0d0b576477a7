"""From a seed trace to candidate sets, and from those to a synthetic trace."""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace._stream_kernels import seed_stream, uniform
from doppeltrace.engine.kernel import kernel

FEWEST = 3  # places that thinning leaves in a cluster


@kernel
def thin_clusters(seed, label, first, member, thinning, kept, left, state):
    """Draw the places that stay in each cluster the seed trace visits.

    seed : (T,) int32, −1 where nothing is known; label : (n_places,) int64.
    first : (n_clusters + 1,) int64 slices of `member` (n_places,) int32.
    Fills `kept` like `member`, the staying places first in each slice and in order, and `left`
    (n_clusters,) int64 with their number, −1 for clusters that are not visited.
    """
    left[:] = -1
    for place in seed:
        if place < 0:
            continue
        k = label[place]
        if left[k] >= 0:
            continue
        low, high = first[k], first[k + 1]
        size = high - low
        left[k] = size - int(thinning * size)
        if left[k] < FEWEST:
            left[k] = size
        at, needed = low, left[k]
        for i in range(low, high):  # every subset of that size is as likely
            if needed == high - i or uniform(state) * (high - i) < needed:
                kept[at] = member[i]
                at += 1
                needed -= 1


@kernel
def _merge(seed, label, first, merging, kept, left, candidate):
    """Let the sets before and after each move borrow from one another.

    A set lends its first places, not random ones: in the published traces, replicates of one
    user agree after a move far more often than random loans would let them.
    """
    length = len(seed)
    for t in range(length - 1):
        away = 1
        while t + away < length and seed[t + away] == seed[t]:
            away += 1
        if t + away == length:
            break  # no move any more
        stay = 0
        while t + away + stay + 1 < length and seed[t + away + stay + 1] == seed[t + away]:
            stay += 1
        a, b = label[seed[t]], label[seed[t + away]]
        if a == b:
            continue
        share = merging ** (away * away)
        last = min(length - 1, t + away + min(away, stay))
        for k in (a, b):
            for i in range(int(share * left[k])):
                for event in range(t, last + 1):
                    candidate[event, kept[first[k] + i]] = True


@kernel
def candidate_sets(
    seed, label, first, member, thinning, merging, removal, kept, left, candidate, state
):
    """Fill `candidate` (T, n_places) bool: where each event may be.

    seed, label, first, member : see `thin_clusters`; `kept` and `left` are filled by it.
    An event of unknown place gets no candidates.
    """
    candidate[:] = False
    thin_clusters(seed, label, first, member, thinning, kept, left, state)
    for t in range(len(seed)):
        if seed[t] >= 0:
            k = label[seed[t]]
            for i in range(first[k], first[k] + left[k]):
                candidate[t, kept[i]] = True
    if seed[0] >= 0:  # a seed trace is known everywhere or nowhere
        _merge(seed, label, first, merging, kept, left, candidate)
    for t in range(len(seed)):
        if seed[t] >= 0 and uniform(state) < removal:
            candidate[t, seed[t]] = False


@kernel
def list_candidates(candidate, listed, number):
    """Fill `listed` (T, n_places) int32 and `number` (T,) int64; no candidate means all."""
    length, n_places = candidate.shape
    for t in range(length):
        number[t] = 0
        for x in range(n_places):
            if candidate[t, x]:
                listed[t, number[t]] = x
                number[t] += 1
        if number[t] == 0:
            number[t] = n_places
            for x in range(n_places):
                listed[t, x] = x


@kernel
def _noise(randomization, state):
    """Return ln of a uniform number in [1, randomization]."""
    return math.log(1.0 + (randomization - 1.0) * uniform(state))


@kernel
def decode(listed, number, log_arrive, log_start, randomization, value, origin, out, state):
    """Write the randomized Viterbi path through the candidates to `out` (T,) int32.

    Every probability that is compared is first multiplied by a fresh uniform number in
    [1, randomization], and the product is what later steps build on. One that could not win
    even with the largest number is passed over.
    log_arrive : (n_places, n_places), the row of a destination, so that reads are in order.
    value, origin : (T, n_places) float64 and int32 scratch.
    """
    length = len(number)
    most = math.log(randomization)
    for i in range(number[0]):
        value[0, i] = log_start[listed[0, i]]
    for t in range(1, length):
        for i in range(number[t]):
            x = listed[t, i]
            best = -np.inf
            for j in range(number[t - 1]):
                reached = value[t - 1, j] + log_arrive[x, listed[t - 1, j]]
                if reached + most <= best:
                    continue
                reached += _noise(randomization, state)
                if reached > best:
                    best = reached
                    origin[t, i] = j
            value[t, i] = best
    best = -np.inf
    at = 0
    for i in range(number[length - 1]):
        reached = value[length - 1, i] + _noise(randomization, state)
        if reached > best:
            best, at = reached, i
    for t in range(length - 1, -1, -1):
        out[t] = listed[t, at]
        at = origin[t, at]


@kernel
def semantic_traces(
    users,
    seeds,
    label,
    first,
    member,
    log_arrive,
    log_start,
    thinning,
    merging,
    removal,
    randomization,
    key,
    out,
    low,
    high,
):
    """Fill `out` (N, traces per user, T) int32 for the users low … high − 1 of the N.

    users : (N,) int64; seeds : (N, T) int32 seed traces, complete, or all −1.
    log_arrive : (n_places, n_places), ln p(origin → destination) by destination;
    log_start : (n_places,).
    """
    n_places, length = len(label), out.shape[2]
    state = np.empty(4, np.uint64)
    kept = np.empty(n_places, np.int32)
    left = np.empty(len(first) - 1, np.int64)
    candidate = np.empty((length, n_places), np.bool_)
    listed = np.empty((length, n_places), np.int32)
    number = np.empty(length, np.int64)
    value = np.empty((length, n_places))
    origin = np.zeros((length, n_places), np.int32)
    for u in range(low, high):
        seed_stream(key, users[u], state)
        for r in range(out.shape[1]):
            candidate_sets(
                seeds[u],
                label,
                first,
                member,
                thinning,
                merging,
                removal,
                kept,
                left,
                candidate,
                state,
            )
            list_candidates(candidate, listed, number)
            decode(
                listed,
                number,
                log_arrive,
                log_start,
                randomization,
                value,
                origin,
                out[u, r],
                state,
            )
