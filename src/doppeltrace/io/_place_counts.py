"""The places of a file of check-ins: what a first pass found, and which of them are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.errors import require
from doppeltrace.io.columns import LONGEST_LABEL, as_labels, categories, label_array, trimmed
from doppeltrace.io.validation import Tally, nothing_left
from doppeltrace.traces import Bounds, Places


@dataclass(frozen=True)
class PlaceCounts:
    """What the first pass found.

    Attributes
    ----------
    names : (n_places,) String series, as the file writes them.
    lat, lng : (n_places,) float64, degrees.
    visits : (n_places,) int64, rows at each place.
    first_row : (n_places,) int64, the first of them.
    category : (n_places,) String series, or None.
    """

    names: pl.Series
    lat: NDArray[np.float64]
    lng: NDArray[np.float64]
    visits: NDArray[np.int64]
    first_row: NDArray[np.int64]
    category: pl.Series | None = None


def choose_places(
    census: PlaceCounts, top: int | None, box: Bounds | None, tally: Tally
) -> tuple[Places, pl.Series]:
    """Return the most visited places, in label order, and their names in the file.

    Of places with equally many rows the one whose label sorts first is preferred. The rows at
    other places are counted as dropped, as are those whose name no label can be.
    """
    require(top is None or top >= 1, f"top_places {top} must be at least 1")
    census = _without_bad_names(census, tally)
    labels = as_labels(census.names.alias("label"), tally.source)
    order = labels.arg_sort().to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    by_visits = np.lexsort((rank, -census.visits))
    kept = by_visits[:top]
    other = by_visits[len(kept) :]
    if len(other):
        reason = f"not at one of the {len(kept):,} most visited places"
        rows = np.sort(census.first_row[other]).tolist()
        tally.note(reason, int(census.visits[other].sum()), rows)
    kept = kept[np.argsort(rank[kept])]
    category = None if census.category is None else census.category.gather(kept)
    places = Places(
        labels=label_array(labels.gather(kept)),
        lat=census.lat[kept],
        lng=census.lng[kept],
        bounds=box,  # type: ignore[arg-type]  # None: the box around the places
        category=None if category is None else categories(category, tally.source),
    )
    return places, census.names.gather(kept)


def _without_bad_names(census: PlaceCounts, tally: Tally) -> PlaceCounts:
    """Leave out names that are too long, blank, or another name with blanks around it."""
    bare = trimmed(census.names.alias("name"))
    long = (census.names.str.len_chars() > LONGEST_LABEL).to_numpy()
    blank = (bare.is_null() | (bare != census.names)).fill_null(True).to_numpy() & ~long
    if not (long | blank).any():
        return census
    for bad, reason in (
        (long, f"place's name is longer than {LONGEST_LABEL} characters"),
        (blank, "blanks around the place's name, or nothing else"),
    ):
        if bad.any():
            rows = np.sort(census.first_row[bad]).tolist()
            tally.note(reason, int(census.visits[bad].sum()), rows)
    good = np.flatnonzero(~(long | blank))
    if len(good) == 0:
        raise nothing_left(tally)
    return PlaceCounts(
        census.names.gather(good),
        census.lat[good],
        census.lng[good],
        census.visits[good],
        census.first_row[good],
        None if census.category is None else census.category.gather(good),
    )
