import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from doppeltrace.utility import population as pop


def test_counts_by_hand(test_traces, other_traces):
    np.testing.assert_array_equal(pop.slot_counts(test_traces), [[3, 1, 0, 2], [1, 3, 1, 0]])
    np.testing.assert_array_equal(pop.slot_counts(other_traces), [[3, 3, 0, 0], [2, 2, 2, 0]])


def test_tp_tv_by_hand(test_traces, other_traces):
    test, other = pop.slot_counts(test_traces), pop.slot_counts(other_traces)
    # slot 0: ½ (|1/6 − 1/2| + 2/6); slot 1: ½ (|1/5 − 1/3| · 2 + |3/5 − 1/3|)
    np.testing.assert_allclose(pop.tp_tv_per_slot(test, other), [1 / 3, 4 / 15])
    assert pop.tp_tv(test, other) == pytest.approx(0.3)


def test_top_counts_the_error_only_at_frequent_testing_places(test_traces, other_traces):
    test, other = pop.slot_counts(test_traces), pop.slot_counts(other_traces)
    # the most frequent testing place is 0 (no error) and then 1 (½ · 4/15)
    assert pop.tp_tv_top(test, other, top=1) == pytest.approx(0.5 * (0 + 2 / 15))
    assert pop.tp_tv_top(test, other, top=4) == pytest.approx(0.3)


def test_ties_alternate_between_the_ends_of_the_numbering():
    chosen = pop.most_frequent(np.array([[1, 5, 1, 1], [1, 5, 1, 1]]), top=2)
    np.testing.assert_array_equal(chosen, [[1, 1, 0, 0], [0, 1, 0, 1]])


def test_slot_without_events_is_uniform(made):
    only_morning = pop.slot_counts(made([0, 0, -1, -1]))
    np.testing.assert_allclose(pop.distributions(only_morning)[1], 0.25)


def test_jensen_shannon_agrees_with_scipy_and_has_its_extremes(test_traces, other_traces, made):
    test, other = pop.slot_counts(test_traces), pop.slot_counts(other_traces)
    expected = [
        jensenshannon(p, q, base=2) ** 2
        for p, q in zip(pop.distributions(test), pop.distributions(other), strict=True)
    ]
    np.testing.assert_allclose(pop.jensen_shannon_per_slot(test, other), expected)
    apart = pop.slot_counts(made([0, 0, 0, 0])), pop.slot_counts(made([1, 1, 2, 2]))
    np.testing.assert_allclose(pop.jensen_shannon_per_slot(*apart), 1.0)
    np.testing.assert_array_equal(pop.jensen_shannon_per_slot(test, test), 0.0)
