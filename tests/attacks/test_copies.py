import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doppeltrace as dt
from doppeltrace.attacks import copy_check, shared_runs


def brute_force(train, queries) -> list[int]:
    """Compare every query with every training trace, event by event."""

    def by_instant(traces):
        ends = traces.offsets
        return [
            dict(
                zip(
                    traces.instant[a:b].tolist(),
                    traces.location[a:b].tolist(),
                    strict=True,
                )
            )
            for a, b in zip(ends[:-1], ends[1:], strict=True)
        ]

    longest = []
    for query in by_instant(queries):
        best = 0
        for person in by_instant(train):
            run = 0
            for t in range(30):
                same = t in query and person.get(t) == query[t]
                run = run + 1 if same else 0
                best = max(best, run)
        longest.append(best)
    return longest


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
@settings(max_examples=60)
def test_runs_equal_brute_force(city, seed, n_train, n_queries):
    draws = np.random.default_rng(seed)
    train, queries = (
        city(draws.integers(-1, 3, size=(n, 24))).as_traces() for n in (n_train, n_queries)
    )
    assert shared_runs(train, queries).tolist() == brute_force(train, queries)


def test_planted_run_is_measured(city, people):
    train = city(people(1, 30)).as_traces()
    rows = np.full((2, 24), 59)
    rows[0, 5:14] = people(1, 30)[12, 5:14]
    rows[1, 6:15] = people(1, 30)[12, 5:14]  # the same places one hour late
    runs = shared_runs(train, city(rows).as_traces())
    assert runs[0] >= 9 > runs[1]


def test_copies_stand_out_from_testing_traces(city, people):
    rows = people(1, 50)
    train = city(rows).as_traces()
    copied, ordinary = copy_check(train, city(rows)), copy_check(train, city(people(2, 50)))
    assert (copied.longest, copied.mean, copied.whole) == (24, 24.0, 1.0)
    assert ordinary.longest < 10
    assert ordinary.whole == 0.0


def test_only_traces_without_gaps_can_be_whole_copies(city, people):
    rows = people(1, 50)
    train, gapped = city(rows).as_traces(), rows.copy()
    gapped[:40, 5] = -1
    assert copy_check(train, city(gapped)).whole == 1.0  # of the ten that are left
    gapped[40:, 20:] = -1  # shorter, but without a gap
    assert copy_check(train, city(gapped)).whole == 1.0
    assert copy_check(train, city(gapped), least_events=24).whole is None  # not measurable
    assert copy_check(train, city(gapped), least_events=24).longest == 20


def test_time_of_day_is_matched_on_a_clock_that_repeats():
    places = dt.Places(np.arange(4), np.linspace(0, 1, 4), np.linspace(0, 1, 4))
    clock = dt.Clock.regular(instant_minutes=60, start_day=datetime.date(2024, 1, 1))
    # day 3: places 1, 2 at 23:00 and 0:00 of the next day; one instant apart
    train = dt.Traces.from_events([0, 0], [1, 2], [71, 72], places=places, clock=clock)
    rows = np.full((2, 48), -1)
    rows[0, 23:25] = [1, 2]
    rows[1, 22:24] = [1, 2]
    queries = dt.SyntheticTraces(rows, [0, 1], [0, 0], places, clock)
    assert shared_runs(train, queries.as_traces()).tolist() == [2, 0]


def test_one_event_is_no_whole_copy(city):
    train = city([[0] * 24]).as_traces()
    single = city([[0] + [-1] * 23])
    checked = copy_check(train, single)
    assert checked.longest == 1 and checked.whole is None


def test_nothing_shared(city):
    train = city([[0] * 24]).as_traces()
    assert shared_runs(train, city([[1] * 24]).as_traces()).tolist() == [0]
    assert copy_check(train, city([[1] * 24])).mean == pytest.approx(0.0)
