"""Users who each have places of their own, so that an attacker has something to find."""

import datetime

import numpy as np
import pytest

import doppeltrace as dt

N_PLACES, HOURS = 60, 24


@pytest.fixture(scope="session")
def city():
    """Return a maker of synthetic traces from rows of places."""
    places = dt.Places(
        np.arange(N_PLACES),
        np.linspace(35.6, 35.8, N_PLACES),
        np.linspace(139.6, 139.9, N_PLACES),
    )
    clock = dt.Clock(np.arange(HOURS) // 2, 3600, datetime.datetime(2024, 1, 1))

    def make(rows, owner=None, replicate=None) -> dt.SyntheticTraces:
        n = np.arange(len(rows))
        owner = n if owner is None else owner
        return dt.SyntheticTraces(
            np.asarray(rows), owner, 0 * n if replicate is None else replicate, places, clock
        )

    return make


@pytest.fixture(scope="session")
def people():
    """Return a drawer of rows: n users, each moving among four places of their own."""

    def draw(seed: int, n: int) -> np.ndarray:
        draws = np.random.default_rng(seed)
        own = draws.integers(N_PLACES, size=(n, 4))
        return np.take_along_axis(own, draws.integers(4, size=(n, HOURS)), axis=1)

    return draw
