import datetime

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.utility import visit_fractions as vf


@pytest.fixture
def visits(places):
    """Turn each user's list of places, one per hour, into traces."""
    clock = dt.Clock(np.zeros(24, dtype=int), 3600, datetime.datetime(2024, 1, 1))

    def make(*users: list[int]) -> dt.Traces:
        user = np.repeat(np.arange(len(users)), [len(u) for u in users])
        hour = np.concatenate([np.arange(len(u)) for u in users])
        return dt.Traces.from_events(user, np.concatenate(users), hour, places=places, clock=clock)

    return make


def test_fractions_by_hand(visits):
    counts = vf.fraction_counts(
        visits(
            [0, 0, 0, 1, 1, 2],  # 1/2, 1/3, 1/6: bins 11, 7, 3
            [3] * 6,  # exactly 1 counts nowhere
            [0, 1, 2, 3],  # fewer than five events count nowhere
        )
    )
    assert counts.sum() == 3
    assert counts[0, 11] == counts[1, 7] == counts[2, 3] == 1


def test_bin_edges_are_exact(visits):
    # 1/24 belongs to the first bin and 23/24 to the last but one, for every rounding of 24 f
    counts = vf.fraction_counts(visits([0] * 23 + [1]))
    assert counts[1, 0] == 1
    assert counts[0, 22] == 1


def test_vf_tv_by_hand(visits):
    test = vf.fraction_counts(visits([0, 0, 0, 1, 1, 2], [0, 1, 1, 1, 1, 1]))
    train = vf.fraction_counts(visits([0, 0, 0, 1, 1, 1]))
    # place 0: testing bins 11 and 3; place 1: 7 and 19; place 2 has no training distribution
    other = vf.fraction_counts(visits([0, 0, 0, 3, 3, 3]))
    # place 0: ½ of the mass is right; place 1 is never visited: all mass in bin 0, all wrong
    assert vf.vf_tv(test, other, train) == pytest.approx((0.5 + 1.0) / 2)
    assert vf.vf_tv(test, test, train) == 0.0


def test_never_visited_matches_the_first_bin(visits):
    test = vf.fraction_counts(visits([0] + [1] * 23))
    train = vf.fraction_counts(visits([0, 0, 0, 1, 1]))
    other = vf.fraction_counts(visits([2] * 6))
    # place 0: fraction 1/24 is in the first bin, as "never" is; place 1: 23/24 is not
    assert vf.vf_tv(test, other, train) == pytest.approx(0.5)


def test_uniform_stands_in_the_bin_of_one_over_places(places):
    histogram = vf.uniform_fraction_counts(places)  # 24 / 4 = 6: the sixth bin
    assert histogram[:, 5].tolist() == [1, 1, 1, 1]
    assert histogram.sum() == 4


def test_undefined_without_a_common_place(visits):
    test, train = (vf.fraction_counts(visits(u)) for u in ([0, 0, 0, 0, 1], [2, 2, 2, 2, 3]))
    assert np.isnan(vf.vf_tv(test, test, train))
