"""Flows and histograms, by hand."""

import numpy as np
import pytest

from doppeltrace import SyntheticTraces
from doppeltrace.report.internal import flows, suppression
from doppeltrace.utility.summary import Summary


def test_flows_by_hand(tiny, monkeypatch):
    keys, counts, users = flows.flow_counts(tiny, 5)
    # user 0: 1→2 2→3, 2→3 3→4; user 1: 0→0 0→1 1→1; user 2: 4→3 3→2 2→1 1→0 0→0 0→0 0→1 1→2
    found = {(k // 5, k % 5): c for k, c in zip(keys.tolist(), counts.tolist(), strict=True)}
    assert found == {
        (1, 2): 2, (2, 3): 2, (3, 4): 1, (0, 1): 2, (4, 3): 1, (3, 2): 1, (2, 1): 1, (1, 0): 1,
    }  # fmt: skip
    made_by = {(k // 5, k % 5): n for k, n in zip(keys.tolist(), users.tolist(), strict=True)}
    assert made_by == {**found, (2, 3): 1}
    made = SyntheticTraces([[1, 2, 1, 2]], [0], [0], tiny.places, tiny.clock)
    assert flows.strongest_flows(tiny, made, 5, top=2) == [
        flows.Flow(1, 2, None, pytest.approx(2 / 3, abs=1e-5)),
        flows.Flow(2, 1, None, pytest.approx(1 / 3, abs=1e-5)),
    ]
    monkeypatch.setattr(suppression, "MIN_USERS", 1)
    found = flows.strongest_flows(tiny, made, 5, top=2)
    assert [(f.origin, f.destination) for f in found] == [(1, 2), (0, 1), (2, 1)]
    assert [f.real for f in found] == pytest.approx([2 / 11, 2 / 11, 1 / 11], abs=1e-5)
    assert [f.synthetic for f in found] == pytest.approx([2 / 3, 0, 1 / 3], abs=1e-5)


def test_flows_of_several_chunks_add_up(tiny, monkeypatch):
    whole = flows.flow_counts(tiny, 5)
    monkeypatch.setattr("doppeltrace.utility.summary.CHUNK", 1)
    for a, b in zip(flows.flow_counts(tiny, 5), whole, strict=True):
        assert a.tolist() == b.tolist()


def test_histogram_by_hand(tiny):
    stays = flows.histograms(Summary.of(tiny), Summary.of(tiny))[1]
    assert stays.title == "Stay at one place" and stays.unit == "h"
    assert stays.start == stays.width == pytest.approx(1 / 3)
    # stays in instants: user 0: 1 1 1 1 1 1 1; user 1: 2 2 1; user 2: 1 1 1 1 3 1 1
    assert stays.real == pytest.approx([14 / 17, 2 / 17, 1 / 17], abs=1e-5)
    assert stays.real_mean == pytest.approx(21 / 17 / 3)


def test_histogram_bins_are_round_and_the_last_is_open():
    counts = np.zeros(1001, dtype=np.int64)
    counts[[0, 49, 50, 99]] = 100
    counts[1000] = 1
    one = flows._histogram("trip_length_emd", counts, counts, 0.01)
    assert one.width == pytest.approx(0.05) and len(one.real) == 20
    assert [i for i, share in enumerate(one.real) if share] == [0, 9, 10, 19]
    assert one.real[-1] == pytest.approx(101 / 401, abs=1e-5)
    empty = flows._histogram("trip_length_emd", np.zeros(1, np.int64), counts, 0.01)
    assert empty.real == [] and empty.real_mean is None


def test_coverage(tiny):
    # 7 + 5 + 9 events in three user-days of nine instants
    assert flows.coverage(Summary.of(tiny)) == pytest.approx(21 / 27)
