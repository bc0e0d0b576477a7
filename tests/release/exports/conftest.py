"""A small release with labels that every format must escape."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.release import release


@pytest.fixture
def synthetic(tiny) -> dt.SyntheticTraces:
    """Four traces, one of them with a single event; owners in an order that must not show."""
    labels = np.array(['Café "Ü"', "b,c", "007", "</script>", "x\\y"])
    places = dt.Places(labels, tiny.places.lat, tiny.places.lng)
    locations = [[4, 4, 1], [2, -1, -1], [0, 1, 3], [0, 1, 2]]
    return dt.SyntheticTraces(locations, [2, 0, 1, 1], [0, 0, 0, 1], places, tiny.clock)


@pytest.fixture(params=["csv", "parquet"])
def run_dir(request, synthetic, tmp_path):
    """The folder of its release."""
    everything = np.ones(len(synthetic), dtype=bool)
    return release(synthetic, everything, tmp_path / "run", format=request.param).folder
