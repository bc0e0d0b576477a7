"""Kernels that count: one pass over users, whole numbers out.

Each user's contribution to a table is a vector of bounded L2 norm, rounded towards zero to
multiples of 1 / GRID; sums of whole numbers do not depend on the order of users or threads.
"""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace.crowd._day_kernels import N_DWELLS, OFFSETS, describe_day
from doppeltrace.engine.kernel import kernel

GRID = 65536.0
_BELOW = 1.0 - 1e-12  # keeps a rounded product at or below the bound
_FRACTIONS = 256  # fractions are multiples of 1/256, so that products are multiples of 1 / GRID


@kernel
def _norm(keys, n):
    """Sort keys[:n] and return the L2 norm of how often each occurs."""
    keys[:n].sort()
    total = 0.0
    i = 0
    while i < n:
        j = i
        while j < n and keys[j] == keys[i]:
            j += 1
        total += float(j - i) * (j - i)
        i = j
    return math.sqrt(total)


@kernel
def _add(keys, n, weight, base, table, heads):
    """Add trunc(weight · GRID · count) of each key of the sorted keys[:n] to the table."""
    i = 0
    while i < n:
        j = i
        while j < n and keys[j] == keys[i]:
            j += 1
        table[base + keys[i]] += np.int64((j - i) * weight * GRID)
        if len(heads) > 0:
            heads[base + keys[i]] += 1
        i = j


@kernel
def _weight(norm, clip):
    """Return the factor that brings a vector of this norm to at most `clip`."""
    return _BELOW if norm <= clip else clip / norm * _BELOW


@kernel
def _add_clipped(keys, n, clip, base, table, heads):
    """Add one user's counts, scaled down to norm ≤ clip."""
    _add(keys, n, _weight(_norm(keys, n), clip), base, table, heads)


@kernel
def _log_bin(norm, n_bins):
    """Return the first bin whose edge 2^(bin / 4 − 1) reaches the norm."""
    for b in range(n_bins):
        if norm <= 2.0 ** (b * 0.25 - 1.0) * (1.0 + 1e-12):
            return b
    return n_bins - 1


@kernel
def _longest_user(offsets, first, last):
    longest = 1
    for u in range(first, last):
        longest = max(longest, offsets[u + 1] - offsets[u])
    return longest


@kernel
def scan(
    offsets, location, instant, slot, coarse, fine, cycle, n_instants, n_bins, table, first, last
):
    """Add the first look at users first … last − 1 to `table` (2 + 2 · n_bins + T,) int64.

    Cells: users; share of their events that follow another one instant before;
    histogram of norms of slot × coarse group; of norms of moves between fine groups; histogram
    of events per day with events. Each user adds at most 1 to one cell of each.
    """
    keys = np.empty(_longest_user(offsets, first, last), np.int64)
    n_coarse = coarse.max() + 1
    n_fine = fine.max() + 1
    whole = np.int64(GRID)
    for u in range(first, last):
        low, high = offsets[u], offsets[u + 1]
        n = high - low
        table[0] += whole
        if n == 0:
            continue
        follows = 0
        days = 1
        for i in range(low, high):
            keys[i - low] = slot[i] * n_coarse + coarse[location[i]]
            if i > low:
                follows += instant[i] == instant[i - 1] + 1
                days += instant[i] // cycle != instant[i - 1] // cycle
        table[1] += np.int64(follows * whole // n)
        table[2 + _log_bin(_norm(keys, n), n_bins)] += whole
        n_moves = 0
        for i in range(low + 1, high):
            if instant[i] == instant[i - 1] + 1 and location[i] != location[i - 1]:
                keys[n_moves] = fine[location[i - 1]] * n_fine + fine[location[i]]
                n_moves += 1
        if n_moves > 0:
            table[2 + n_bins + _log_bin(_norm(keys, n_moves), n_bins)] += whole
        per_day = min(max((n + days // 2) // days, 1), n_instants)
        table[2 + 2 * n_bins + per_day - 1] += whole


@kernel
def count_visits(
    offsets, location, slot, levels, n_groups, clip, bases, table, heads, first, last
):
    """Add slot × group counts at every level with one weight per user.

    levels : (D, X) group of each place, coarsest first, the last being the places themselves.
    The weight is that of the coarsest level, whose norm is the largest.
    """
    keys = np.empty(_longest_user(offsets, first, last), np.int64)
    for u in range(first, last):
        low, high = offsets[u], offsets[u + 1]
        weight = 0.0
        for d in range(levels.shape[0]):
            for i in range(low, high):
                keys[i - low] = slot[i] * n_groups[d] + levels[d, location[i]]
            norm = _norm(keys, high - low)
            if d == 0:
                weight = _weight(norm, clip)
            _add(keys, high - low, weight, bases[d], table, heads)


@kernel
def _mobility_class(moved, steps, edges):
    """Return the class of a user by the share of steps that move."""
    share = moved / max(steps, 1)
    for q in range(len(edges)):
        if share <= edges[q]:
            return q
    return len(edges)


@kernel(inline="always")
def heading(points, origin, destination, n_headings):
    """Return in which of n sectors the way points; sector 0 is centred on the south."""
    north = points[destination, 0] - points[origin, 0]
    east = points[destination, 1] - points[origin, 1]
    turn = (math.atan2(north, east) + math.pi) / (2.0 * math.pi)
    return int(math.floor(turn * n_headings + 0.5)) % n_headings


@kernel
def _length_bin(points, origin, destination, edges):
    north = points[destination, 0] - points[origin, 0]
    east = points[destination, 1] - points[origin, 1]
    return np.searchsorted(edges, math.sqrt(north * north + east * east), side="right")


@kernel
def count_moves(
    offsets, location, instant, slot, points, group, edges, neighbours, class_edges, n_headings,
    visit_clip, move_clip, bases, table, heads, first, last,
):  # fmt: skip
    """Add what users do between one instant and the next.

    bases : where the tables begin: flow (G, G), lengths, ends (2, X), pairs (X, K),
        stays (L, 2), persistence (L, 2, 2, Q), turns (H,); −1 leaves a table out.
    """
    size = 2 * _longest_user(offsets, first, last)
    keys = np.empty(size, np.int64)
    n_groups = group.max() + 1
    n_places, k = neighbours.shape
    n_classes = len(class_edges) + 1
    for u in range(first, last):
        low, high = offsets[u], offsets[u + 1]
        n = 0
        steps = 0
        for i in range(low + 1, high):
            if instant[i] == instant[i - 1] + 1:
                steps += 1
                if location[i] != location[i - 1]:
                    keys[n] = group[location[i - 1]] * n_groups + group[location[i]]
                    n += 1
        if steps == 0:
            continue
        moved = n
        mobility = _mobility_class(moved, steps, class_edges)
        _add_clipped(keys, n, move_clip, bases[0], table, heads)
        n = 0
        for i in range(low + 1, high):
            if instant[i] == instant[i - 1] + 1 and location[i] != location[i - 1]:
                keys[n] = _length_bin(points, location[i - 1], location[i], edges)
                n += 1
        _add_clipped(keys, n, 2.0 * move_clip, bases[1], table, heads)
        n = 0
        for i in range(low + 1, high):
            if instant[i] == instant[i - 1] + 1 and location[i] != location[i - 1]:
                keys[n] = location[i - 1]
                keys[n + 1] = n_places + location[i]
                n += 2
        _add_clipped(keys, n, math.sqrt(2.0) * move_clip, bases[2], table, heads)
        n = 0
        for i in range(low + 1, high):
            if instant[i] == instant[i - 1] + 1 and location[i] != location[i - 1]:
                row = neighbours[location[i - 1]]
                j = np.searchsorted(row, location[i])
                if j < k and row[j] == location[i]:
                    keys[n] = np.int64(location[i - 1]) * k + j
                    n += 1
        _add_clipped(keys, n, move_clip, bases[3], table, heads)
        n = 0
        for i in range(low + 1, high):
            if instant[i] == instant[i - 1] + 1:
                keys[n] = 2 * slot[i] + (location[i] != location[i - 1])
                n += 1
        _add_clipped(keys, n, visit_clip, bases[4], table, heads)
        n = 0
        for i in range(low + 2, high):
            if instant[i] == instant[i - 1] + 1 and instant[i - 1] == instant[i - 2] + 1:
                was = location[i - 1] != location[i - 2]
                now = location[i] != location[i - 1]
                keys[n] = ((2 * slot[i] + was) * 2 + now) * n_classes + mobility
                n += 1
        _add_clipped(keys, n, visit_clip, bases[5], table, heads)
        if bases[6] < 0:
            continue
        n = 0
        for i in range(low + 2, high):
            if instant[i] == instant[i - 1] + 1 and instant[i - 1] == instant[i - 2] + 1:
                if location[i] != location[i - 1] and location[i - 1] != location[i - 2]:
                    before = heading(points, location[i - 2], location[i - 1], n_headings)
                    after = heading(points, location[i - 1], location[i], n_headings)
                    keys[n] = (after - before) % n_headings
                    n += 1
        _add_clipped(keys, n, 2.0 * move_clip, bases[6], table, heads)


@kernel
def count_types(
    offsets, location, instant, slot, part, group, class_edges, base, table, heads, first, last
):
    """Add co-occurrences of (part of the cycle, group) and (part, group) or mobility class.

    In each part a user's fractions s_p over groups have norm ≤ 1, so every block
    s_p s_p′ᵀ (p < p′) and s_p × class has norm ≤ 1. Blocks lie end to end: the pairs of parts in
    lexicographic order, then, if there are classes, part × class.
    """
    n_parts = part.max() + 1
    n_groups = group.max() + 1
    n_classes = len(class_edges) + 1
    share = np.zeros((n_parts, n_groups), np.int64)
    seen = np.zeros(n_parts, np.int64)
    for u in range(first, last):
        low, high = offsets[u], offsets[u + 1]
        if low == high:
            continue
        share[:] = 0
        seen[:] = 0
        moved = 0
        steps = 0
        for i in range(low, high):
            p = part[slot[i]]
            share[p, group[location[i]]] += 1
            seen[p] += 1
            if i > low and instant[i] == instant[i - 1] + 1:
                steps += 1
                moved += location[i] != location[i - 1]
        for p in range(n_parts):
            if seen[p] > 0:
                for g in range(n_groups):
                    share[p, g] = share[p, g] * _FRACTIONS // seen[p]
        at = base
        for p in range(n_parts):
            for p2 in range(p + 1, n_parts):
                if seen[p] > 0 and seen[p2] > 0:
                    for g in range(n_groups):
                        if share[p, g] > 0:
                            for g2 in range(n_groups):
                                cell = at + g * n_groups + g2
                                table[cell] += share[p, g] * share[p2, g2]
                                if len(heads) > 0 and share[p2, g2] > 0:
                                    heads[cell] += 1
                at += n_groups * n_groups
        if n_classes == 1:
            continue
        mobility = _mobility_class(moved, steps, class_edges)
        for p in range(n_parts):
            if seen[p] > 0 and steps > 0:
                for g in range(n_groups):
                    if share[p, g] > 0:
                        cell = at + g * n_classes + mobility
                        table[cell] += share[p, g] * _FRACTIONS
                        if len(heads) > 0:
                            heads[cell] += 1
            at += n_groups * n_classes


@kernel
def count_repeats(offsets, location, edges, base, table, heads, first, last):
    """Add each user with two events or more to the class of the share of them at a place again."""
    keys = np.empty(_longest_user(offsets, first, last), np.int64)
    for u in range(first, last):
        n = offsets[u + 1] - offsets[u]
        if n < 2:
            continue
        for i in range(n):
            keys[i] = location[offsets[u] + i]
        keys[:n].sort()
        again = 0
        for i in range(1, n):
            again += keys[i] == keys[i - 1]
        cell = base + _mobility_class(again, n, edges)
        table[cell] += np.int64(GRID)
        if len(heads) > 0:
            heads[cell] += 1


@kernel
def count_days(
    offsets, location, instant, points, scale, cycle, n_instants, base, table, heads, first, last
):
    """Add what each user's fullest day looks like (the earliest among equals).

    Cells: the histograms of `_day_kernels`, end to end, then the lengths of stay.
    """
    longest = _longest_user(offsets, first, last)
    work = np.empty(longest, np.int64)
    position = np.empty(longest, np.int64)
    cells = np.empty(len(OFFSETS) - 1, np.int64)
    dwells = np.empty(N_DWELLS)
    for u in range(first, last):
        low, high = offsets[u], offsets[u + 1]
        if low == high:
            continue
        best_low = low
        best_high = low
        start = low
        for i in range(low + 1, high + 1):
            if i == high or instant[i] // cycle != instant[start] // cycle:
                if i - start > best_high - best_low:
                    best_low = start
                    best_high = i
                start = i
        n = best_high - best_low
        for i in range(n):
            position[i] = instant[best_low + i] % cycle
        describe_day(
            location[best_low:best_high], position, n, points, scale, n_instants,
            cells, dwells, work,
        )  # fmt: skip
        for f in range(len(cells)):
            cell = base + OFFSETS[f] + cells[f]
            table[cell] += np.int64(GRID)
            if len(heads) > 0:
                heads[cell] += 1
        for d in range(N_DWELLS):
            cell = base + OFFSETS[len(cells)] + d
            table[cell] += np.int64(dwells[d] * GRID)
            if len(heads) > 0:
                heads[cell] += dwells[d] > 0
