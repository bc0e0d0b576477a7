"""Validation: what a reader kept and dropped, and why, with row numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io._frames import ROW
from doppeltrace.traces import Traces

ROWS_SHOWN = 5
PLACES_OF_ROWS = (
    "the list of places, which comes from the rows: give it (places=…), or a grid with bounds"
)
BOX_OF_ROWS = "the box of the grid, which comes from the rows: give it (bounds=…)"
MOST_VISITED = (
    "the most visited places: leave top_places out, or give the list of places (places=…)"
)
DAYS_OF_ROWS = "the days, which come from the rows: let slots repeat every day (daily=True)"
DUPLICATE = "exact duplicate"


@dataclass(frozen=True)
class Finding:
    """Rows with one same fate.

    Attributes
    ----------
    reason : what is the matter with them.
    count : how many there are.
    rows : the first few row numbers (see `Validation`).
    """

    reason: str
    count: int
    rows: tuple[int, ...]

    def __str__(self) -> str:
        """Return one line such as `3 × exact duplicate (rows 7, 9, 12)`."""
        if not self.rows:
            return f"{self.count:,} × {self.reason}"
        more = ", …" if self.count > len(self.rows) else ""
        shown = ", ".join(map(str, self.rows)) + more
        return f"{self.count:,} × {self.reason} (row{'s' * (self.count > 1)} {shown})"


@dataclass(frozen=True)
class Validation:
    """What came of the rows of an input.

    Row numbers are lines of a text file, its header being line 1, and rows counted from 1 in
    Parquet files and frames.

    Attributes
    ----------
    source : name of the file, or `frame`.
    rows_read, rows_kept : rows with data before and after; the difference is in `dropped`.
    dropped : rows left out, by reason.
    unsorted : rows that stood right after a later event of their user, exact duplicates apart;
        they were sorted in.
    users, places, events, transitions : size of the traces (training and testing together).
    first, last : local times (ISO) of the earliest and latest event's instant.
    warnings : what the reader had to assume.
    test_users : of the users, those kept out of the training.
    derived : what a release shows and the reader took from the rows, such as the list of places,
        with the remedy. A promise of differential privacy does not cover it.
    safeguards : what was done before the training so that nothing of one person leaves, a
        sentence each (see `safeguards.protect`).
    """

    source: str
    rows_read: int
    rows_kept: int
    dropped: tuple[Finding, ...]
    unsorted: int
    users: int
    places: int
    events: int
    transitions: int
    first: str
    last: str
    warnings: tuple[str, ...] = ()
    test_users: int = 0
    derived: tuple[str, ...] = ()
    safeguards: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the report as a few lines of text."""
        lines = [f"{self.source}: {self.rows_kept:,} of {self.rows_read:,} rows kept"]
        lines += [f"  dropped {finding}" for finding in self.dropped]
        if self.unsorted:
            lines.append(f"  sorted  {self.unsorted:,} rows that were out of time order")
        lines += [
            f"  {self.users:,} users, {self.places:,} places, {self.events:,} events, "
            f"{self.transitions:,} transitions",
            f"  local time {self.first} to {self.last}",
        ]
        if self.test_users:
            trained = self.users - self.test_users
            lines.append(f"  {trained:,} training users, {self.test_users:,} testing users")
        lines += [f"  {sentence}" for sentence in self.safeguards]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


@dataclass
class Tally:
    """The running account from which a reader makes its `Validation`."""

    source: str
    rows_read: int = 0
    rows_kept: int = 0
    dropped: list[Finding] = field(default_factory=list)
    unsorted: int = 0
    warnings: list[str] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)

    def drop(self, frame: pl.DataFrame, fault: pl.Expr, reason: str) -> pl.DataFrame:
        """Return the frame without the rows where `fault` holds, and count those."""
        faulty = frame.select(pl.col(ROW).filter(fault)).to_series()
        if len(faulty) == 0:
            return frame
        self.note(reason, len(faulty), faulty.sort().head(ROWS_SHOWN).to_list())
        return frame.filter(~fault)

    def note(self, reason: str, count: int, rows: Sequence[int] = ()) -> None:
        """Count rows that were dropped; those of one reason, counted in parts, add up."""
        for place, finding in enumerate(self.dropped):
            if finding.reason == reason:
                both = tuple(sorted((*finding.rows, *rows))[:ROWS_SHOWN])
                self.dropped[place] = Finding(reason, finding.count + count, both)
                return
        self.dropped.append(Finding(reason, count, tuple(rows[:ROWS_SHOWN])))

    def absorb(self, part: Tally) -> None:
        """Add the account of a part of the source."""
        self.rows_read += part.rows_read
        for finding in part.dropped:
            self.note(finding.reason, finding.count, finding.rows)

    def result(self, traces: Sequence[Traces]) -> Validation:
        """Close the account over the traces that were made: training, and perhaps testing."""
        instants = np.concatenate([t.instant for t in traces])
        clock = traces[0].clock
        first, last = clock.local_time([instants.min(), instants.max()])
        return Validation(
            source=self.source,
            rows_read=self.rows_read,
            rows_kept=self.rows_kept,
            dropped=tuple(self.dropped),
            unsorted=self.unsorted,
            users=sum(t.n_users for t in traces),
            places=len(traces[0].places),
            events=sum(t.n_events for t in traces),
            transitions=sum(len(t.transitions()[0]) for t in traces),
            first=str(first),
            last=str(last),
            warnings=tuple(self.warnings),
            test_users=sum(t.n_users for t in traces[1:]),
            derived=tuple(self.derived),
        )


def nothing_left(tally: Tally) -> InputError:
    """Return the error of a file of which no row can be used, naming the commonest reason."""
    if not tally.dropped:
        return InputError(f"{tally.source}: there are no rows: is this the right file?")
    worst = max(tally.dropped, key=lambda finding: finding.count)
    return InputError(
        f"{tally.source}: no row can be used: {worst}: check the file, its format (format=…) "
        "and the bounds (bounds=…, city=…)"
    )


def check_usable(traces: Traces, source: str) -> None:
    """Raise `InputError` if there is nothing to learn from these traces."""
    if traces.n_users < 2:
        raise InputError(
            f"{source}: only one user ({traces.users[0]}) has events: traces of at least two "
            "are needed; is the user column (columns={'user': …}) the right one?"
        )
    visited = np.unique(traces.location)
    if len(visited) < 2:
        raise InputError(
            f"{source}: all events are at one single location "
            f"({traces.places.labels[visited[0]]}): use smaller places, such as a finer grid "
            "(grid=…), or check the coordinates"
        )
    if len(traces.transitions()[0]) == 0:
        minutes = traces.clock.instant_seconds / 60
        raise InputError(
            f"{source}: no transitions: no user has events in two consecutive instants of "
            f"{minutes:g} minutes: use longer instants (instant_minutes=…)"
        )
