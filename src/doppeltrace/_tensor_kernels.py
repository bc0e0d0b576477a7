"""Kernels of step (i): choose each user's observed elements."""
# mypy: ignore-errors

import numpy as np

from doppeltrace._stream_kernels import below, seed_stream, uniform
from doppeltrace.engine.kernel import kernel


@kernel
def _draw_zeros_sparse(state, taken, cells, wanted, table, drawn):
    """Draw `wanted` distinct cells outside `taken` by rejection, with a hash set.

    `table` (power of two,) int64 scratch, larger than twice len(taken) + wanted;
    `drawn` (≥ wanted,) int64 receives the cells.
    """
    mask = len(table) - 1
    table[:] = -1
    for cell in taken:
        slot = (cell * 0x9E3779B1) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = cell
    found = 0
    while found < wanted:
        cell = below(state, cells)
        slot = (cell * 0x9E3779B1) & mask
        while table[slot] >= 0 and table[slot] != cell:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = cell
            drawn[found] = cell
            found += 1


@kernel
def _draw_zeros_dense(state, taken, cells, wanted, drawn):
    """Draw the same by selection sampling over all cells: for when most zeros are wanted."""
    found = 0
    next_taken = 0
    left = cells - len(taken)
    for cell in range(cells):
        if next_taken < len(taken) and taken[next_taken] == cell:
            next_taken += 1
            continue
        if uniform(state) * left < wanted - found:
            drawn[found] = cell
            found += 1
        left -= 1


@kernel
def observe(
    first_user,
    last_user,
    offsets,
    row,
    column,
    count,
    n_rows,
    n_columns,
    kept,
    drawn,
    key,
    out_offsets,
    out_row,
    out_column,
    out_count,
):
    """Write the observed elements of users first … last − 1, by cell, into the `out_` arrays.

    kept, drawn : (n_users,) int64, how many positives to keep and zeros to draw.
    A user's draws come from that user's stream under `key`.
    """
    cells = n_rows * n_columns
    for n in range(first_user, last_user):
        state = np.empty(4, np.uint64)
        seed_stream(key, n, state)
        first = offsets[n]
        positives = offsets[n + 1] - first
        taken = np.empty(positives, np.int64)
        for e in range(positives):
            taken[e] = np.int64(row[first + e]) * n_columns + np.int64(column[first + e])
        # The low bits carry the count through the sort: count 0 marks a sampled zero.
        element = np.empty(kept[n] + drawn[n], np.int64)
        chosen = 0
        for e in range(positives):  # selection sampling of the positives to keep
            if uniform(state) * (positives - e) < kept[n] - chosen:
                element[chosen] = (taken[e] << 16) | np.int64(count[first + e])
                chosen += 1
        zeros = np.empty(drawn[n], np.int64)
        if 2 * drawn[n] > cells - positives:
            _draw_zeros_dense(state, taken, cells, drawn[n], zeros)
        elif drawn[n] > 0:
            size = 16
            while size < 3 * (drawn[n] + positives):
                size *= 2
            _draw_zeros_sparse(state, taken, cells, drawn[n], np.empty(size, np.int64), zeros)
        for e in range(drawn[n]):
            element[chosen + e] = zeros[e] << 16
        element.sort()
        start = out_offsets[n]
        for e in range(len(element)):
            cell = element[e] >> 16
            out_row[start + e] = cell // n_columns
            out_column[start + e] = cell % n_columns
            out_count[start + e] = element[e] & 0xFFFF
