"""SGD: counts, copies, likelihoods, and the published figures."""

import csv
import datetime

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.synthesizers.sgd import TransitionCounts


def _row(counts, row):
    part = slice(counts.start[row], counts.start[row + 1])
    return counts.place[part].tolist(), counts.reached[part].tolist()


def test_counts_by_hand(tiny):
    """Transitions into slot 0 of `tiny`: 1→2→3 (user 0), 0→0→1 (user 1), 4→3→2 (user 2)."""
    counts = TransitionCounts.of(tiny)
    assert _row(counts, 0) == ([0, 1], [1, 2])
    assert _row(counts, 3) == ([2], [1])
    # into slot 1 (instants 3, 4, 5): 2→3 of user 0, 1→1 of user 1, 2→1→0→0 of user 2
    assert _row(counts, 5 + 1) == ([0, 1], [1, 2])
    assert _row(counts, 5 + 2) == ([1, 3], [1, 2])
    assert _row(counts, 5 + 4) == ([], [])
    # the first instant
    assert _row(counts, 15) == ([0, 1, 4], [1, 2, 3])


def test_first_instant_without_events_falls_back_to_the_first_slot(tiny):
    clock = tiny.clock
    later = dt.Traces.from_events([0, 1, 1], [3, 2, 1], [1, 2, 4], places=tiny.places, clock=clock)
    assert _row(TransitionCounts.of(later), 15) == ([2, 3], [1, 2])
    never = dt.Traces.from_events([0], [3], [4], places=tiny.places, clock=clock)
    assert _row(TransitionCounts.of(never), 15) == ([], [])
    first = dt.SGD().fit(never).sample(2000, seed=1, length=1).locations[:, 0]
    assert np.all(np.abs(np.bincount(first, minlength=5) / 2000 - 0.2) < 5 * 0.009)


def test_draws_follow_the_counts(tiny):
    """Shares of traces agree with exp(log_likelihood), within 5 standard errors."""
    traces = dt.SGD().fit(tiny).sample(20_000, users=[0], length=3, seed=1).locations
    seen, count = np.unique(traces, axis=0, return_counts=True)
    model = dt.SGD().fit(tiny)
    p = np.exp(model.log_likelihood(seen, np.array([0]))[:, 0])
    assert np.isclose(p.sum(), 1, atol=1e-3)
    assert np.all(np.abs(count / 20_000 - p) < 5 * np.sqrt(p * (1 - p) / 20_000))


def test_likelihood_by_hand(tiny):
    """p(0, 0, 1) = 1/3 · 1/2 · 1/2, and the row of place 4 into slot 1 is uniform."""
    value = dt.SGD().fit(tiny).log_likelihood([[0, 0, 1, 1]], [0, 2])
    np.testing.assert_allclose(np.exp(value), [[1 / 3 / 4 / 2] * 2])
    clock = dt.Clock([0, 1], 1200, datetime.datetime(2020, 1, 1, 9))
    short = dt.Traces.from_events([0, 0, 1], [1, 1, 4], [0, 1, 0], places=tiny.places, clock=clock)
    value = dt.SGD().fit(short).log_likelihood([[4, 2], [0, 2]], [0])
    np.testing.assert_allclose(np.exp(value), [[1 / 2 / 5], [0]])


def test_copied_events(tiny):
    model = dt.SGD(copied=3).fit(tiny)
    made = model.sample(5, seed=1)
    own = np.array([[1, 2, 3], [0, 0, 1], [4, 3, 2]])
    np.testing.assert_array_equal(made.locations[:, :3], own[made.owner])
    values = model.log_likelihood(made.locations, [0, 1, 2])
    assert np.all(np.isfinite(values) == (made.owner[:, None] == np.arange(3)))
    free = dt.SGD().fit(tiny).log_likelihood(made.locations, [0])[:, 0]
    starts = dt.SGD().fit(tiny).log_likelihood(made.locations[:, :3], [0])[:, 0]
    np.testing.assert_allclose(values[np.arange(15), made.owner], free - starts)


def test_more_copied_than_there_is(tiny):
    made = dt.SGD(copied=50).fit(tiny).sample(2, seed=1, users=[2])
    np.testing.assert_array_equal(made.locations, [[4, 3, 2, 1, 0, 0, 0, 1, 2]] * 2)


def test_missing_first_events_are_drawn(tiny):
    """User 1 has no event at instant 4: it comes from the row of place 1 into slot 1."""
    model = dt.SGD(copied=5).fit(tiny)
    made = model.sample(400, seed=1, users=[1]).locations
    np.testing.assert_array_equal(made[:, :4], np.tile([0, 0, 1, 1], (400, 1)))
    assert abs(np.mean(made[:, 4] == 1) - 0.5) < 5 * 0.025
    values = model.log_likelihood(made[:, :5], [1])[:, 0]
    np.testing.assert_allclose(values, np.log(0.5))


def test_everything_passes_without_copies(people_flow):
    model = dt.SGD().fit(people_flow.train)
    made = model.sample(1, seed=1)
    assert dt.deniability_test(model, made, k=500).passed.all()


def test_copies_fail_the_deniability_test(tiny):
    model = dt.SGD(copied=2).fit(tiny)
    found = dt.deniability_test(model, model.sample(3, seed=1), k=2)
    np.testing.assert_array_equal(found.plausible, 1)


def test_settings_out_of_range():
    with pytest.raises(dt.SettingsError):
        dt.SGD(copied=-1)


@pytest.mark.parametrize("copied", [0, 1, 2])
def test_published_figures(people_flow, people_flow_folder, copied):
    made = dt.SGD(copied=copied).fit(people_flow.train).sample(10, seed=1)
    score = dt.evaluate(train=people_flow.train, test=people_flow.test, synthetic=made)
    with open(people_flow_folder / "reference" / "published_grid.csv") as file:
        rows = {(row["synthesizer"], row["setting"]): row for row in csv.DictReader(file)}
    published = rows["sgd", f"copied={copied}"]
    within = {
        "tp_tv": 0.01,
        "tp_tv_top50": 0.01,
        "tm_emd_x": 0.03,
        "tm_emd_y": 0.03,
        "reidentification_rate": 0.01,
    }
    for name, tolerance in within.items():
        assert abs(score[name] - float(published[name])) < tolerance, name


def test_shorter_traces_copy_the_same_day():
    """Two days of data: the fuller one is copied, however many of its events a trace has."""
    clock = dt.Clock.regular(instant_minutes=360)
    places = dt.Places(np.arange(4), np.linspace(35, 36, 4), np.linspace(139, 140, 4))
    # day 0: one event at instant 0; day 1: events at instants 5, 6 and 7, none at its first
    traces = dt.Traces.from_events(
        [0, 0, 0, 0], [3, 1, 2, 1], [0, 5, 6, 7], places=places, clock=clock
    )
    model = dt.SGD(copied=3, seed=1).fit(traces)
    for length in (2, 3, 4):
        made = model.sample(5, length=length, seed=2).locations
        np.testing.assert_array_equal(made[:, 1:3], np.tile([1, 2], (5, 1))[:, : length - 1])
    beyond = dt.SGD(copied=10**9, seed=1).fit(traces).sample(2, length=9, seed=2)
    np.testing.assert_array_equal(beyond.locations[:, 0], [3, 3])  # all data from day 0 on
