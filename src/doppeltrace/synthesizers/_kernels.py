"""Kernels of the simple synthesizers: draws from uniform and from counted rows.

Each works on the users or traces first … last − 1, so that blocks of them run side by side.
"""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace._stream_kernels import below, seed_stream
from doppeltrace.engine.kernel import kernel


@kernel
def uniform_traces(users, key, n_places, out, first, last):
    """Fill `out` (N, traces per user, T) int32 with independent uniform places."""
    state = np.empty(4, np.uint64)
    for u in range(first, last):
        seed_stream(key, users[u], state)
        for r in range(out.shape[1]):
            for t in range(out.shape[2]):
                out[u, r, t] = below(state, n_places)


@kernel
def _draw(start, place, reached, row, n_places, state):
    """Draw a place from a row of counts; a row without data is uniform."""
    low, high = start[row], start[row + 1]
    if low == high:
        return below(state, n_places)
    target = below(state, reached[high - 1])
    high -= 1
    while low < high:  # the first entry with target < counts reached
        middle = (low + high) // 2
        if reached[middle] > target:
            high = middle
        else:
            low = middle + 1
    return np.int64(place[low])


@kernel
def _log_probability(start, place, reached, row, n_places, wanted):
    """Return ln of the probability of a place in a row, −inf for one never seen there."""
    low, high = start[row], start[row + 1]
    if low == high:
        return -math.log(n_places)
    total = reached[high - 1]
    position = low + np.searchsorted(place[low:high], wanted)
    if position == high or place[position] != wanted:
        return -np.inf
    count = reached[position] - (reached[position - 1] if position > low else 0)
    return math.log(count / total)


@kernel
def markov_traces(users, copies, slots, start, place, reached, n_places, key, out, first, last):
    """Draw traces from the population's chain after the events that are copied.

    users : (N,) int64; copies : (N, ξ) int32, −1 where there is nothing to copy.
    slots : (T,) int32, the slot of each instant.
    start, place, reached : rows of counts; see `sgd.TransitionCounts`.
    out : (N, traces per user, T) int32.
    """
    first_row = len(start) - 2
    state = np.empty(4, np.uint64)
    for u in range(first, last):
        seed_stream(key, users[u], state)
        for r in range(out.shape[1]):
            for t in range(len(slots)):
                if t < copies.shape[1] and copies[u, t] >= 0:
                    out[u, r, t] = copies[u, t]
                    continue
                row = first_row
                if t > 0:
                    row = np.int64(slots[t]) * n_places + out[u, r, t - 1]
                out[u, r, t] = _draw(start, place, reached, row, n_places, state)


@kernel
def markov_log_terms(locations, slots, start, place, reached, n_places, terms, first, last):
    """Fill `terms` (n_traces, T) with ln of each event's probability given the one before."""
    first_row = len(start) - 2
    for i in range(first, last):
        for t in range(len(slots)):
            row = first_row
            if t > 0:
                row = np.int64(slots[t]) * n_places + locations[i, t - 1]
            terms[i, t] = _log_probability(start, place, reached, row, n_places, locations[i, t])


@kernel
def frozen_traces(users, key, visits, out, first, last):
    """Fill `out` (N, traces per user, T) int32: one of the `visits` (n_events,), kept."""
    state = np.empty(4, np.uint64)
    for u in range(first, last):
        seed_stream(key, users[u], state)
        for r in range(out.shape[1]):
            out[u, r, :] = visits[below(state, len(visits))]


@kernel
def independent_traces(users, key, slots, start, visits, out, first, last):
    """Fill `out` (N, traces per user, T) int32: at each instant one of its slot's visits.

    slots : (T,) int32, the slot of each instant.
    start, visits : slot s has visits[start[s] : start[s + 1]]; one without draws from all.
    """
    state = np.empty(4, np.uint64)
    for u in range(first, last):
        seed_stream(key, users[u], state)
        for r in range(out.shape[1]):
            for t in range(len(slots)):
                low, high = start[slots[t]], start[slots[t] + 1]
                if low == high:
                    low, high = 0, len(visits)
                out[u, r, t] = visits[low + below(state, high - low)]
