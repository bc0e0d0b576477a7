"""Groups of people who live alike: nearest centres, sizes, and distances by hand."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.utility import METRICS, Grouping, Summary
from doppeltrace.utility.areas import PARTS
from doppeltrace.utility.groups import group_tv, profiles, size_tv


def test_profiles_by_hand(test_traces):
    x = profiles(test_traces).reshape(3, len(PARTS), 4)
    # 0 at nine (morning); 0, 1, 1 from ten on (midday)
    assert x[0, 1] == pytest.approx([0.5, 0, 0, 0])
    assert x[0, 2] == pytest.approx(np.sqrt([0.25, 0.5, 0, 0]))
    assert (x**2).sum(axis=(1, 2)) == pytest.approx([1, 1, 1])


def test_every_trace_goes_to_the_nearest_centre(made):
    train = made([0, 0, 0, 0], [0, 0, 0, 1], [2, 2, 2, 2])
    grouping = Grouping.of_labels(train, ["a", "a", "b"])
    sizes, events = grouping.count(made([0, 0, 0, 2], [2, 2, -1, 0], [2, 2, 2, 1]))
    assert sizes.tolist() == [1, 2]
    assert events.sum(axis=1).tolist() == [[3, 0, 1, 0], [1, 1, 5, 0]]
    assert events[1, 1].tolist() == [0, 0, 2, 0]  # at nine


def test_distances_by_hand(made):
    train = made([0, 0, 0, 0], [2, 2, 2, 2], [2, 2, 2, 2])
    grouping = Grouping.of_labels(train, [0, 1, 1])
    real = Summary.of(train, grouping)
    other = Summary.of(made([0, 0, 0, 0], [0, 0, 0, 1], [2, 2, 2, 3]), grouping)
    assert METRICS["group_size_tv"](real, other, real) == pytest.approx(1 / 3)
    # group 0 in the morning 0, at midday one event of six elsewhere; group 1 one of three
    expected = (1 * 0 + 3 / 6 + 2 * 0 + 6 / 3) / 12
    assert METRICS["group_tv"](real, other, real) == pytest.approx(expected)


def test_an_absent_group_has_nothing_in_common():
    test, other = np.zeros((2, 1, 3), int), np.zeros((2, 1, 3), int)
    test[0, 0, 0], test[1, 0, 1], other[0, 0, 0] = 3, 1, 9
    assert group_tv(test, other) == pytest.approx(0.25)
    assert np.isnan(group_tv(0 * test, other))
    assert size_tv(np.array([3, 1]), np.array([1, 0])) == pytest.approx(0.25)
    assert np.isnan(size_tv(np.array([3, 1]), np.array([0, 0])))


def test_found_groups_are_those_of_a_plain_case(made):
    """Two ways of life, told apart whatever the order of the users."""
    rows = [[0, 0, 0, 0], [0, 0, 0, 3], [0, 0, 3, 0]] * 10 + [[2, 2, 2, 1], [1, 2, 2, 2]] * 10
    for order in (np.arange(50), np.random.default_rng(1).permutation(50)):
        traces = made(*[rows[i] for i in order])
        sizes, _ = Grouping.find(traces).count(traces)
        assert sorted(sizes.tolist()) == [20, 30]


def test_the_order_of_users_does_not_change_the_centres():
    traces = dt.simulate_city(users=300, places=80, seed=4).traces
    order = np.random.default_rng(0).permutation(300)
    one, two = Grouping.find(traces), Grouping.find(traces.select(order))
    np.testing.assert_array_equal(one.centres, two.centres)
    assert one.n_groups == 6 and not one.given


def test_true_groups_of_a_city_are_kept_by_other_users():
    city = dt.simulate_city(users=2000, seed=3)
    train, test = city.split()
    grouping = Grouping.of_labels(train, city.cluster[train.users])
    assert grouping.n_groups == len(city.cluster_names)
    a, b = (Summary.of(traces, grouping) for traces in (train, test))
    frozen = Summary.of(dt.Frozen(seed=0).fit(train).sample(1, seed=1), grouping)
    assert group_tv(b.group_events, a.group_events) < 0.7 * group_tv(
        b.group_events, frozen.group_events
    )


def test_people_who_are_all_alike(made):
    traces = made([0, 0, 0, 0], [0, 0, 0, 0])
    grouping = Grouping.find(traces)
    assert grouping.count(traces)[0].tolist() == [2]
