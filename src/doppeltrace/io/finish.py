"""The last steps of every reader of events: clock, traces, split, and the account of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import polars as pl

from doppeltrace.discretize.when import regular_clock
from doppeltrace.errors import require
from doppeltrace.io._events import order_events, place_on_clock
from doppeltrace.io.columns import label_array
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.split import split_users
from doppeltrace.io.validation import DAYS_OF_ROWS, Tally, check_usable
from doppeltrace.traces import Clock, Places, Traces


class FinishingOptions(TypedDict, total=False):
    """The options of `Finishing`, as readers take them."""

    clock: Clock | None
    instant_minutes: int
    instants_per_slot: int
    first_hour: float
    last_hour: float
    daily: bool
    split: Any
    split_seed: int | None


@dataclass(frozen=True)
class Finishing:
    """How located events become traces: the options that all readers of events share.

    Attributes
    ----------
    clock : instants and slots; or else they are made from the next five (see `regular_clock`).
    instant_minutes, instants_per_slot : lengths of an instant and a slot.
    first_hour, last_hour : hours of the day that count; the rest is dropped and counted.
    daily : whether slots repeat every day; otherwise each day has its own.
    split : testing users: a fraction, or a table of user and part (see `split_users`).
    split_seed : seed of that fraction's draw, a secret; by default fresh.
    """

    clock: Clock | None = None
    instant_minutes: int = 60
    instants_per_slot: int = 1
    first_hour: float = 0.0
    last_hour: float = 24.0
    daily: bool = True
    split: Any = None
    split_seed: int | None = None

    def __post_init__(self) -> None:
        """Reject settings that are wrong before a long file is read."""
        if self.clock is None:
            Clock.regular(
                instant_minutes=self.instant_minutes,
                instants_per_slot=self.instants_per_slot,
                first_hour=self.first_hour,
                last_hour=self.last_hour,
            )
        if isinstance(self.split, int | float):
            require(0 < self.split < 1, f"split {self.split} must be a fraction between 0 and 1")
        seed = self.split_seed
        require(seed is None or seed >= 0, f"split_seed {seed} must be 0 or more")

    def make_clock(self, user: pl.Series, local: pl.Series) -> Clock:
        """Return the clock for events of these users at these local times."""
        if self.clock is not None:
            return self.clock
        return regular_clock(
            user,
            local,
            instant_minutes=self.instant_minutes,
            instants_per_slot=self.instants_per_slot,
            first_hour=self.first_hour,
            last_hour=self.last_hour,
            daily=self.daily,
        )

    def instants(self, local: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Return each local time's instant, counted from any midnight, and how much of it is left.

        For merging the events of an instant before the clock is known.
        """
        seconds = self.clock.instant_seconds if self.clock else 60 * self.instant_minutes
        phase = self.first_hour * 3600
        if self.clock is not None:
            start = self.clock.start
            phase = (start - start.replace(hour=0, minute=0, second=0)).total_seconds()
        length, since = seconds * 1_000_000, local.cast(pl.Int64) - round(phase * 1e6)
        instant = since // length
        return instant, ((instant + 1) * length - since).cast(pl.Duration("us"))

    def dataset(self, frame: pl.DataFrame, places: Places, tally: Tally) -> Dataset:
        """Return the data of events with `ROW`, `user`, `place` (its number), `moment`, `local`.

        Exact duplicates are dropped; events of a user are put in the order of their moments.
        """
        events = order_events(frame.rename({"place": "location"}), ["location"], tally)
        events = events.rename({"location": "place"})
        clock = self.make_clock(events["user"], events["local"])
        self.note_derived(tally)
        events = place_on_clock(events, clock, tally)
        return dataset_of(events, places, clock, tally, self.split, self.split_seed)

    def note_derived(self, tally: Tally) -> None:
        """Note if the clock is taken from the rows."""
        if self.clock is None and not self.daily:
            tally.derived.append(DAYS_OF_ROWS)


def dataset_of(
    frame: pl.DataFrame,
    places: Places,
    clock: Clock,
    tally: Tally,
    split: Any,
    seed: int | None,
) -> Dataset:
    """Return the data of events with `user`, `place` and `instant`, ordered by user."""
    tally.rows_kept = len(frame)
    traces = Traces.from_events(
        frame["user"].rle_id().to_numpy().astype(np.int64),
        frame["place"].to_numpy(),
        frame["instant"].to_numpy(),
        places=places,
        clock=clock,
        users=label_array(frame["user"].rle().struct.field("value")),
    )
    check_usable(traces, tally.source)
    if split is None:
        return Dataset(traces, None, tally.result([traces]))
    train, test = split_users(traces, split, seed=seed)
    lost = traces.n_users - train.n_users - test.n_users
    if lost:
        tally.warnings.append(f"{lost:,} users are in neither part of the split and are left out")
    check_usable(train, tally.source)
    return Dataset(train, test, tally.result([train, test]))
