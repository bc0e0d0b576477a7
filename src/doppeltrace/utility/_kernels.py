"""Kernels that walk through every user's events once and count days and groups.

A user's events are offsets[n] … offsets[n + 1] − 1, ordered by time. Scratch of one entry per
place is cleared after each day or user through the events that set it.
"""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace.engine.kernel import kernel

DAY = 86_400


@kernel
def count_days(
    offsets,
    location,
    instant,
    n_places,
    day_second,
    instant_seconds,
    area,
    part_of_hour,
    entropy_cells,
    share_cells,
    places,
    moves,
    events,
    top,
    gaps,
    entropy,
    back,
    closed,
    flows,
):
    """Add every user's days to the histograms and counts; return the number of user-days.

    area : (n_places,) int64; part_of_hour : (24,) int64.
    entropy_cells, share_cells : histogram cells per bit, and of a share of 1.
    places, moves, events, gaps : counts per whole number (gaps in instants).
    top, entropy : counts per cell of the top place's share, and of bits.
    back, closed : (2,) those it is true of, and all. flows : (parts, areas, areas).
    """
    count = np.zeros(n_places, np.int32)
    n_days = 0
    for user in range(len(offsets) - 1):
        begin, end = offsets[user], offsets[user + 1]
        if begin == end:
            continue
        first = begin
        while first < end:
            day = (day_second + np.int64(instant[first]) * instant_seconds) // DAY
            n_days += 1
            distinct, moved, most = 0, 0, 0
            before = np.int64(-1)  # where the person was before the last move
            e = first
            while e < end:
                second = day_second + np.int64(instant[e]) * instant_seconds
                if second // DAY != day:
                    break
                here = location[e]
                if count[here] == 0:
                    distinct += 1
                count[here] += 1
                most = max(most, count[here])
                if e > first:
                    there = location[e - 1]
                    gaps[instant[e] - instant[e - 1]] += 1
                    if here != there:
                        moved += 1
                        if before >= 0:
                            back[1] += 1
                            if here == before:
                                back[0] += 1
                        before = there
                        if area[here] != area[there]:
                            part = part_of_hour[second % DAY // 3600]
                            flows[part, area[there], area[here]] += 1
                e += 1
            seen = e - first
            places[distinct] += 1
            moves[moved] += 1
            events[seen] += 1
            if seen >= 2:
                top[int(np.rint(share_cells * most / seen))] += 1
                closed[1] += 1
                if location[first] == location[e - 1]:
                    closed[0] += 1
            for i in range(first, e):
                count[location[i]] = 0
            first = e
        total = end - begin
        if total >= 2:
            for i in range(begin, end):
                count[location[i]] += 1
            weighted = 0.0
            for i in range(begin, end):
                c = count[location[i]]
                if c > 0:
                    weighted += c * math.log2(c)
                    count[location[i]] = 0
            bits = math.log2(total) - weighted / total
            entropy[int(np.rint(entropy_cells * bits))] += 1
    return n_days


@kernel
def profiles(offsets, location, part, area, n_areas, out):
    """Fill `out` (n_users, parts · areas) with √ of the share of a user's events in each."""
    for user in range(len(offsets) - 1):
        begin, end = offsets[user], offsets[user + 1]
        for e in range(begin, end):
            out[user, part[e] * n_areas + area[location[e]]] += 1.0
        if end > begin:
            for d in range(out.shape[1]):
                out[user, d] = math.sqrt(out[user, d] / (end - begin))


@kernel
def count_groups(offsets, location, part, area, n_areas, centres, sizes, events):
    """Give every user to the group with the nearest centre and count its events there.

    part : (n_events,) int64; centres : (groups, parts · areas) float64 of unit length.
    sizes : (groups,) users; events : (groups, parts, n_places). A tie goes to the lower group.
    """
    n_groups, n_dimensions = centres.shape
    count = np.zeros(n_dimensions, np.int64)
    affinity = np.empty(n_groups)
    for user in range(len(offsets) - 1):
        begin, end = offsets[user], offsets[user + 1]
        if begin == end:
            continue
        for e in range(begin, end):
            count[part[e] * n_areas + area[location[e]]] += 1
        affinity[:] = 0.0
        for e in range(begin, end):
            d = part[e] * n_areas + area[location[e]]
            if count[d] > 0:  # each dimension once, and cleared for the next user
                root = math.sqrt(count[d])
                count[d] = 0
                for group in range(n_groups):
                    affinity[group] += root * centres[group, d]
        nearest = 0
        for group in range(1, n_groups):
            if affinity[group] > affinity[nearest] * (1.0 + 1e-12):
                nearest = group
        sizes[nearest] += 1
        for e in range(begin, end):
            events[nearest, part[e], location[e]] += 1


@kernel
def count_steps(offsets, location, instant, slot, column, row, columns, rows, moves):
    """Count transitions: events of a user at instants t and t + 1, in consecutive rows.

    slot : (n_events,); column, row : (n_places,) of the grid.
    columns, rows : (n_places, cells), by origin and the destination's column or row.
    moves : (n_slots, 2), by the destination's slot: those that change place, and all.
    """
    for user in range(len(offsets) - 1):
        for e in range(offsets[user] + 1, offsets[user + 1]):
            if instant[e] - instant[e - 1] == 1:
                origin, destination = location[e - 1], location[e]
                columns[origin, column[destination]] += 1
                rows[origin, row[destination]] += 1
                moves[slot[e], 1] += 1
                if origin != destination:
                    moves[slot[e], 0] += 1


@kernel
def count_fractions(offsets, location, n_places, least_events, out):
    """Add each user's visit-fractions to `out` (n_places, bins); 0 and 1 count nowhere."""
    bins = out.shape[1]
    count = np.zeros(n_places, np.int64)
    for user in range(len(offsets) - 1):
        begin, end = offsets[user], offsets[user + 1]
        total = end - begin
        if total < least_events:
            continue
        for e in range(begin, end):
            count[location[e]] += 1
        for e in range(begin, end):
            visits = count[location[e]]
            if 0 < visits < total:
                # ⌈bins · f⌉ − 1 in integers: floats can fall on the wrong side of an edge
                out[location[e], (bins * visits + total - 1) // total - 1] += 1
            count[location[e]] = 0


@kernel
def arc(x, y):
    """Return the angle between two unit vectors (3,), exact also where it is tiny."""
    square = (x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2 + (x[2] - y[2]) ** 2
    return 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(square)))


@kernel
def trip_arcs(offsets, location, instant, point, out):
    """Fill `out` with the angle of every transition that changes place; return how many.

    point : (n_places, 3) unit vectors.
    """
    n = 0
    for user in range(len(offsets) - 1):
        for e in range(offsets[user] + 1, offsets[user + 1]):
            if instant[e] - instant[e - 1] == 1 and location[e] != location[e - 1]:
                out[n] = arc(point[location[e - 1]], point[location[e]])
                n += 1
    return n


@kernel
def gyration_arcs(offsets, location, instant, point, day_second, instant_seconds, out):
    """Fill `out` with the root mean square angle from its centre of every user-day.

    Days with a single event are left out. The centre is the mean of the unit vectors, brought
    back to the sphere. Returns how many there are.
    """
    n = 0
    centre = np.empty(3)
    for user in range(len(offsets) - 1):
        end = offsets[user + 1]
        first = offsets[user]
        while first < end:
            day = (day_second + np.int64(instant[first]) * instant_seconds) // DAY
            centre[:] = 0.0
            e = first
            while e < end:
                if (day_second + np.int64(instant[e]) * instant_seconds) // DAY != day:
                    break
                for i in range(3):
                    centre[i] += point[location[e], i]
                e += 1
            if e - first >= 2:
                length = math.sqrt(centre[0] ** 2 + centre[1] ** 2 + centre[2] ** 2)
                for i in range(3):
                    centre[i] /= max(length, 1e-300)
                square = 0.0
                for i in range(first, e):
                    square += arc(point[location[i]], centre) ** 2
                out[n] = math.sqrt(square / (e - first))
                n += 1
            first = e
    return n
