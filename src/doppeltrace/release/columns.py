"""The rows of a release: which columns there are, and in which order traces stand."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.traces import SyntheticTraces

COLUMNS = ("uid", "tid", "datetime", "lat", "lng", "location")
"""All that a released file holds."""

FORMATS = ("csv", "parquet")

TYPICAL = np.datetime64("2000-01-01T00:00:00", "s")
"""When the typical day begins, for which the traces of a clock that repeats stand."""


def by_content(locations: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the traces with at least one event, in lexicographic order of their locations."""
    locations = locations[(locations >= 0).any(axis=1)]
    return locations[np.lexsort(locations.T[::-1])] if len(locations) else locations


def released_frame(
    locations: NDArray[np.int32], synthetic: SyntheticTraces, first_number: int = 0
) -> pl.DataFrame:
    """Return the rows of these traces, numbered from `first_number`, with `COLUMNS`."""
    trace, step = np.nonzero(locations >= 0)
    place = locations[trace, step]
    places = synthetic.places
    return pl.DataFrame(
        {
            "uid": trace + first_number,
            "tid": np.zeros(len(trace), dtype=np.int64),
            "datetime": local_times(synthetic)[step],
            "lat": places.lat[place],
            "lng": places.lng[place],
            "location": pl.Series(places.labels).gather(place),
        }
    )


def local_times(synthetic: SyntheticTraces) -> NDArray[np.datetime64]:
    """Return (length,) the local time of every step of a trace.

    A clock that repeats stands for a typical day, or week: it is put at `TYPICAL`, since the
    day on which the input began is the input's.
    """
    clock = synthetic.clock
    times = clock.local_time(synthetic.instants)
    if clock.cycle is not None:
        period = np.timedelta64(clock.cycle * clock.instant_seconds, "s")
        times = times - (np.datetime64(clock.start, "s") - TYPICAL) // period * period
    return times.astype("datetime64[ms]")
