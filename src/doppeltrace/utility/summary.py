"""The counts behind all utility figures: they add up over users, so traces can stream past."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.streams import generator
from doppeltrace.traces import Clock, Places, SyntheticTraces, Traces
from doppeltrace.utility import mobility, move_rates, population, transitions, visit_fractions
from doppeltrace.utility.areas import PARTS
from doppeltrace.utility.days import DayCounts, count_days
from doppeltrace.utility.groups import Grouping

CHUNK = 20_000
"""Traces counted at a time: what bounds the memory."""

UNIFORM_SAMPLE = 2_000
"""Uniform traces drawn for what has no closed form."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts of a set of traces; the sum of two summaries is that of both sets together.

    Attributes
    ----------
    slots : (n_slots, n_places) events.
    columns, rows : (n_places, 20) transitions into each grid column and row.
    fractions : (n_places, 24) users per bin of their visit-fraction.
    mobility : the histogram behind each score that compares distributions of one number.
    shares : name → (2,) cases that something is true of, and all cases.
    moves : (n_slots, 2) events elsewhere than one instant before, and all that follow one.
    flows : (parts of the day, areas, areas) moves between areas.
    days : user-days with an event.
    group_sizes, group_events : (groups,) traces and (groups, parts, n_places) their events;
        without groups if no grouping was given.
    places, clock : what the counts are about.
    """

    slots: Counts
    columns: Counts
    rows: Counts
    fractions: Counts
    mobility: Mapping[str, Counts]
    shares: Mapping[str, Counts]
    moves: Counts
    flows: Counts
    days: int
    group_sizes: Counts
    group_events: Counts
    places: Places
    clock: Clock

    @classmethod
    def of(cls, traces: Traces | SyntheticTraces, grouping: Grouping | None = None) -> Summary:
        """Count traces, `CHUNK` of them at a time."""
        parts = in_chunks(traces)
        total = cls._of_chunk(next(parts), grouping)
        for part in parts:
            total = total + cls._of_chunk(part, grouping)
        return total

    @classmethod
    def _of_chunk(cls, traces: Traces, grouping: Grouping | None) -> Summary:
        columns, rows, moves = transitions.step_counts(traces)
        return cls(
            slots=population.slot_counts(traces),
            columns=columns,
            rows=rows,
            fractions=visit_fractions.fraction_counts(traces),
            moves=moves,
            places=traces.places,
            clock=traces.clock,
            **_in_one_pass(traces, grouping),
        )

    @classmethod
    def uniform(
        cls, places: Places, clock: Clock, seed: int = 0, grouping: Grouping | None = None
    ) -> Summary:
        """Return *Uniform*: every place equally likely at every instant.

        Exact (equal counts) for the paper's metrics, Jensen–Shannon and when people move; the
        rest comes from `UNIFORM_SAMPLE` seeded traces.
        """
        draws = generator(seed, "uniform baseline").integers(
            len(places), size=(UNIFORM_SAMPLE, clock.n_instants), dtype=np.int32
        )
        nobody = np.zeros(UNIFORM_SAMPLE, dtype=np.int64)
        sample = SyntheticTraces(draws, nobody, nobody, places, clock).as_traces()
        columns, rows = transitions.uniform_band_counts(places)
        return cls(
            slots=np.ones((clock.n_slots, len(places)), dtype=np.int64),
            columns=columns,
            rows=rows,
            fractions=visit_fractions.uniform_fraction_counts(places),
            moves=move_rates.uniform_move_counts(clock.n_slots, len(places)),
            places=places,
            clock=clock,
            **_in_one_pass(sample, grouping),
        )

    def __add__(self, other: Summary) -> Summary:
        return self._combine(other, mobility.add, np.add)

    def __sub__(self, other: Summary) -> Summary:
        """Return what is left without `other`, which must be part of it."""
        return self._combine(other, lambda a, b: mobility.add(a, -b), np.subtract)

    def _combine(
        self,
        other: Summary,
        histogram: Callable[[Counts, Counts], Counts],
        array: Callable[[Counts, Counts], Counts],
    ) -> Summary:
        return Summary(
            slots=array(self.slots, other.slots),
            columns=array(self.columns, other.columns),
            rows=array(self.rows, other.rows),
            fractions=array(self.fractions, other.fractions),
            mobility={k: histogram(h, other.mobility[k]) for k, h in self.mobility.items()},
            shares={k: array(s, other.shares[k]) for k, s in self.shares.items()},
            moves=array(self.moves, other.moves),
            flows=array(self.flows, other.flows),
            days=int(array(np.array(self.days), np.array(other.days))),
            group_sizes=array(self.group_sizes, other.group_sizes),
            group_events=array(self.group_events, other.group_events),
            places=self.places,
            clock=self.clock,
        )


def _in_one_pass(traces: Traces, grouping: Grouping | None) -> dict:
    """Return the fields of a summary that are counted by walking through each user's days."""
    day: DayCounts = count_days(traces)
    sizes, events = (
        (np.zeros(0, np.int64), np.zeros((0, len(PARTS), len(traces.places)), np.int64))
        if grouping is None
        else grouping.count(traces)
    )
    return {
        "mobility": {
            **{name: count(traces) for name, count in mobility.MOBILITY.items()},
            "places_per_day_emd": day.places,
            "moves_per_day_emd": day.moves,
            "top_place_emd": day.top,
            "events_per_day_emd": day.events,
            "gap_emd": day.gaps,
            "entropy_emd": day.entropy,
        },
        "shares": {"straight_back": day.back, "closed_day": day.closed},
        "flows": day.flows,
        "days": day.days,
        "group_sizes": sizes,
        "group_events": events,
    }


def in_chunks(traces: Traces | SyntheticTraces) -> Iterator[Traces]:
    """Yield the traces, `CHUNK` of them at a time; at least one part, if an empty one."""
    n = len(traces) if isinstance(traces, SyntheticTraces) else traces.n_users
    for start in range(0, max(n, 1), CHUNK):
        part = traces.select(np.arange(start, min(n, start + CHUNK)))
        yield part.as_traces() if isinstance(part, SyntheticTraces) else part
