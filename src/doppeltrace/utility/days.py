"""What a day looks like: places, moves, the top place, ways back, events, gaps, and flows.

A day is all events of one user between two local midnights; steps are from each event to the
user's next one on the same day, however long after. Counted in one pass (`_kernels.count_days`):

- places, moves, events per day: histograms of whole numbers, one entry per user-day;
- top place: share of a day's events at its most frequent place (days with two events or more);
- gaps: instants between consecutive events of a day;
- entropy: −Σ f log₂ f over the fractions f of a person's events at each place, in bits
  (people with two events or more);
- back: of the moves after another move of the day, those to the place before it (A → B → A);
- closed: of the days with two events or more, those that end where they began;
- flows: moves between different areas, by the part of the day in which they arrive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import DAY_SECONDS, Traces
from doppeltrace.utility import _kernels as kernels
from doppeltrace.utility.areas import PARTS, areas, day_second, n_areas, parts_of_hours
from doppeltrace.utility.population import total_variation

Counts = NDArray[np.int64]

ENTROPY_CELLS = 20
"""Histogram cells per bit of entropy."""
SHARE_CELLS = 120
"""Histogram cells of a share from 0 to 1: divisible by most numbers of events in a day."""


@dataclass(frozen=True, eq=False)
class DayCounts:
    """See above; `days` is the number of user-days."""

    places: Counts
    moves: Counts
    events: Counts
    top: Counts
    gaps: Counts
    entropy: Counts
    back: Counts
    closed: Counts
    flows: Counts
    days: int


def count_days(traces: Traces) -> DayCounts:
    """Walk through the traces once."""
    most = int(np.diff(traces.offsets).max(initial=0))
    per_day = DAY_SECONDS // traces.clock.instant_seconds
    n = n_areas(len(traces.places))

    def zeros(*shape: int) -> Counts:
        return np.zeros(shape, dtype=np.int64)

    bits = int(np.log2(max(most, 1)) * ENTROPY_CELLS) + 2
    counted = (
        zeros(most + 1),
        zeros(most + 1),
        zeros(most + 1),
        zeros(SHARE_CELLS + 1),
        zeros(per_day + 1),
        zeros(bits),
        zeros(2),
        zeros(2),
        zeros(len(PARTS), n, n),
    )
    days = kernels.count_days(
        traces.offsets,
        traces.location,
        traces.instant,
        len(traces.places),
        day_second(traces.clock),
        traces.clock.instant_seconds,
        areas(traces.places),
        parts_of_hours(),
        ENTROPY_CELLS,
        SHARE_CELLS,
        *counted,
    )
    return DayCounts(*counted, days=int(days))


def share_difference(test: Counts, other: Counts) -> float:
    """Return the absolute difference of two shares (true of, all); NaN if one has no cases."""
    if test[1] == 0 or other[1] == 0:
        return float("nan")
    return float(abs(test[0] / test[1] - other[0] / other[1]))


def flow_tv(test: Counts, other: Counts) -> float:
    """Return the total variation of flows per part of the day, weighted by the testing flows.

    Flows are (parts, areas, areas), normalised within each part. A part of the day in which
    nobody moves in `other` has nothing in common: 1. NaN if nobody moves in `test`.
    """
    real, made = (flows.reshape(len(flows), -1).astype(np.float64) for flows in (test, other))
    weight, moves = real.sum(axis=1), made.sum(axis=1)
    if weight.sum() == 0:
        return float("nan")
    p, q = (x / np.maximum(x.sum(axis=1, keepdims=True), 1) for x in (real, made))
    tv = np.where(moves > 0, total_variation(p, q), 1.0)
    return float(np.average(tv, weights=weight))


def commuters_apart(test: Counts, test_days: int, other: Counts, other_days: int) -> float:
    """Return 1 − CPC, where CPC is the common part of commuters: 0 if equal, 1 if disjoint.

    CPC = 2 Σ min(F, F′) / (Σ F + Σ F′) over areas and parts of the day, where F are flows per
    person and day: unlike total variation it also sees how much people move. NaN if nobody
    moves in `test`.
    """
    if test.sum() == 0:
        return float("nan")
    real, made = test / max(test_days, 1), other / max(other_days, 1)
    return float(1.0 - 2.0 * np.minimum(real, made).sum() / (real.sum() + made.sum()))
