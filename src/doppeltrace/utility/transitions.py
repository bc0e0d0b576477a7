"""Where people go next: TM-EMD-X and TM-EMD-Y, the paper's and over visited places only.

The transition matrix itself is never built. EMD along one axis needs only each row's
probability summed into the columns (X) or rows (Y) of a grid over the places' bounding box:
(n_places, cells) counts, which add up over users.
"""

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Places, Traces
from doppeltrace.utility import _kernels as kernels

CELLS = 20
"""Columns and rows of the grid; EMD is measured in cells."""


Counts = NDArray[np.int64]


def step_counts(traces: Traces, cells: int = CELLS) -> tuple[Counts, Counts, Counts]:
    """Return what one pass over all transitions counts.

    Returns
    -------
    columns, rows : (n_places, cells) transitions from each place into each grid column and row.
    moves : (n_slots, 2) those that change place, and all, by the slot they lead to.
    """
    shape = len(traces.places), cells
    columns, rows = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    moves = np.zeros((traces.clock.n_slots, 2), np.int64)
    column, row = traces.places.grid_cells(cells)
    kernels.count_steps(
        traces.offsets,
        traces.location,
        traces.instant,
        traces.slot,
        column,
        row,
        columns,
        rows,
        moves,
    )
    return columns, rows, moves


def uniform_band_counts(places: Places, cells: int = CELLS) -> tuple[Counts, Counts]:
    """Return columns and rows of `step_counts` if every transition were equally frequent."""
    shape = len(places), cells
    column, row = (np.bincount(b, minlength=cells) for b in places.grid_cells(cells))
    return np.broadcast_to(column, shape), np.broadcast_to(row, shape)


def band_distributions(counts: NDArray, band: NDArray[np.int64]) -> NDArray[np.float64]:
    """Normalise the rows; a place without transitions stays where it is (identity row).

    Parameters
    ----------
    counts : (n_places, cells).
    band : (n_places,) the grid column (or row) of each place.
    """
    counts = counts.astype(np.float64)
    empty = counts.sum(axis=1) == 0
    counts[empty, band[empty]] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)


def tm_emd(test: NDArray, other: NDArray, band: NDArray[np.int64]) -> float:
    """Return the earth mover's distance along one axis in cells, averaged over all places.

    In one dimension it is the L1 distance between the cumulative distributions.
    """
    gap = band_distributions(test, band) - band_distributions(other, band)
    return float(np.abs(np.cumsum(gap, axis=1)).sum(axis=1).mean())


def tm_emd_visited(test: NDArray, other: NDArray) -> float:
    """Return the same distance over the places that the testing traces leave, by how often.

    No row is filled with the identity, which favours traces that never move: where `other`
    has no transition from a place, all its transitions together stand for it. NaN if one of
    the two has no transitions at all.
    """
    weight = test.sum(axis=1)
    everywhere = other.sum(axis=0).astype(np.float64)
    if weight.sum() == 0 or everywhere.sum() == 0:
        return float("nan")
    left = weight > 0
    p, q = test[left].astype(np.float64), other[left].astype(np.float64)
    q[q.sum(axis=1) == 0] = everywhere
    gap = p / p.sum(axis=1, keepdims=True) - q / q.sum(axis=1, keepdims=True)
    emd = np.abs(np.cumsum(gap, axis=1)).sum(axis=1)
    return float(np.average(emd, weights=weight[left]))
