"""The exact-copy check: the longest stretch a synthetic trace shares with one person's trace.

A shared run is a stretch of events at consecutive instants, at the same places *and at the
same time of day* (for a clock that does not repeat: at the same instants) in a synthetic and
in a training trace. Time-aligned, because "home at 9:00, station at 9:20" points to a person
while home-then-station alone fits half a city. Staying put all day makes long runs that many
people share, so the figure means something only beside the same figure for testing traces,
whose owners were never used for training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.attacks._kernels import longest_shared_runs
from doppeltrace.attacks.knowledge import random_subset
from doppeltrace.attacks.reidentification import BUDGET
from doppeltrace.streams import generator
from doppeltrace.traces import SyntheticTraces, Traces


@dataclass(frozen=True)
class Copies:
    """Longest shared runs, in events, of one set of traces against the training traces.

    Attributes
    ----------
    longest : the longest run of any trace.
    mean, quantile95 : over traces, of each trace's longest run.
    whole : share of the traces with at least two events that one training trace holds entire.
    n_checked, n_traces : traces checked, a seeded random subset if fewer than all.
    """

    longest: int
    mean: float
    quantile95: float
    whole: float
    n_checked: int
    n_traces: int


def shared_runs(train: Traces, queries: Traces) -> NDArray[np.int64]:
    """Return (n_queries,) each trace's longest run of events shared with a training trace."""
    cells, event, start = _cells(train)
    return longest_shared_runs(
        queries.offsets,
        _follows(queries),
        _find(cells, _cell(queries)),
        start,
        event,
        _follows(train),
    )


def copy_check(
    train: Traces,
    queries: Traces | SyntheticTraces,
    *,
    seed: int = 0,
    budget: int = BUDGET,
) -> Copies:
    """Check traces against the training traces; a random subset if it costs too much."""
    n_traces = len(queries) if isinstance(queries, SyntheticTraces) else queries.n_users
    traces = queries.as_traces() if isinstance(queries, SyntheticTraces) else queries
    cells, _, start = _cells(train)
    found = _find(cells, _cell(traces))
    work = int(np.diff(start)[found[found >= 0]].sum())
    subset = random_subset(n_traces, work, budget, generator(seed, "copy check subset"))
    if subset is not None:
        traces = traces.select(subset)
    runs = shared_runs(train, traces)
    length = np.diff(traces.offsets)
    several = length >= 2
    return Copies(
        longest=int(runs.max()),
        mean=float(runs.mean()),
        quantile95=float(np.quantile(runs, 0.95)),
        whole=float((runs == length)[several].mean()) if several.any() else 0.0,
        n_checked=traces.n_users,
        n_traces=n_traces,
    )


def _cell(traces: Traces) -> NDArray[np.int64]:
    """Return (n_events,) the number of each event's (position, place) cell."""
    return traces.clock.position(traces.instant) * len(traces.places) + traces.location


def _cells(train: Traces) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the occupied cells, the events sorted by cell, and each cell's slice of them."""
    cell = _cell(train)
    event = np.argsort(cell, kind="stable")
    occupied, first = np.unique(cell[event], return_index=True)
    return occupied, event, np.append(first, len(event)).astype(np.int64)


def _find(cells: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    position = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return np.where(cells[position] == wanted, position, -1)


def _follows(traces: Traces) -> NDArray[np.bool_]:
    """Return (n_events,) True where an event is one instant after the user's one before."""
    follows = np.zeros(traces.n_events, dtype=np.bool_)
    follows[1:] = (np.diff(traces.instant) == 1) & (np.diff(traces.user) == 0)
    return follows
