"""The counts behind all utility figures: they add up over users, so traces can stream past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.streams import generator
from doppeltrace.traces import Clock, Places, SyntheticTraces, Traces
from doppeltrace.utility import mobility, population, transitions, visit_fractions

CHUNK = 20_000
"""Traces counted at a time: what bounds the memory."""

UNIFORM_SAMPLE = 2_000
"""Uniform traces drawn for the mobility histograms, which have no closed form."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts of a set of traces; the sum of two summaries is that of both sets together.

    Attributes
    ----------
    slots : (n_slots, n_places) events.
    columns, rows : (n_places, 20) transitions into each grid column and row.
    fractions : (n_places, 24) users per bin of their visit-fraction.
    mobility : the histogram behind each score of `utility.mobility`.
    places, clock : what the counts are about.
    """

    slots: NDArray[np.int64]
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    fractions: NDArray[np.int64]
    mobility: Mapping[str, NDArray[np.int64]]
    places: Places
    clock: Clock

    @classmethod
    def of(cls, traces: Traces | SyntheticTraces) -> Summary:
        """Count traces, `CHUNK` of them at a time."""
        parts = in_chunks(traces)
        total = cls._of_chunk(next(parts))
        for part in parts:
            total = total + cls._of_chunk(part)
        return total

    @classmethod
    def _of_chunk(cls, traces: Traces) -> Summary:
        columns, rows = transitions.band_counts(traces)
        return cls(
            slots=population.slot_counts(traces),
            columns=columns,
            rows=rows,
            fractions=visit_fractions.fraction_counts(traces),
            mobility={name: count(traces) for name, count in mobility.MOBILITY.items()},
            places=traces.places,
            clock=traces.clock,
        )

    @classmethod
    def uniform(cls, places: Places, clock: Clock, seed: int = 0) -> Summary:
        """Return *Uniform*: every place equally likely at every instant.

        Exact (equal counts) for the paper's metrics and Jensen–Shannon; the mobility
        histograms come from `UNIFORM_SAMPLE` seeded traces.
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
            mobility={name: count(sample) for name, count in mobility.MOBILITY.items()},
            places=places,
            clock=clock,
        )

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.slots + other.slots,
            self.columns + other.columns,
            self.rows + other.rows,
            self.fractions + other.fractions,
            {k: mobility.add(h, other.mobility[k]) for k, h in self.mobility.items()},
            self.places,
            self.clock,
        )


def in_chunks(traces: Traces | SyntheticTraces) -> Iterator[Traces]:
    """Yield the traces, `CHUNK` of them at a time; at least one part, if an empty one."""
    n = len(traces) if isinstance(traces, SyntheticTraces) else traces.n_users
    for start in range(0, max(n, 1), CHUNK):
        part = traces.select(np.arange(start, min(n, start + CHUNK)))
        yield part.as_traces() if isinstance(part, SyntheticTraces) else part


def compare(test: Summary, other: Summary, train: Summary) -> dict[str, float]:
    """Return every utility score of `other` against the testing traces (0 is best).

    `train` decides only which places take part in VF-TV. A score that is not defined for
    these data (no trips, no visit-fractions) is NaN.
    """
    column, row = test.places.grid_cells(transitions.CELLS)
    scores = {
        "tp_tv": population.tp_tv(test.slots, other.slots),
        "tp_tv_top50": population.tp_tv_top(test.slots, other.slots),
        "tm_emd_x": transitions.tm_emd(test.columns, other.columns, column),
        "tm_emd_y": transitions.tm_emd(test.rows, other.rows, row),
        "vf_tv": visit_fractions.vf_tv(test.fractions, other.fractions, train.fractions),
        "tp_js": float(population.jensen_shannon_per_slot(test.slots, other.slots).mean()),
    }
    for name, unit in mobility.units(test.clock.instant_seconds).items():
        scores[name] = mobility.histogram_emd(test.mobility[name], other.mobility[name], unit)
    return scores


def score_traces(test: Traces, other: Traces, train: Traces | None = None) -> dict[str, float]:
    """Return every utility score of one set of traces against the testing traces.

    `train` decides only which places take part in VF-TV; by default all that `other` has.
    """
    summary = Summary.of(other)
    return compare(Summary.of(test), summary, summary if train is None else Summary.of(train))
