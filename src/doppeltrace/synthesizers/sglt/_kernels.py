"""Semantic similarity and the partition of the location graph."""
# mypy: ignore-errors

import numpy as np

from doppeltrace.engine.kernel import kernel


@kernel
def similarity(p, q, unseen_p, unseen_q, n_places):
    """Return Σ_x min(π_u(x), π_v(σ(x))) for the best mapping σ.

    p, q : descending probabilities of the visited places; all others have `unseen_…`.
    σ pairs the places in the order of their probabilities.
    """
    total = 0.0
    seen = max(len(p), len(q))
    for r in range(seen):
        a = p[r] if r < len(p) else unseen_p
        b = q[r] if r < len(q) else unseen_q
        total += min(a, b)
    return total + (n_places - seen) * min(unseen_p, unseen_q)


@kernel
def _ranked(start, place, probability, unseen, u, visited, order, value):
    """Write all places of user u, the most probable first, and their probabilities."""
    low, high = start[u], start[u + 1]
    for i in range(low, high):
        order[i - low] = place[i]
        value[i - low] = probability[i]
        visited[place[i]] = True
    at = high - low
    for x in range(len(order)):
        if not visited[x]:
            order[at] = x
            value[at] = unseen
            at += 1
    for i in range(low, high):
        visited[place[i]] = False


@kernel
def _add_pair(order, value, u_seen, start, place, probability, unseen, v, visited, weights):
    """Add what the pair (u, v) says to the location graph; u's places are ranked already."""
    low, high = start[v], start[v + 1]
    n_places = len(order)
    alike = similarity(value[:u_seen], probability[low:high], unseen, unseen, n_places)
    for i in range(low, high):
        r = i - low
        weights[order[r], place[i]] += min(value[r], probability[i]) * alike
        visited[place[i]] = True
    r = high - low
    for y in range(n_places):
        if not visited[y]:
            weights[order[r], y] += unseen * alike
            r += 1
    for i in range(low, high):
        visited[place[i]] = False


@kernel
def add_pairs(start, place, probability, unseen, shard, n_shards, weights):
    """Add the pairs (u, v), u < v, of one shard to `weights` (n_places, n_places).

    The users u are dealt to the shards in turn, so that each has its share of long and short
    rows.
    """
    n_users, n_places = len(start) - 1, len(weights)
    visited = np.zeros(n_places, np.bool_)
    order = np.empty(n_places, np.int64)
    value = np.empty(n_places)
    for u in range(shard, n_users, n_shards):
        seen = start[u + 1] - start[u]
        if seen == 0:
            continue
        _ranked(start, place, probability, unseen, u, visited, order, value)
        for v in range(u + 1, n_users):
            if start[v] < start[v + 1]:
                _add_pair(
                    order, value, seen, start, place, probability, unseen, v, visited, weights
                )


@kernel
def _cost(size, degree, inside):
    """Return a cluster's part of the criterion: n² · W(S, 𝒳) / W(S, S)."""
    if size == 0:
        return 0.0
    return size * size * degree / max(inside, 1e-12 * degree)


@kernel
def refine_partition(weights, labels, n_clusters, order, most_passes):
    """Move places between clusters while the criterion falls; `labels` (n,) changes in place.

    weights : (n, n) symmetric; order : (n,) int64, in which places are looked at.
    A cluster never loses its last place. Returns the criterion, the sum of `_cost`.
    """
    n = len(labels)
    size = np.zeros(n_clusters)
    degree = np.zeros(n_clusters)
    inside = np.zeros(n_clusters)
    own_degree = np.empty(n)
    for i in range(n):
        own_degree[i] = weights[i].sum()
        size[labels[i]] += 1
        degree[labels[i]] += own_degree[i]
        for j in range(n):
            if labels[j] == labels[i]:
                inside[labels[i]] += weights[i, j]
    links = np.empty(n_clusters)
    for _ in range(most_passes):
        moved = False
        for i in order:
            a = labels[i]
            if size[a] <= 1:
                continue
            links[:] = 0.0
            for j in range(n):
                links[labels[j]] += weights[i, j]
            loop = weights[i, i]
            links[a] -= loop
            here = _cost(size[a], degree[a], inside[a])
            left_inside = inside[a] - 2 * links[a] - loop
            gain = _cost(size[a] - 1, degree[a] - own_degree[i], left_inside) - here
            best, target = -1e-12 * here, -1
            for b in range(n_clusters):
                if b == a:
                    continue
                joined = _cost(
                    size[b] + 1, degree[b] + own_degree[i], inside[b] + 2 * links[b] + loop
                )
                change = gain + joined - _cost(size[b], degree[b], inside[b])
                if change < best:
                    best, target = change, b
            if target >= 0:
                moved = True
                labels[i] = target
                inside[a] = left_inside
                degree[a] -= own_degree[i]
                size[a] -= 1
                inside[target] += 2 * links[target] + loop
                degree[target] += own_degree[i]
                size[target] += 1
        if not moved:
            break
    total = 0.0
    for k in range(n_clusters):
        total += _cost(size[k], degree[k], inside[k])
    return total


@kernel
def similarities(
    start, probability, unseen, trace_start, trace_probability, n_places, out, first, last
):
    """Fill rows first … last − 1 of `out` (n_traces, n_users): how alike traces and users are.

    Traces are not smoothed: places they do not visit have probability 0.
    """
    for i in range(first, last):
        mine = trace_probability[trace_start[i] : trace_start[i + 1]]
        for u in range(len(start) - 1):
            theirs = probability[start[u] : start[u + 1]]
            out[i, u] = similarity(theirs, mine, unseen, 0.0, n_places)
