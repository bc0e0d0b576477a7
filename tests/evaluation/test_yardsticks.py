"""Yardsticks: as many traces as are scored, exact where possible, with honest errors."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.evaluation.measure import better
from doppeltrace.evaluation.yardsticks import Yardsticks
from doppeltrace.utility import METRICS


@pytest.fixture(scope="module")
def yardsticks():
    train, test = dt.simulate_city(users=200, places=80, seed=1).split()
    return Yardsticks(train, test)


def test_rows_are_those_of_fresh_draws(yardsticks):
    length = yardsticks.train.clock.n_instants
    rows = yardsticks.rows(100, length)
    for kind, figures in ((dt.Frozen, rows.frozen), (dt.Independent, rows.independent)):
        made = kind(seed=0).fit(yardsticks.train).sample(20, seed=777)
        scores = [yardsticks.score(yardsticks.summary(p)) for p in made.by_replicate()]
        for name in METRICS:
            values = np.array([score[name] for score in scores])
            if np.isnan(figures[name]):
                assert np.isnan(values).all()
                continue
            # the rows are means of four draws, these of twenty
            error = values.std(ddof=1) * np.sqrt(1 / 4 + 1 / 20)
            assert abs(values.mean() - figures[name]) <= 5 * error + 1e-9, name


def test_more_traces_are_nearer(yardsticks):
    length = yardsticks.train.clock.n_instants
    few, many = yardsticks.rows(30, length), yardsticks.rows(3000, length)
    assert many.independent["tp_tv"] < few.independent["tp_tv"]
    # without limit Independent has exactly the population of Training
    assert many.independent["tp_tv"] == pytest.approx(yardsticks.training["tp_tv"], abs=0.02)
    assert yardsticks.rows(30, length) is few


def test_error_shrinks_with_replicates(yardsticks):
    rows = yardsticks.rows(100, yardsticks.train.clock.n_instants)
    assert rows.error("tp_tv", 1) > rows.error("tp_tv", 10) > rows.jackknife["tp_tv"] > 0
    assert rows.error("tp_tv", 10**9) == pytest.approx(rows.jackknife["tp_tv"])


def test_one_user_has_no_error():
    traces = dt.simulate_city(users=2, places=20, seed=1).traces
    rows = Yardsticks(traces.select([0]), traces.select([1])).rows(1, 36)
    assert all(np.isnan(rows.jackknife[name]) for name in METRICS)


def test_errors_are_not_too_small():
    """Leads of disjoint sets of people from one city spread no more than the errors say."""
    n, pairs = 120, 8
    everyone = dt.simulate_city(users=2 * n * pairs, places=100, seed=5).traces
    leads, errors = [], []
    for pair in range(pairs):
        train, test = (
            everyone.select(np.arange(start, start + n))
            for start in (2 * n * pair, 2 * n * pair + n)
        )
        rows = Yardsticks(train, test, seed=pair).rows(n, train.clock.n_instants)
        others = (rows.frozen, rows.independent, rows.uniform)
        leads.append([better(o[name] for o in others) - rows.training[name] for name in METRICS])
        errors.append([rows.error(name) for name in METRICS])
    spread = dict(zip(METRICS, np.std(leads, axis=0, ddof=1), strict=True))
    told = dict(zip(METRICS, np.sqrt(np.mean(np.square(errors), axis=0)), strict=True))
    lead = dict(zip(METRICS, np.mean(leads, axis=0), strict=True))
    for name in METRICS:
        # seven degrees of freedom: a ratio of two would be rare; a huge lead needs no error
        assert told[name] > 0.5 * spread[name] or lead[name] > 20 * spread[name], name
