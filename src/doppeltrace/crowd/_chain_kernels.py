"""Messages of the chain and its draws, on blocks of places or traces.

Axes: h heading of a move, m state of motion (0: has stayed; 1 + h: has moved with heading h),
x place, k kind of people (type and mobility class). Messages are float32; every sum runs in a
fixed order inside one call, so the number of threads changes nothing.
"""
# mypy: ignore-errors

import numpy as np

from doppeltrace._stream_kernels import seed_stream, uniform
from doppeltrace.crowd._day_kernels import N_DWELLS, OFFSETS, describe_day
from doppeltrace.engine.kernel import kernel


@kernel
def gather_groups(values, factor, members, member_start, out, first, last):
    """out[h, G, k] = Σ_{x ∈ G} factor_x values[h, x, k], for groups first … last − 1."""
    n_headings, _, n_kinds = values.shape
    for g in range(first, last):
        for h in range(n_headings):
            row = out[h, g]
            row[:] = 0
            for i in range(member_start[g], member_start[g + 1]):
                x = members[i]
                f = factor[x]
                v = values[h, x]
                for k in range(n_kinds):
                    row[k] += f * v[k]


@kernel
def across_groups(values, between, sector, out, backwards, first, last):
    """Carry group sums across `between`, each pair with its own heading.

    backwards: out[h, G] = Σ_G′ between[G, G′] values[h, G′], else
    out[h, G′] = Σ_G between[G, G′] values[h, G], with h = sector[G, G′].
    """
    n_groups, n_kinds = values.shape[1], values.shape[2]
    for g in range(first, last):
        out[:, g] = 0
        for other in range(n_groups):
            f = between[g, other] if backwards else between[other, g]
            if f == 0:
                continue
            h = sector[g, other] if backwards else sector[other, g]
            row = out[h, g]
            v = values[h, other]
            for k in range(n_kinds):
                row[k] += f * v[k]


@kernel
def backward_near(
    start, place, sector, weight, ahead, group, out_factor, groups, back, first, last
):
    """back[h, x] = Σ_b R(x, b) ahead[h, b] over moves of heading h, near and by groups."""
    n_headings, _, n_kinds = back.shape
    for x in range(first, last):
        for h in range(n_headings):
            row = back[h, x]
            v = groups[h, group[x]]
            for k in range(n_kinds):
                row[k] = out_factor[x] * v[k]
        for e in range(start[x], start[x + 1]):
            row = back[sector[e], x]
            v = ahead[sector[e], place[e]]
            w = weight[e]
            for k in range(n_kinds):
                row[k] += w * v[k]


@kernel
def forward_near(into_start, into, origin, sector, weight, source, group, in_factor, groups, out,
                 first, last):  # fmt: skip
    """out[h, b] = Σ_x R(x, b) source[h, x] over moves of heading h, near and by groups."""
    n_headings, _, n_kinds = out.shape
    for b in range(first, last):
        for h in range(n_headings):
            row = out[h, b]
            v = groups[h, group[b]]
            for k in range(n_kinds):
                row[k] = in_factor[b] * v[k]
        for i in range(into_start[b], into_start[b + 1]):
            e = into[i]
            row = out[sector[e], b]
            v = source[sector[e], origin[e]]
            w = weight[e]
            for k in range(n_kinds):
                row[k] += w * v[k]


@kernel
def near_flows(start, place, sector, weight, source, ahead, kind, flow, first, last):
    """flow[e] += R(x, b) Σ_k source[h, x, k] kind_k ahead[h, b, k] for the moves out of x."""
    n_kinds = len(kind)
    for x in range(first, last):
        for e in range(start[x], start[x + 1]):
            a = source[sector[e], x]
            b = ahead[sector[e], place[e]]
            total = np.float32(0)
            for k in range(n_kinds):
                total += a[k] * kind[k] * b[k]
            flow[e] += weight[e] * total


@kernel
def _pick(weights, n, target):
    """Return the first i with weights[0] + … + weights[i] > target, at most n − 1."""
    total = 0.0
    for i in range(n):
        total += weights[i]
        if total > target:
            return i
    return n - 1


@kernel
def walk(chain, kind, state, trace, work):
    """Draw one trace of this kind of people into `trace` (T,), exactly.

    The weight of all that can happen next is known from the messages, so the possibilities are
    looked through, likely ones first, only until the draw is reached.

    chain : (begin, hold, alpha, turn, start, place, sector, weight, group, out_factor, in_factor,
        between, group_sector, members, member_start, ahead, group_ahead, total); see
        `sampler.Sampler`.
    work : (≥ X) float64 scratch.
    """
    (begin, hold, alpha, turn, start, place, sector, weight, group, out_factor, in_factor,
     between, group_sector, members, member_start, ahead, group_ahead,
     total) = chain  # fmt: skip
    n_instants, _, n_motions, n_places = ahead.shape
    n_groups = between.shape[0]
    target = uniform(state) * begin[kind, n_motions * n_places - 1]
    at = np.searchsorted(begin[kind], target, side="right")
    at = min(at, n_motions * n_places - 1)
    motion = at // n_places
    x = at % n_places
    trace[0] = x
    for t in range(1, n_instants):
        moved = min(motion, 1)
        left = uniform(state) * total[t - 1, kind, motion, x]
        left -= alpha[t - 1, moved, 0, kind] * hold[x] * ahead[t, kind, 0, x]
        if left < 0.0:
            motion = 0
            trace[t] = x
            continue
        go = alpha[t - 1, moved, 1, kind]
        chosen = -1
        next_motion = 0
        for e in range(start[x], start[x + 1]):
            h = sector[e]
            left -= go * turn[motion, h] * weight[e] * ahead[t, kind, h + 1, place[e]]
            if left < 0.0:
                chosen = place[e]
                next_motion = h + 1
                break
        if chosen < 0:
            g = group[x]
            go *= out_factor[x]
            reached = -1
            for other in range(n_groups):
                if between[g, other] > 0.0:
                    h = group_sector[g, other]
                    w = go * turn[motion, h] * between[g, other] * group_ahead[t, kind, h, other]
                    if w > 0.0:
                        reached = other
                        left -= w
                        if left < 0.0:
                            break
            if reached >= 0:
                h = group_sector[g, reached]
                low = member_start[reached]
                n = member_start[reached + 1] - low
                for i in range(n):
                    b = members[low + i]
                    work[i] = in_factor[b] * ahead[t, kind, h + 1, b]
                i = _pick(work, n, uniform(state) * group_ahead[t, kind, h, reached])
                next_motion = h + 1
                chosen = members[low + i]
            elif start[x + 1] > start[x]:  # rounding: the likeliest move
                chosen = place[start[x]]
                next_motion = sector[start[x]] + 1
            else:  # nowhere to go
                chosen = x
        motion = next_motion
        x = chosen
        trace[t] = x


@kernel
def thin(n_events, presence, state, keys, order, seen):
    """Choose which instants have an event: n_events of them, with weights `presence` (T,).

    The instants with the largest u^(1 / weight) are a draw without replacement (Efraimidis and
    Spirakis 2006). seen : (T,) bool.
    """
    n = len(presence)
    if n_events >= n:
        seen[:] = True
        return
    for t in range(n):
        keys[t] = np.log(1.0 - uniform(state)) / presence[t] if presence[t] > 0 else -np.inf
    order[:] = np.argsort(-keys)
    seen[:] = False
    for i in range(n_events):
        seen[order[i]] = True


@kernel
def score_day(trace, seen, days, cells, dwells, location, position, work):
    """Return the log weight of a day under the factors of the histograms of days."""
    points, scale, day_factor, dwell_factor = days
    n = 0
    value = 0.0
    for t in range(len(trace)):
        if seen[t]:
            location[n] = trace[t]
            position[n] = t
            n += 1
    describe_day(location, position, n, points, scale, len(trace), cells, dwells, work)
    for f in range(len(cells)):
        value += day_factor[OFFSETS[f] + cells[f]]
    for d in range(N_DWELLS):
        value += dwell_factor[d] * dwells[d]
    return value


@kernel
def _draw_kind(cumulative, state):
    kind = np.searchsorted(cumulative, uniform(state) * cumulative[-1], side="right")
    return min(kind, len(cumulative) - 1)


@kernel
def draw_traces(chain, kinds, row, number, events, presence, days, n_candidates, n_days, keep_gaps,
                key, out, first, last):  # fmt: skip
    """Draw traces first … last − 1 into `out` (n, n_days · T).

    Each is the pick, in proportion to its weight (`score_day`), among n_candidates traces of the
    chain; with 1 it is the chain's own. Trace i has the stream of number[i].

    kinds : (R, K) cumulative weights; row : (n,) which of them a trace follows.
    events : (T,) cumulative weights of 1 … T events a day.
    keep_gaps : leave out (−1) the instants without an event.
    """
    n_instants, _, _, n_places = chain[15].shape
    state = np.empty(4, np.uint64)
    work = np.empty(max(n_places, n_instants) + 1)
    trace = np.empty(n_instants, np.int64)
    best = np.empty(n_instants, np.int64)
    seen = np.ones(n_instants, np.bool_)
    best_seen = np.ones(n_instants, np.bool_)
    keys = np.empty(n_instants)
    order = np.empty(n_instants, np.int64)
    cells = np.empty(len(OFFSETS) - 1, np.int64)
    dwells = np.empty(N_DWELLS)
    location = np.empty(n_instants, np.int64)
    position = np.empty(n_instants, np.int64)
    scratch = np.empty(n_instants, np.int64)
    for i in range(first, last):
        seed_stream(key, number[i], state)
        mine = kinds[row[i]]
        kind = _draw_kind(mine, state)
        for day in range(n_days):
            n_events = 1 + _draw_kind(events, state)
            total = 0.0
            for c in range(n_candidates):
                # a first day may be of any kind; the others are of the kind of the first
                candidate_kind = _draw_kind(mine, state) if day == 0 and c > 0 else kind
                walk(chain, candidate_kind, state, trace, work)
                thin(n_events, presence, state, keys, order, seen)
                weight = 1.0
                if n_candidates > 1:
                    weight = np.exp(
                        score_day(trace, seen, days, cells, dwells, location, position, scratch)
                    )
                total += weight
                if uniform(state) * total < weight:
                    best[:] = trace
                    best_seen[:] = seen
                    kind = candidate_kind
            for t in range(n_instants):
                keep = best_seen[t] or not keep_gaps
                out[i, day * n_instants + t] = best[t] if keep else -1


@kernel
def draw_pool(chain, kinds, events, presence, points, scale, n_candidates, key, out, cells, dwells,
              first, last):  # fmt: skip
    """Draw groups of candidates first … last − 1 as `draw_traces` would, with their cells.

    out : (n, C, T) int32; cells : (n, C, 7) int16; dwells : (n, C, N_DWELLS) float32.
    """
    n_instants, _, _, n_places = chain[15].shape
    state = np.empty(4, np.uint64)
    work = np.empty(max(n_places, n_instants) + 1)
    trace = np.empty(n_instants, np.int64)
    seen = np.ones(n_instants, np.bool_)
    keys = np.empty(n_instants)
    order = np.empty(n_instants, np.int64)
    cell = np.empty(len(OFFSETS) - 1, np.int64)
    dwell = np.empty(N_DWELLS)
    location = np.empty(n_instants, np.int64)
    position = np.empty(n_instants, np.int64)
    scratch = np.empty(n_instants, np.int64)
    for i in range(first, last):
        seed_stream(key, i, state)
        n_events = 1 + _draw_kind(events, state)
        for c in range(n_candidates):
            walk(chain, _draw_kind(kinds, state), state, trace, work)
            thin(n_events, presence, state, keys, order, seen)
            n = 0
            for t in range(n_instants):
                out[i, c, t] = trace[t]
                if seen[t]:
                    location[n] = trace[t]
                    position[n] = t
                    n += 1
            describe_day(location, position, n, points, scale, n_instants, cell, dwell, scratch)
            cells[i, c] = cell
            dwells[i, c] = dwell
