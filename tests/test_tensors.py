"""Step (i): counts, trimming, sampled zeros, hold-out."""

import numpy as np
import pytest
from scipy import stats

import doppeltrace as dt
from doppeltrace import tensors

MIN_P = 1e-4


def _dense(tensor, missing=0):
    """Return the tensor as a full array; elements that are not stored become `missing`."""
    full = np.full(tensor.shape, missing, dtype=int)
    user = np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))
    full[user, tensor.row, tensor.column] = tensor.count
    return full


def _observe(counts, most_elements=100, most_count=10, zeros=1000, seed=0):
    return tensors.observe(
        counts,
        most_elements=most_elements,
        most_count=most_count,
        zeros=zeros,
        seed=seed,
        name="test",
    )


def _same_users(user_cells, n_users, shape, counts=None):
    """Return counts in which every user has the same positive cells."""
    cell = np.tile(user_cells, n_users)
    row, column = np.divmod(cell, shape[1])
    count = np.ones(len(cell), np.uint8) if counts is None else np.tile(counts, n_users)
    return tensors.SparseTensor(
        (n_users, *shape),
        np.arange(n_users + 1) * len(user_cells),
        row.astype(np.uint16),
        column.astype(np.uint16),
        count.astype(np.uint8),
    )


def _assert_even(hits, users, drawn):
    """Assert that `drawn` of len(hits) cells, without replacement, were drawn uniformly.

    The counts' covariance is users · p(1 − p) · n/(n − 1) on the space orthogonal to 1.
    """
    n = len(hits)
    p = drawn / n
    variance = users * p * (1 - p) * n / (n - 1)
    statistic = np.sum((hits - users * p) ** 2) / variance
    p_value = stats.chi2(n - 1).sf(statistic)
    assert MIN_P < p_value < 1 - MIN_P


def test_figure_of_the_paper(tiny):
    """s_1 of Figure 2: r^I_{1,3,4} = 2, r^II_{1,5,3} = 2 (numbered from 1 there)."""
    transitions = _dense(tensors.transition_tensor(tiny))
    expected = np.zeros((5, 5), int)
    expected[1, 2] = 1  # x2 → x3 at instants 1, 2
    expected[2, 3] = 2  # x3 → x4 at 2, 3 and at 5, 6
    expected[3, 4] = 1  # x4 → x5 at 6, 7; instants 4 and 8 are missing
    np.testing.assert_array_equal(transitions[0], expected)
    visits = _dense(tensors.visit_tensor(tiny))
    expected = np.zeros((5, 3), int)
    expected[[1, 2, 3], 0] = 1
    expected[[2, 3], 1] = 1
    expected[4, 2] = 2
    np.testing.assert_array_equal(visits[0], expected)
    # nothing is lost
    assert visits.sum() == tiny.n_events
    assert transitions.sum() == len(tiny.transitions()[0]) == 4 + 3 + 8


def test_elements_are_sorted_by_cell_within_each_user(tiny):
    for tensor in (tensors.transition_tensor(tiny), _observe(tensors.visit_tensor(tiny), zeros=4)):
        for n in range(tensor.shape[0]):
            mine = slice(tensor.offsets[n], tensor.offsets[n + 1])
            cell = tensor.row[mine].astype(int) * tensor.shape[2] + tensor.column[mine]
            assert np.all(np.diff(cell) > 0)


def test_counts_are_cut_at_r_max_but_never_wrap():
    counts = _same_users([0, 5, 7], 2, (3, 3), counts=np.array([1, 9, 255]))
    full = _dense(_observe(counts, most_count=9, zeros=0))
    np.testing.assert_array_equal(full.reshape(2, 9)[0], [1, 0, 0, 0, 0, 9, 0, 9, 0])


def test_trimming_keeps_every_positive_element_equally_often():
    users, cells, kept = 4000, np.arange(0, 60, 3), 5
    observed = _observe(_same_users(cells, users, (10, 6)), most_elements=kept, zeros=0)
    np.testing.assert_array_equal(np.diff(observed.offsets), kept)
    hits = (_dense(observed).reshape(users, 60) > 0).sum(axis=0)
    assert hits[np.setdiff1d(np.arange(60), cells)].sum() == 0
    _assert_even(hits[cells], users, kept)


@pytest.mark.parametrize("wanted", [7, 30])  # by rejection, and by selection
def test_zeros_are_drawn_evenly_among_all_zero_elements(wanted):
    users, cells = 4000, np.array([0, 1, 17, 41])
    observed = _observe(_same_users(cells, users, (7, 6)), most_elements=2, zeros=wanted)
    np.testing.assert_array_equal(np.diff(observed.offsets), 2 + wanted)
    full = _dense(observed, missing=-1).reshape(users, 42)
    zero = (full == 0).sum(axis=0)
    # a positive element that trimming deleted is missing, never a zero
    assert zero[cells].sum() == 0
    assert (full[:, cells] == 1).sum() == 2 * users
    _assert_even(np.delete(zero, cells), users, wanted)
    # without replacement: _dense would have merged repeated cells
    assert (full >= 0).sum() == observed.n_elements


def test_when_all_zeros_are_wanted_all_are_taken():
    counts = _same_users([0, 8, 9], 3, (4, 5))
    for zeros in (17, 1000):
        full = _dense(_observe(counts, zeros=zeros), missing=-1)
        np.testing.assert_array_equal(full, _dense(counts))


def test_no_zeros_wanted():
    counts = _same_users([0, 8, 9], 3, (4, 5))
    np.testing.assert_array_equal(_observe(counts, zeros=0).count, 1)


def test_users_and_tensors_and_seeds_draw_differently():
    counts = _same_users([0], 50, (20, 20))
    one = _dense(_observe(counts, zeros=20), missing=-1).reshape(50, -1)
    assert len(np.unique(one, axis=0)) == 50
    assert not np.array_equal(one, _dense(_observe(counts, zeros=20, seed=1), -1).reshape(50, -1))
    np.testing.assert_array_equal(one, _dense(_observe(counts, zeros=20), -1).reshape(50, -1))


def test_memory_per_element(people_flow):
    counts = tensors.transition_tensor(people_flow.train)
    assert _observe(counts).bytes_per_element == 5
    assert counts.row.dtype == np.uint16  # one type up to 65,536 places: one compiled kernel
    # more than 65,536 places, r_max above 255: 4 + 4 + 2
    shape = (1, 70_000, 70_000)
    cell = np.array([69_999 * 70_000 + 69_998])
    widest = _observe(
        tensors._assemble(shape, np.array([0, 1]), cell, np.array([70_000], np.uint32)),
        most_count=65_535,
        zeros=2,
    )
    assert widest.bytes_per_element == 10
    element = int(np.flatnonzero(widest.count)[0])
    assert (widest.row[element], widest.column[element]) == (69_999, 69_998)
    assert widest.count[element] == 65_535  # cut, not wrapped


def test_places_up_to_256_have_16_bit_indexes_too(tiny):
    assert tensors.visit_tensor(tiny).row.dtype == np.uint16


@pytest.mark.parametrize(
    ("setting", "value"),
    [("most_elements", 0), ("most_count", 0), ("most_count", 65_536), ("zeros", -1)],
)
def test_settings_out_of_range(tiny, setting, value):
    with pytest.raises(dt.SettingsError):
        _observe(tensors.visit_tensor(tiny), **{setting: value})


def test_hold_out_parts_are_disjoint_and_complete():
    users = 300
    observed = _observe(_same_users([0, 8, 9], users, (10, 10)), zeros=30, seed=3)
    kept, out = tensors.hold_out(observed, 0.2, seed=5, name="test")
    whole, one, other = (_dense(t, missing=-1) for t in (observed, kept, out))
    assert not np.any((one >= 0) & (other >= 0))
    np.testing.assert_array_equal(np.maximum(one, other), whole)
    share, n = out.n_elements / observed.n_elements, observed.n_elements
    assert abs(share - 0.2) < 4 * np.sqrt(0.2 * 0.8 / n)
    nothing = tensors.hold_out(observed, 0.0, seed=5, name="test")[1]
    assert nothing.n_elements == 0
    with pytest.raises(dt.SettingsError, match="held-out"):
        tensors.hold_out(observed, 1.0, seed=5, name="test")
