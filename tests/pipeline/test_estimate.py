"""The estimate of time and memory before a run."""

from dataclasses import replace

import pytest

import doppeltrace as dt
from doppeltrace.pipeline import estimate as room
from doppeltrace.pipeline.estimate import estimate, probe
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.progress import QuietMonitor


@pytest.mark.parametrize("kind", [dt.PPMTF, dt.Doppel])
def test_estimates_grow_as_the_work_does(kind):
    small = dt.simulate_city(50, 25, seed=0).traces
    large = dt.simulate_city(500, 25, seed=0).traces
    model, settings = kind(seed=0, threads=1), RunSettings(seed=0, count_all=True)
    one, ten = (estimate(model, traces, settings) for traces in (small, large))
    # places have work of their own, which more users do not add to
    assert 7 * one.training < ten.training < 10.5 * one.training
    assert ten.synthesis == pytest.approx(10 * one.synthesis)
    assert 12 * one.test < ten.test < 100 * one.test  # tables of users, and pairs of them
    assert ten.memory > one.memory
    assert estimate(model, small, settings, speed=2.0).seconds == pytest.approx(one.seconds / 2)
    twice = replace(settings, traces_per_user=2)
    assert estimate(model, small, twice).synthesis == pytest.approx(2 * one.synthesis)
    assert estimate(model, small, replace(settings, k=None)).test == 0
    fewer = replace(settings, count_all=False, verifiers=100)
    assert estimate(model, large, fewer).test < 0.8 * ten.test
    assert 0.01 < probe() < 100


class Listener(QuietMonitor):
    """Keeps remarks, too."""

    def __init__(self):
        super().__init__()
        self.remarks = []

    def say(self, text):
        self.remarks.append(text)


@pytest.mark.parametrize("kind", [dt.PPMTF, dt.Doppel])
def test_a_long_run_is_announced(monkeypatch, kind):
    monkeypatch.setattr(room, "LONG_SECONDS", 0.0)
    listener = Listener()
    city = dt.simulate_city(40, 9, seed=1)
    dt.synthesize(city.traces, kind(iterations=1, factors=2, seed=1), k=1, monitor=listener)
    assert any("estimate, within a factor of two: " in text for text in listener.remarks)


def test_many_users_are_estimated_on_the_crowds_chain():
    """From 2,000 users on Doppel takes another chain, whose cost is another."""
    traces = dt.simulate_city(2_000, 16, seed=0).traces
    settings = RunSettings(seed=0)
    crowd = estimate(dt.Doppel(seed=0, threads=1), traces, settings)
    factors = estimate(dt.Doppel(seed=0, threads=1, population=False), traces, settings)
    assert crowd.training > factors.training > 0
    assert crowd.synthesis > factors.synthesis and crowd.memory > factors.memory
