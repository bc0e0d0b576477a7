"""Fixtures shared by all tests: where the reference data are, and a tiny hand-made data set."""

import os
import random
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace import streams

# Machines may be busy, and what failed must fail again: no deadline, the same examples.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def repeatable_seeds(request, monkeypatch) -> None:
    """Seeds that nobody gives are drawn from the test's name, so that what failed fails again."""
    draws = random.Random(request.node.nodeid)
    monkeypatch.setattr(streams, "secrets", SimpleNamespace(randbits=draws.getrandbits))


def _data_root() -> Path:
    given = os.environ.get("DOPPELTRACE_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def people_flow_folder() -> Path:
    """The paper's PF data set; skips where it is absent."""
    folder = _data_root() / "people_flow"
    if not folder.is_dir():
        pytest.skip(f"reference data not found at {folder}: set DOPPELTRACE_DATA")
    return folder


@pytest.fixture(scope="session")
def nyc_folder() -> Path:
    """The New York check-ins; skips where they are absent."""
    folder = _data_root() / "nyc_checkins"
    if not folder.is_dir():
        pytest.skip(f"reference data not found at {folder}: set DOPPELTRACE_DATA")
    return folder


@pytest.fixture(scope="session")
def people_flow(people_flow_folder: Path) -> dt.Dataset:
    """The paper's PF data set, read: 500 training and 500 testing users."""
    return dt.read_people_flow(people_flow_folder)


@pytest.fixture(scope="session")
def nyc(nyc_folder: Path) -> dt.Dataset:
    """The New York check-ins in the protocol of the comparison figures: 862 and 216 users."""
    return dt.read(nyc_folder)


@pytest.fixture
def tiny() -> dt.Traces:
    """Three users, five places, nine instants in three slots: the paper's Figure 2 in shape."""
    import datetime

    clock = dt.Clock(np.repeat([0, 1, 2], 3), 1200, datetime.datetime(2020, 1, 1, 9))
    places = dt.Places(np.arange(5), np.linspace(35.0, 35.4, 5), np.linspace(139.0, 139.4, 5))
    # user 0 is the paper's s_1: (x2,1) (x3,2) (x4,3) (x3,5) (x4,6) (x5,7) (x5,9)
    user = [0] * 7 + [1] * 5 + [2] * 9
    instant = [0, 1, 2, 4, 5, 6, 8] + [0, 1, 2, 3, 7] + list(range(9))
    location = [1, 2, 3, 2, 3, 4, 4] + [0, 0, 1, 1, 4] + [4, 3, 2, 1, 0, 0, 0, 1, 2]
    return dt.Traces.from_events(user, location, instant, places=places, clock=clock)
