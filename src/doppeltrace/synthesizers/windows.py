"""A user's own events as traces: which stretch of time stands for a user with many days."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Traces


def fullest_windows(
    traces: Traces, users: NDArray[np.int64], instants: NDArray[np.int64], count: int = 1
) -> NDArray[np.int32]:
    """Return (len(users), count, len(instants)) locations of each user's fullest windows.

    A window is what the instants of a synthetic trace cover, moved by whole cycles of the
    clock: a day and the ones after it, if the clock is daily; a clock without a cycle has one
    window only. A user's windows are ordered by their number of events, the earlier first
    among equals, and taken in turn, from the beginning again when there are fewer than
    `count`. Of several events in one instant the first counts; −1 where there is none.
    """
    chosen = traces.select(users)
    clock, length = traces.clock, len(instants)
    position = clock.position(chosen.instant)
    cycle = (chosen.instant - position) // clock.cycle if clock.cycle else np.zeros_like(position)
    owner, first_cycle, column, location = [], [], [], []
    for turn in range(-(-length // clock.n_instants)):
        at = turn * clock.n_instants + position
        inside = at < length
        owner.append(chosen.user[inside])
        first_cycle.append(cycle[inside] - turn)
        column.append(at[inside])
        location.append(chosen.location[inside])
    row, begin = np.concatenate(owner), np.concatenate(first_cycle)
    begin -= begin.min(initial=0)
    n_begins = int(begin.max(initial=0)) + 1
    # np.unique keeps the first of equal events, as the data order them
    event, kept = np.unique(
        (row * n_begins + begin) * length + np.concatenate(column), return_index=True
    )
    window, at = np.divmod(event, length)
    windows, of_event, size = np.unique(window, return_inverse=True, return_counts=True)
    user = windows // n_begins
    order = np.lexsort((windows, -size, user))
    number = np.bincount(user, minlength=len(users)).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(number)])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - start[user[order]]

    out = np.full((len(users), count, length), -1, np.int32)
    turn_of_event = rank[of_event]
    wanted = turn_of_event < count
    locations = np.concatenate(location)[kept]
    out[user[of_event[wanted]], turn_of_event[wanted], at[wanted]] = locations[wanted]
    for later in range(1, count):
        again = (number > 0) & (number <= later)
        out[again, later] = out[again, later % number[again]]
    return out
