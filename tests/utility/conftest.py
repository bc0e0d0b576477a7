"""A world small enough to score by hand: four places, four hours in two slots, three users."""

import datetime

import numpy as np
import pytest

import doppeltrace as dt


@pytest.fixture
def places() -> dt.Places:
    # cells of one degree: columns 0, 1, 5, 0 and rows 0, 0, 0, 2
    return dt.Places(
        np.arange(4),
        np.array([0.5, 0.5, 0.5, 2.5]),
        np.array([0.5, 1.5, 5.5, 0.5]),
        dt.Bounds(0.0, 0.0, 20.0, 20.0),
    )


@pytest.fixture
def clock() -> dt.Clock:
    return dt.Clock(np.array([0, 0, 1, 1]), 3600, datetime.datetime(2024, 1, 1, 9))


@pytest.fixture
def made(places, clock):
    """Turn rows of places (−1: no event) into traces."""

    def make(*rows: list[int]) -> dt.Traces:
        n = np.arange(len(rows))
        return dt.SyntheticTraces(np.array(rows), n, 0 * n, places, clock).as_traces()

    return make


@pytest.fixture
def test_traces(made) -> dt.Traces:
    return made([0, 0, 1, 1], [0, 1, 1, 2], [3, 3, -1, 0])


@pytest.fixture
def other_traces(made) -> dt.Traces:
    return made([0, 0, 0, 0], [1, 1, 2, 2], [0, 1, 1, 1])
