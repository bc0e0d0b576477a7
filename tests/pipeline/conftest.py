"""A small city for runs of the real model."""

import pytest

import doppeltrace as dt


@pytest.fixture(scope="session")
def city():
    return dt.simulate_city(60, 16, seed=1)


@pytest.fixture
def quick():
    """A model that trains in no time."""
    return dt.Doppel(iterations=3, factors=3, seed=5)
