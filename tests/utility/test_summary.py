"""Properties of all scores together."""

import dataclasses
import datetime
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doppeltrace as dt
from doppeltrace.utility import METRICS, Grouping, Summary, compare, score_traces
from doppeltrace.utility import summary as module

N_PLACES, HOURS = 7, 12
PLACES = dt.Places(
    np.arange(N_PLACES), np.linspace(35.6, 35.8, N_PLACES), np.linspace(139.6, 139.9, N_PLACES)
)
CLOCK = dt.Clock(np.arange(HOURS) // 3, 3600, datetime.datetime(2024, 1, 1, 8))


def synthetic(rows) -> dt.SyntheticTraces:
    rows = np.asarray(rows)
    n = np.arange(len(rows))
    return dt.SyntheticTraces(rows, n, 0 * n, PLACES, CLOCK)


def random_rows(seed: int, n: int) -> np.ndarray:
    draws = np.random.default_rng(seed)
    return np.where(draws.random((n, HOURS)) < 0.1, -1, draws.integers(N_PLACES, size=(n, HOURS)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12))
@settings(max_examples=40)
def test_order_of_users_does_not_matter(seed, n_test, n_other):
    test, other = random_rows(seed, n_test), random_rows(seed + 1, n_other)
    draws = np.random.default_rng(seed)
    first = score_traces(synthetic(test).as_traces(), synthetic(other).as_traces())
    second = score_traces(
        synthetic(draws.permutation(test)).as_traces(),
        synthetic(draws.permutation(other)).as_traces(),
    )
    assert first == pytest.approx(second, nan_ok=True)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_order_of_rows_does_not_matter(seed):
    traces = synthetic(random_rows(seed, 8)).as_traces()
    order = np.random.default_rng(seed).permutation(traces.n_events)
    shuffled = dt.Traces.from_events(
        traces.user[order],
        traces.location[order],
        traces.instant[order],
        places=PLACES,
        clock=CLOCK,
        users=traces.users,
    )
    test = synthetic(random_rows(seed + 1, 8)).as_traces()
    assert score_traces(test, traces) == score_traces(test, shuffled)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_identical_data_score_zero_and_others_do_not(seed):
    rows = random_rows(seed, 10)
    traces = synthetic(rows).as_traces()
    assert score_traces(traces, traces) == dict.fromkeys(METRICS, 0.0)
    moved = synthetic(np.where(rows >= 0, (rows + 1) % N_PLACES, -1)).as_traces()
    assert score_traces(traces, moved)["tp_tv"] > 0


def test_chunks_add_up(monkeypatch):
    traces = synthetic(random_rows(5, 23))
    grouping = Grouping.find(traces.as_traces())
    whole = Summary.of(traces, grouping)
    monkeypatch.setattr(module, "CHUNK", 4)
    for parts in (Summary.of(traces, grouping), Summary.of(traces.as_traces(), grouping)):
        assert_same(whole, parts)


def assert_same(one, two):
    for field in dataclasses.fields(Summary):
        a, b = getattr(one, field.name), getattr(two, field.name)
        if field.name in ("mobility", "shares"):
            for name, counts in a.items():
                length = max(len(counts), len(b[name]))
                np.testing.assert_array_equal(padded(counts, length), padded(b[name], length))
        elif field.name not in ("places", "clock"):
            np.testing.assert_array_equal(a, b)


def padded(counts, length):
    return np.pad(counts, (0, length - len(counts)))


def test_what_was_added_can_be_taken_away():
    traces = synthetic(random_rows(7, 30)).as_traces()
    grouping = Grouping.find(traces)
    first, second = (
        Summary.of(traces.select(np.arange(*ends)), grouping) for ends in ((0, 12), (12, 30))
    )
    assert_same(Summary.of(traces, grouping) - second, first)


def test_uniform_samples_approach_the_exact_uniform():
    draws = np.random.default_rng(3)
    sampled = Summary.of(synthetic(draws.integers(N_PLACES, size=(20_000, HOURS))))
    exact = Summary.uniform(PLACES, CLOCK)
    test = Summary.of(synthetic(random_rows(6, 30)))
    left, right = compare(test, sampled, test), compare(test, exact, test)
    for name in ("tp_tv", "tm_emd_x", "tm_emd_y", "tp_js", "stay_emd", "places_per_day_emd"):
        assert left[name] == pytest.approx(right[name], abs=0.03)


def test_memory_stays_below_users_times_places():
    n_traces, n_places = 22_000, 1_000
    draws = np.random.default_rng(4)
    places = dt.Places(
        np.arange(n_places), draws.uniform(40, 41, n_places), draws.uniform(-74, -73, n_places)
    )
    n = np.arange(n_traces)
    rows = draws.integers(n_places, size=(n_traces, HOURS), dtype=np.int32)
    traces = dt.SyntheticTraces(rows, n, 0 * n, places, CLOCK)
    tracemalloc.start()
    Summary.of(traces)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n_traces * n_places
