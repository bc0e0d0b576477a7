"""A small model and inputs for the command line."""

from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import doppeltrace as dt
from doppeltrace.cli.program import app
from doppeltrace.deniability import deterministic
from doppeltrace.errors import require
from doppeltrace.progress import Step
from doppeltrace.streams import generator
from doppeltrace.synthesizers import MODELS, Synthesizer


class Copycat(Synthesizer):
    """Draws each event from the user's own events; quick, and private to nobody."""

    name = "copycat"
    description = "Copycat: events of the user's own"
    public_settings = {"alpha": "precision"}
    testable = True

    def __init__(self, *, alpha=1.0, factors=2, seed=None, threads=None):
        super().__init__(seed=seed, threads=threads)
        require(alpha > 0, "alpha must be greater than 0")
        self.alpha, self.factors = alpha, factors

    def _fit(self, traces, callback):
        callback(Step("training", 1, 1, {"rmse": 0.5}))

    def _sample(self, users, traces_per_user, instants, seed, callback):
        train = self.train
        rows = []
        for user in users:
            own = train.location[train.offsets[user] : train.offsets[user + 1]]
            rng = generator(seed, "copycat", int(user))
            rows.append(rng.choice(own, size=(traces_per_user, len(instants))))
        return np.stack(rows).astype(np.int32)

    def log_likelihood(self, locations, users):
        raise AssertionError("the test is replaced")


def _fake_test(model, synthetic, *, k, **options):
    plausible = synthetic.owner % 2 * k  # every second user's traces pass
    return SimpleNamespace(plausible=plausible, passed=plausible >= k)


@pytest.fixture
def quick_test(monkeypatch):
    """A stand-in for the test of the stand-in: the traces of every second user pass."""
    monkeypatch.setattr(deterministic, "deniability_test", _fake_test)


@pytest.fixture
def run(monkeypatch):
    """Call the command line in this process, where it knows the model `copycat`."""
    monkeypatch.setitem(MODELS, "copycat", Copycat)
    runner = CliRunner()

    def call(*arguments):
        return runner.invoke(app, [str(a) for a in arguments])

    return call


@pytest.fixture(scope="session")
def city():
    return dt.simulate_city(40, 25, seed=1).traces


@pytest.fixture(scope="session")
def table(city, tmp_path_factory):
    """The events of a small city as a table of our own columns."""
    time = city.clock.local_time(city.instant)
    rows = ["uid,datetime,lat,lng,location"]
    rows += [
        f"{u},{t},{city.places.lat[x]},{city.places.lng[x]},{x}"
        for u, t, x in zip(city.user, time, city.location, strict=True)
    ]
    path = tmp_path_factory.mktemp("input") / "city.csv"
    path.write_text("\n".join(rows) + "\n")
    return path
