"""The events that a pass over a file keeps, without the copies that a long file may hold."""

from __future__ import annotations

import numpy as np
import polars as pl

from doppeltrace.io.validation import DUPLICATE, Tally

EVENT = ("user", "place", "moment", "local")
FIRST_LOOK = 1 << 20
"""Events from which on copies are looked for."""

SAMPLED = 16
"""Copies are looked for among one user in so many, because looking takes time."""


class DedupBuffer:
    """Events with `ROW` and the columns `EVENT`, added block by block in the order of the file.

    However often a file repeats itself, memory stays below three times that of its events (or
    that of `FIRST_LOOK`): if a sample of users says that at least a quarter of the events are
    exact duplicates, they are dropped and counted. Fewer are left to `order_events`.
    """

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.frames: list[pl.DataFrame] = []
        self.rows = 0
        self.limit = FIRST_LOOK

    def add(self, frame: pl.DataFrame) -> None:
        """Add the events of a block."""
        self.frames.append(frame)
        self.rows += len(frame)
        if self.rows >= self.limit:
            self._thin_out()

    def whole(self) -> pl.DataFrame:
        """Return all events in one frame; there must be at least one."""
        return pl.concat(self.frames)

    def _thin_out(self) -> None:
        events = self.whole()
        group = events["user"].hash() % SAMPLED
        sample = events.filter(group == 0).select(EVENT)
        if sample.n_unique() > 0.75 * len(sample):
            self.limit = 2 * self.rows
            return
        again = np.zeros(len(events), dtype=bool)
        for number in range(SAMPLED):  # one by one: the comparison takes memory
            chosen = (group == number).arg_true()
            found = events.select(pl.col(EVENT).gather(chosen))
            first = found.select(pl.struct(EVENT).is_first_distinct()).to_series()
            again[chosen.to_numpy()] = ~first.to_numpy()
        self.frames = [self.tally.drop(events, pl.lit(pl.Series(again)), DUPLICATE)]
        self.rows = len(self.frames[0])
        self.limit = max(FIRST_LOOK, 2 * self.rows)
