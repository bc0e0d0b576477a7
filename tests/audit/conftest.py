"""A small city for audits, and a model that copies its users."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.synthesizers.windows import fullest_windows


class Copier(Synthesizer):
    """Releases the training traces themselves: the worst leak there is."""

    name = "copier"

    def _fit(self, traces, callback):
        self.seen = traces

    def _sample(self, users, traces_per_user, instants, seed, callback):
        return fullest_windows(self.seen, users, instants, traces_per_user)


@pytest.fixture
def copier():
    return Copier(seed=1)


@pytest.fixture(scope="session")
def city():
    return dt.simulate_city(60, 40, seed=4).traces


@pytest.fixture
def rng():
    return np.random.default_rng(11)
