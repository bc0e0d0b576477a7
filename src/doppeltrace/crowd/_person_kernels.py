"""How likely a trace is for each kind of people, and what a user's events say of their kind."""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace.engine.kernel import kernel


@kernel
def _find(start, place, x, b):
    """Return the number of the near move x → b, −1 if it is not near."""
    low, high = start[x], start[x + 1]
    while low < high:
        middle = (low + high) // 2
        if place[middle] < b:
            low = middle + 1
        else:
            high = middle
    return low if low < start[x + 1] and place[low] == b else -1


@kernel
def _pull(state, turn, alpha_rest, alpha_moved, h):
    """Return the weight of setting out with heading h from motions of these weights."""
    moved = 0.0
    for m in range(1, len(state)):
        moved += turn[m, h] * state[m]
    return alpha_rest * turn[0, h] * state[0] + alpha_moved * moved


@kernel
def log_of_kinds(chain, sites, traces, out, first, last):
    """out[y, k] = ln p(y | kind k), for traces first … last − 1, summed over motions.

    chain : as `_chain_kernels.walk` takes it.
    sites : (site, type_site, part, type_group, begin, log_first, log_scale), as in `chain.Chain`;
        log_first (K,) and log_scale (T, K) undo the scaling of the messages.
    traces : (n, length); days of one kind follow each other, the last one may be cut off.
    """
    (_, hold, alpha, turn, start, place, sector, weight, group, out_factor, in_factor,
     between, group_sector, _, _, ahead, _, _) = chain  # fmt: skip
    site, type_site, part, type_group, begin, log_first, log_scale = sites
    n_instants, n_kinds, n_motions, _ = ahead.shape
    length = traces.shape[1]
    edge = np.empty(length, np.int64)
    state = np.empty(n_motions)
    for y in range(first, last):
        for t in range(1, length):
            edge[t] = _find(start, place, traces[y, t - 1], traces[y, t])
        for k in range(n_kinds):
            value = 0.0
            for day in range(0, length, n_instants):
                n = min(n_instants, length - day)
                value += log_scale[n - 1, k] - log_first[k]
                state[:] = begin[:, k]
                for t in range(n):
                    b = traces[y, day + t]
                    if t > 0:
                        x = traces[y, day + t - 1]
                        if x == b:
                            moving = 0.0
                            for m in range(1, n_motions):
                                moving += state[m]
                            held = alpha[t - 1, 0, 0, k] * state[0]
                            held = hold[x] * (held + alpha[t - 1, 1, 0, k] * moving)
                            state[:] = 0.0
                            state[0] = held
                        else:
                            rest, moved = alpha[t - 1, 0, 1, k], alpha[t - 1, 1, 1, k]
                            g, other = group[x], group[b]
                            far = group_sector[g, other]
                            by_far = out_factor[x] * between[g, other] * in_factor[b]
                            by_far *= _pull(state, turn, rest, moved, far)
                            e = edge[day + t]
                            by_near = 0.0
                            if e >= 0:
                                by_near = weight[e] * _pull(state, turn, rest, moved, sector[e])
                            state[:] = 0.0
                            state[far + 1] = by_far
                            if e >= 0:
                                state[sector[e] + 1] += by_near
                    here = site[t, b] * type_site[part[t], type_group[b], k]
                    total = 0.0
                    for m in range(n_motions):
                        total += state[m] * (ahead[t, k, m, b] if t == n - 1 else here)
                    if total <= 0.0:
                        value = -np.inf
                        break
                    value += math.log(total)
                    for m in range(n_motions):
                        state[m] *= here / total
            out[y, k] = value


@kernel
def log_mixtures(of_kinds, weights, rows, out, first, last):
    """out[y, u] = ln Σ_k weights[rows[u], k] exp(of_kinds[y, k]), for traces first … last − 1."""
    n_kinds = of_kinds.shape[1]
    share = np.empty(n_kinds)
    for y in range(first, last):
        top = of_kinds[y].max()
        for k in range(n_kinds):
            share[k] = math.exp(of_kinds[y, k] - top)
        for u in range(len(rows)):
            total = 0.0
            for k in range(n_kinds):
                total += weights[rows[u], k] * share[k]
            out[y, u] = top + math.log(total)


@kernel
def evidence(offsets, location, instant, cycle, part, present, out, first, last):
    """out[n, k] = Σ ln p(x_t | k) over the events of users first … last − 1.

    An event that only goes on (the same place in the same part of the same day) says nothing
    new and does not count. present : (T, X, K).
    """
    n_kinds = present.shape[2]
    for n in range(first, last):
        out[n] = 0.0
        for i in range(offsets[n], offsets[n + 1]):
            t = instant[i] % cycle
            if i > offsets[n]:
                before = instant[i - 1]
                same_day = before // cycle == instant[i] // cycle
                if same_day and location[i] == location[i - 1] and part[before % cycle] == part[t]:
                    continue
            for k in range(n_kinds):
                out[n, k] += math.log(present[t, location[i], k] + 1e-12)
