"""What one day looks like: which cell of each histogram of days it falls into.

Real and synthetic days go through the same function, so both are measured alike.
"""

import math

from numba import njit

DISTINCT, MOVES, RADIUS, TOP, LONGEST, RETURN, LONG_STAYS = range(7)
"""The histograms: each day is in one cell of each."""
CELLS = (32, 40, 20, 21, 21, 3, 7)
"""Cells of each histogram."""
OFFSETS = (0, 32, 72, 92, 113, 134, 137, 144)
"""Where each histogram begins when they are laid end to end, and their total."""
N_DWELLS = 9
"""Bins of lengths of stay."""
DWELL_CLIP = 8.0
"""Bound of the L2 norm of one day's stays per bin."""


@njit(cache=True)
def _dwell_bin(length):
    """Return the bin of a stay of so many instants: 1, 2, 3, 4–5, 6–8, 9–12, 13–18, 19–27, 28+."""
    if length <= 3:
        return length - 1
    if length <= 5:
        return 3
    if length <= 8:
        return 4
    if length <= 12:
        return 5
    if length <= 18:
        return 6
    if length <= 27:
        return 7
    return 8


@njit(cache=True)
def describe_day(location, position, n, points, scale, n_instants, cells, dwells, work):
    """Fill in the cells of one day with n ≥ 1 events.

    location, position : (≥ n,) the events, ordered by position in the cycle.
    points : (X, 2) km; scale : km, the places' own radius.
    cells : (7,) the cell of each histogram.
    dwells : (N_DWELLS,) number of stays per bin of length, scaled to norm ≤ DWELL_CLIP.
    work : (≥ n,) int64 scratch.
    """
    dwells[:] = 0.0
    north = 0.0
    east = 0.0
    moves = 0
    longest = 0
    long_stays = 0
    run = 0
    long_enough = max(2, n_instants // 6)
    for i in range(n):
        x = location[i]
        work[i] = x
        north += points[x, 0]
        east += points[x, 1]
        if i > 0 and x != location[i - 1]:
            moves += 1
        goes_on = i > 0 and x == location[i - 1] and position[i] - position[i - 1] <= 1
        if not goes_on and run > 0:
            dwells[_dwell_bin(run)] += 1.0
            long_stays += run >= long_enough
            run = 0
        run += 1 if i == 0 or position[i] != position[i - 1] or not goes_on else 0
        longest = max(longest, run)
    dwells[_dwell_bin(max(run, 1))] += 1.0
    long_stays += run >= long_enough
    north /= n
    east /= n
    square = 0.0
    for i in range(n):
        a = points[location[i], 0] - north
        b = points[location[i], 1] - east
        square += a * a + b * b
    radius = math.sqrt(square / n) / scale
    work[:n].sort()
    distinct = 1
    same = 1
    top = 1
    for i in range(1, n):
        if work[i] == work[i - 1]:
            same += 1
        else:
            same = 1
            distinct += 1
        top = max(top, same)
    cells[DISTINCT] = min(distinct, CELLS[DISTINCT] - 1)
    cells[MOVES] = min(moves, CELLS[MOVES] - 1)
    cells[RADIUS] = 0 if radius < 1e-9 else min(1 + int(radius * 12.0), CELLS[RADIUS] - 1)
    cells[TOP] = 20 * top // n
    cells[LONGEST] = min(20 * longest // n_instants, 20)
    cells[RETURN] = 0 if distinct == 1 else 1 + (location[0] == location[n - 1])
    cells[LONG_STAYS] = min(long_stays, CELLS[LONG_STAYS] - 1)
    norm = 0.0
    for d in range(N_DWELLS):
        norm += dwells[d] * dwells[d]
    norm = math.sqrt(norm)
    if norm > DWELL_CLIP:
        for d in range(N_DWELLS):
            dwells[d] *= DWELL_CLIP / norm * (1.0 - 1e-12)
