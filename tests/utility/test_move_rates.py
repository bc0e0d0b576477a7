import numpy as np
import pytest

from doppeltrace.utility.move_rates import move_rate_difference, move_rates, uniform_move_counts
from doppeltrace.utility.transitions import step_counts


def test_moves_by_hand(test_traces, other_traces):
    # nothing is counted over the hour that the third person is not seen
    assert step_counts(test_traces)[2].tolist() == [[1, 3], [2, 4]]
    assert step_counts(other_traces)[2].tolist() == [[1, 3], [1, 6]]


def test_slots_that_one_side_does_not_show_are_left_out():
    test, other = np.array([[1, 2], [0, 5]]), np.array([[1, 4], [0, 0]])
    assert np.isnan(move_rates(other)[1])
    assert move_rate_difference(test, other) == pytest.approx(0.25)
    assert np.isnan(move_rate_difference(test, 0 * other))


def test_uniform_moves_unless_it_draws_the_same_place():
    assert move_rates(uniform_move_counts(2, 4)).tolist() == [0.75, 0.75]
