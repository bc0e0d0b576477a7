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

from doppeltrace.traces import SyntheticTraces, Traces


@dataclass(frozen=True)
class Copies:
    """Longest shared runs, in events, of one set of traces against the training traces.

    Attributes
    ----------
    longest : the longest run of any trace.
    mean, quantile95 : over traces, of each trace's longest run.
    whole : share of the traces without a gap that one training trace holds entire; None, not
        measurable, if all have gaps: no run can go from their beginning to their end then.
    """

    longest: int
    mean: float
    quantile95: float
    whole: float | None


def copy_check(
    train: Traces, queries: Traces | SyntheticTraces, *, least_events: int = 2
) -> Copies:
    """Check traces against the training traces.

    least_events : shorter traces do not count for `whole`: the shorter, the sooner a copy.
    """
    traces = queries.as_traces() if isinstance(queries, SyntheticTraces) else queries
    runs = shared_runs(train, traces)
    length = np.diff(traces.offsets)
    links = np.bincount(traces.user, _follows(traces), minlength=traces.n_users)
    counts = (links == length - 1) & (length >= least_events)
    return Copies(
        longest=int(runs.max()),
        mean=float(runs.mean()),
        quantile95=float(np.quantile(runs, 0.95)),
        whole=float((runs == length)[counts].mean()) if counts.any() else None,
    )


def shared_runs(train: Traces, queries: Traces) -> NDArray[np.int64]:
    """Return (n_queries,) each trace's longest run of events shared with a training trace.

    Windows of 1, 2, 3 … events are numbered so that equal windows have equal numbers: the
    number of a window comes from that of its first events and the place and time of its
    last. At every length only windows that occur on both sides go on, so the work falls
    quickly, and no pair of traces is ever compared.
    """
    cell, (known, wanted) = _number(_cell(train), _cell(queries))
    n_cells = len(cell)
    known_follows, wanted_follows = _follows(train), _follows(queries)
    owner = queries.user
    longest = np.zeros(queries.n_users, dtype=np.int64)
    known_at = np.arange(train.n_events)
    wanted_at = np.flatnonzero(wanted >= 0)
    known_id, wanted_id = known, wanted[wanted_at]
    length = 0
    while len(wanted_at):
        length += 1
        longest[owner[wanted_at]] = length
        on = _goes_on(known_at + length, known_follows)
        known_at, known_key = known_at[on], known_id[on] * n_cells + known[known_at[on] + length]
        on = _goes_on(wanted_at + length, wanted_follows)
        on[on] = wanted[wanted_at[on] + length] >= 0
        wanted_at = wanted_at[on]
        wanted_key = wanted_id[on] * n_cells + wanted[wanted_at + length]
        window, (known_id, wanted_id) = _number(known_key, wanted_key)
        shared = wanted_id >= 0
        wanted_at, wanted_id = wanted_at[shared], wanted_id[shared]
        used = np.zeros(len(window), dtype=np.bool_)
        used[wanted_id] = True
        known_at, known_id = known_at[used[known_id]], known_id[used[known_id]]
    return longest


def _number(
    known: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the distinct known keys, and both columns as numbers into them (−1: unknown)."""
    distinct, known_number = np.unique(known, return_inverse=True)
    if len(distinct) == 0:
        return distinct, (known_number, np.full(len(wanted), -1, dtype=np.int64))
    position = np.minimum(np.searchsorted(distinct, wanted), len(distinct) - 1)
    return distinct, (known_number, np.where(distinct[position] == wanted, position, -1))


def _goes_on(event: NDArray[np.int64], follows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell where the window's next event exists and is one instant after its last."""
    return np.append(follows, False)[np.minimum(event, len(follows))]


def _cell(traces: Traces) -> NDArray[np.int64]:
    """Return (n_events,) the number of each event's position and place."""
    return traces.clock.position(traces.instant) * len(traces.places) + traces.location


def _follows(traces: Traces) -> NDArray[np.bool_]:
    """Return (n_events,) True where an event is one instant after the user's one before."""
    follows = np.zeros(traces.n_events, dtype=np.bool_)
    follows[1:] = (np.diff(traces.instant) == 1) & (np.diff(traces.user) == 0)
    return follows
