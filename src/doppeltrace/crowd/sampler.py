"""Exact draws from a fitted chain, and which instants of a day have an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd import _chain_kernels as kernels
from doppeltrace.crowd._day_kernels import N_DWELLS, OFFSETS
from doppeltrace.crowd.chain import Chain
from doppeltrace.engine.local import run_blocks

Wide = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Presence:
    """When a day has events.

    Attributes
    ----------
    events : (T,) weights of 1 … T events on a day.
    instants : (T,) how often each instant has one, relative to the others.
    """

    events: Wide
    instants: Wide


@dataclass(frozen=True, eq=False)
class DayFactors:
    """Log weights that tell likely days from unlikely ones; see `days.fit_days`.

    Attributes
    ----------
    cells : (144,) of the cells of the histograms of days.
    dwells : (9,) of each stay, by bin of its length.
    """

    cells: Wide
    dwells: Wide

    @classmethod
    def none(cls) -> DayFactors:
        """Return factors that make no difference."""
        return cls(np.zeros(OFFSETS[-1]), np.zeros(N_DWELLS))


class Draws(NamedTuple):
    """Whose traces are drawn.

    kinds : (R, K) cumulative weights of the kinds of people.
    row : (n,) which row of them each trace follows; number : (n,) of its random stream.
    """

    kinds: Wide
    row: NDArray[np.int64]
    number: NDArray[np.int64]


class Sampler:
    """A chain with its backward messages, ready to draw from."""

    def __init__(self, chain: Chain) -> None:
        graph = chain.graph
        beta, _, scale = chain.backward(keep_steps=False)
        self.log_scale = np.zeros((chain.n_instants, chain.n_kinds))
        np.cumsum(np.log(scale, dtype=np.float64), axis=0, out=self.log_scale[1:])
        n, motions, n_places, n_kinds = beta.shape
        ahead = np.empty((n, n_kinds, motions, n_places), dtype=np.float32)
        total = np.empty((n - 1, n_kinds, motions, n_places), dtype=np.float32)
        for t in range(n):
            ahead[t] = np.moveaxis(beta[t] * chain.at(t), 2, 0)
            if t < n - 1:
                total[t] = np.moveaxis(beta[t] / scale[t], 2, 0)
        del beta
        first = ahead[0] * np.moveaxis(chain.begin, 1, 0)[:, :, None]
        begin = np.cumsum(first.reshape(n_kinds, -1), axis=1, dtype=np.float64)
        by_group = np.empty((n, n_kinds, motions - 1, graph.n_groups), dtype=np.float32)
        for t in range(n):
            inward = ahead[t, :, 1:, graph.members] * chain.into[graph.members][:, None, None]
            sums = np.add.reduceat(inward, graph.member_start[:-1], axis=0)
            by_group[t] = np.moveaxis(sums, 0, 2)
        likely = np.lexsort((-chain.near, graph.origin))  # likely moves first
        self.kinds = np.cumsum(chain.weight, dtype=np.float64)
        self.n_instants, self.n_places = n, n_places
        self.tables: tuple[Any, ...] = (
            begin,
            chain.hold,
            np.ascontiguousarray(chain.alpha[:, :, :, chain.mobility]),
            chain.turn,
            graph.start,
            graph.place[likely],
            graph.sector[likely].astype(np.int64),
            chain.near[likely],
            graph.group,
            chain.out,
            chain.into,
            chain.between,
            graph.group_sector.astype(np.int64),
            graph.members,
            graph.member_start,
            ahead,
            by_group,
            total,
        )

    def draw(
        self,
        n_traces: int,
        n_days: int,
        presence: Presence,
        factors: DayFactors,
        points: Wide,
        scale: float,
        *,
        candidates: int,
        gaps: bool,
        key: NDArray[np.uint64],
        offset: int = 0,
        persons: Draws | None = None,
    ) -> NDArray[np.int32]:
        """Return (n_traces, n_days · T) places, −1 where an instant has no event.

        Trace i has the random stream of offset + i, whatever else is drawn. `persons` has other
        weights of the kinds, and streams, for each trace.
        """
        if persons is None:
            number = offset + np.arange(n_traces)
            persons = Draws(self.kinds[None], np.zeros(n_traces, np.int64), number)
        out = np.empty((n_traces, n_days * self.n_instants), dtype=np.int32)
        days = (points, scale, factors.cells, factors.dwells)
        inputs = (
            self.tables,
            *persons,
            np.cumsum(presence.events),
            presence.instants,
            days,
            candidates,
            n_days,
            gaps,
            key,
        )
        run_blocks(lambda a, b: kernels.draw_traces(*inputs, out, a, b), n_traces)
        return out

    def pool(
        self,
        n_groups: int,
        presence: Presence,
        points: Wide,
        scale: float,
        *,
        candidates: int,
        key: NDArray[np.uint64],
    ) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.float32]]:
        """Return groups of candidates (n, C, T), their cells (n, C, 7) and stays (n, C, 9)."""
        shape = n_groups, candidates
        out = np.empty((*shape, self.n_instants), dtype=np.int32)
        cells = np.empty((*shape, len(OFFSETS) - 1), dtype=np.int16)
        dwells = np.empty((*shape, N_DWELLS), dtype=np.float32)
        inputs = (
            self.tables,
            self.kinds,
            np.cumsum(presence.events),
            presence.instants,
            points,
            scale,
            candidates,
            key,
        )
        run_blocks(lambda a, b: kernels.draw_pool(*inputs, out, cells, dwells, a, b), n_groups)
        return out, cells, dwells
