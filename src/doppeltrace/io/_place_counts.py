"""The places of a file of check-ins: what a first pass found, and which of them are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.errors import require
from doppeltrace.io.columns import MAX_LABEL_LENGTH, as_labels, categories, label_array, trimmed
from doppeltrace.io.validation import MOST_VISITED, PLACES_OF_ROWS, Tally, nothing_left
from doppeltrace.traces import Bounds, Places

MERGED_ROWS = 1 << 20
"""Pairs of places and users that may wait before they are merged."""


@dataclass(frozen=True)
class PlaceCounts:
    """What the first pass found.

    Attributes
    ----------
    names : (n_places,) String series, as the file writes them.
    lat, lng : (n_places,) float64, degrees.
    visits : (n_places,) int64, rows at each place.
    users : (n_places,) int64, distinct users among them; or None if nobody asked.
    first_row : (n_places,) int64, the first of them.
    category : (n_places,) String series, or None.
    """

    names: pl.Series
    lat: NDArray[np.float64]
    lng: NDArray[np.float64]
    visits: NDArray[np.int64]
    first_row: NDArray[np.int64]
    category: pl.Series | None = None
    users: NDArray[np.int64] | None = None

    def select(self, index: NDArray[np.int64]) -> PlaceCounts:
        """Return the places with these indexes."""
        return PlaceCounts(
            self.names.gather(index),
            self.lat[index],
            self.lng[index],
            self.visits[index],
            self.first_row[index],
            None if self.category is None else self.category.gather(index),
            None if self.users is None else self.users[index],
        )


class DistinctUsers:
    """Counts the distinct users of places, block by block: 16 bytes for each pair of them."""

    def __init__(self) -> None:
        self.pairs = pl.DataFrame(schema={"place": pl.UInt64, "user": pl.Int64})
        self.waiting: list[pl.DataFrame] = []
        self.rows = 0

    def add(self, pairs: pl.DataFrame) -> None:
        """Add the distinct `place` (UInt64) and `user` (Int64) of a block."""
        self.waiting.append(pairs)
        self.rows += len(pairs)
        if self.rows > max(MERGED_ROWS, len(self.pairs)):
            self._merge()

    def count(self, places: pl.Series) -> NDArray[np.int64]:
        """Return how many distinct users each of these places (UInt64) has."""
        self._merge()
        users = self.pairs.group_by("place").len("users")
        found = pl.DataFrame({"place": places}).join(
            users, on="place", how="left", maintain_order="left"
        )
        return found["users"].fill_null(0).to_numpy().astype(np.int64)

    def _merge(self) -> None:
        self.pairs = pl.concat([self.pairs, *self.waiting]).unique()
        self.waiting, self.rows = [], 0


def users_of(frame: pl.DataFrame, place: pl.Expr) -> pl.DataFrame:
    """Return the distinct `place` and `user` of a block, without users that are not integers."""
    user = pl.col("user").cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    return frame.select(place=place.cast(pl.UInt64), user=user).drop_nulls().unique()


def choose_places(
    counts: PlaceCounts, top: int | None, box: Bounds | None, tally: Tally
) -> tuple[Places, pl.Series]:
    """Return the most visited places, in label order, and their names in the file.

    Places are ranked by their users where these were counted, else by rows; among equals the
    one whose label sorts first is preferred. The rows at other places are counted as dropped, as
    are those whose name no label can be.
    """
    require(top is None or top >= 1, f"top_places {top} must be at least 1")
    tally.derived.append(PLACES_OF_ROWS if top is None else MOST_VISITED)
    counts = _without_bad_names(counts, tally)
    labels = as_labels(counts.names.alias("label"), tally.source)
    order = labels.arg_sort().to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    most_first = np.lexsort((rank, -(counts.visits if counts.users is None else counts.users)))
    kept = most_first[:top]
    other = most_first[len(kept) :]
    if len(other):
        reason = f"not at one of the {len(kept):,} most visited places"
        rows = np.sort(counts.first_row[other]).tolist()
        tally.note(reason, int(counts.visits[other].sum()), rows)
    kept = kept[np.argsort(rank[kept])]
    category = None if counts.category is None else counts.category.gather(kept)
    places = Places(
        labels=label_array(labels.gather(kept)),
        lat=counts.lat[kept],
        lng=counts.lng[kept],
        bounds=box,  # type: ignore[arg-type]  # None: the box around the places
        category=None if category is None else categories(category, tally.source),
    )
    return places, counts.names.gather(kept)


def _without_bad_names(counts: PlaceCounts, tally: Tally) -> PlaceCounts:
    """Leave out names that are too long, blank, or another name with blanks around it."""
    bare = trimmed(counts.names.alias("name"))
    long = (counts.names.str.len_chars() > MAX_LABEL_LENGTH).to_numpy()
    blank = (bare.is_null() | (bare != counts.names)).fill_null(True).to_numpy() & ~long
    if not (long | blank).any():
        return counts
    for bad, reason in (
        (long, f"place's name is longer than {MAX_LABEL_LENGTH} characters"),
        (blank, "blanks around the place's name, or nothing else"),
    ):
        if bad.any():
            rows = np.sort(counts.first_row[bad]).tolist()
            tally.note(reason, int(counts.visits[bad].sum()), rows)
    good = np.flatnonzero(~(long | blank))
    if len(good) == 0:
        raise nothing_left(tally)
    return counts.select(good)
