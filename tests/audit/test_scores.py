"""The statistics of candidates against plain loops."""

import datetime as dt

import numpy as np
import pytest

from doppeltrace.audit.scores import SCORES, Candidates, score_candidates
from doppeltrace.traces import Clock, Places, SyntheticTraces, Traces

N_PLACES, LENGTH = 12, 10


def _traces(rows, days=1):
    """Return traces from (n_users, days · LENGTH) rows, over a daily clock."""
    clock = Clock(np.arange(LENGTH), 3600, dt.datetime(2024, 1, 1), cycle=24)
    instant = (np.arange(days)[:, None] * 24 + np.arange(LENGTH)).ravel()
    return Traces(
        np.arange(len(rows)),
        np.arange(len(rows) + 1) * rows.shape[1],
        rows.ravel(),
        np.tile(instant, len(rows)),
        Places(np.arange(N_PLACES), np.linspace(35, 36, N_PLACES), np.full(N_PLACES, 139.0)),
        clock,
    )


@pytest.fixture
def day(rng):
    """One day of 25 users who stay a while at a place."""
    stay = rng.random((25, LENGTH)) < 0.5
    rows = np.minimum(rng.geometric(0.2, stay.shape) - 1, N_PLACES - 1)
    for t in range(1, LENGTH):
        rows[:, t] = np.where(stay[:, t], rows[:, t - 1], rows[:, t])
    return _traces(rows)


def _released(day, rng, n=30):
    rows = day.location.reshape(day.n_users, -1)[rng.integers(day.n_users, size=n)].copy()
    other = rng.integers(len(day.places), size=rows.shape)
    rows = np.where(rng.random(rows.shape) < 0.3, other, rows)
    rows[rng.random(rows.shape) < 0.05] = -1
    return SyntheticTraces(rows, np.zeros(n), np.arange(n), day.places, day.clock)


def test_against_loops(day, rng):
    released = _released(day, rng)
    found = score_candidates(Candidates.of(day), released)
    x, y = day.location.reshape(day.n_users, -1), released.locations
    n_places, length = len(day.places), x.shape[1]

    matches = np.sort((x[:, None] == y[None]).sum(axis=2), axis=1)[:, ::-1]
    np.testing.assert_allclose(found[:, 0], matches[:, 0])
    np.testing.assert_allclose(found[:, 1], matches[:, :10].mean(axis=1), rtol=1e-6)

    share = np.bincount(y[y >= 0], minlength=n_places) + 0.5
    share = share / share.sum()
    np.testing.assert_allclose(found[:, 2], np.log(share)[x].sum(axis=1), rtol=1e-5)
    different = [np.log(share)[np.unique(row)].sum() for row in x]
    np.testing.assert_allclose(found[:, 5], different, rtol=1e-5)

    at = np.stack([np.bincount(c[c >= 0], minlength=n_places) for c in y.T]).astype(float)
    near = 5 * share + 0.02 + at
    near[1:] += at[:-1]
    near[:-1] += at[1:]
    near[2:] += 0.5 * at[:-2]
    near[:-2] += 0.5 * at[2:]
    near /= near.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        found[:, 3], np.log(near)[np.arange(length), x].sum(axis=1), rtol=1e-5
    )

    steps = np.zeros((n_places, n_places))
    for row in y:
        for a, b in zip(row[:-1], row[1:], strict=True):
            steps[a, b] += a >= 0 and b >= 0
    chance = (steps + 3 * share) / (steps.sum(axis=1, keepdims=True) + 3)
    moves = [[(a, b) for a, b in zip(r[:-1], r[1:], strict=True) if a != b] for r in x]
    want = [sum(np.log(chance[m]) for m in row) for row in moves]
    np.testing.assert_allclose(found[:, 4], want, rtol=1e-5)
    want = [sum(np.log((steps[m] + 0.05) / len(y)) for m in set(row)) for row in moves]
    np.testing.assert_allclose(found[:, 6], want, rtol=1e-5)

    known = {tuple(row[t : t + 3]) for row in y for t in range(length - 2)}
    want = [
        sum(
            len({*row[t : t + 3]}) > 1 and tuple(row[t : t + 3]) in known
            for t in range(length - 2)
        )
        for row in x
    ]
    np.testing.assert_allclose(found[:, 7], want)


def test_several_days_count_by_their_share(rng):
    rows = rng.integers(4, size=(5, 3 * LENGTH))
    traces = _traces(rows, days=3)
    trace = rng.integers(4, size=(1, LENGTH))
    released = SyntheticTraces(trace, [0], [0], traces.places, traces.clock)
    found = score_candidates(Candidates.of(traces), released)
    want = (rows.reshape(5, 3, LENGTH) == trace).mean(axis=1).sum(axis=1)
    np.testing.assert_allclose(found[:, 0], want, rtol=1e-6)


def test_an_empty_release_says_nothing(day):
    empty = SyntheticTraces(np.empty((0, day.clock.n_instants)), [], [], day.places, day.clock)
    found = score_candidates(Candidates.of(day), empty)
    assert found.shape == (day.n_users, len(SCORES)) and not found.any()
