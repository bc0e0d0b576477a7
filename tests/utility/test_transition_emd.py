import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from doppeltrace.utility import transitions as tm


def test_band_counts_by_hand(test_traces):
    columns, rows, _ = tm.step_counts(test_traces)
    # 0→0, 0→1, 1→1 | 0→1, 1→1, 1→2 | 3→3; the step over the missing hour does not count
    assert columns.sum() == rows.sum() == 7
    np.testing.assert_array_equal(columns[0, :2], [1, 2])
    np.testing.assert_array_equal(columns[1, [1, 5]], [2, 1])
    assert columns[2].sum() == 0
    assert rows[3, 2] == 1


def test_emd_by_hand(test_traces, other_traces, places):
    column, row = places.grid_cells(tm.CELLS)
    test, other = tm.step_counts(test_traces), tm.step_counts(other_traces)
    # place 0: 1/3, 2/3 against 3/4, 1/4 one cell apart; place 1: 1/12 of the mass four cells
    # on; places 2 and 3 stay where they are on both sides
    assert tm.tm_emd(test[0], other[0], column) == pytest.approx((5 / 12 + 4 / 12) / 4)
    assert tm.tm_emd(test[1], other[1], row) == 0.0


def test_uniform_by_hand(test_traces, places):
    _, row = places.grid_cells(tm.CELLS)
    uniform = tm.uniform_band_counts(places)[1]
    # uniform rows have 3/4 in row 0 and 1/4 in row 2; three places are in row 0, one in row 2
    expected = (3 * 0.25 * 2 + 0.75 * 2) / 4
    assert tm.tm_emd(tm.step_counts(test_traces)[1], uniform, row) == pytest.approx(expected)


def test_emd_agrees_with_scipy():
    draws = np.random.default_rng(1)
    band = draws.integers(tm.CELLS, size=30)
    a, b = draws.integers(4, size=(2, 30, tm.CELLS))
    cells = np.arange(tm.CELLS)
    p, q = tm.band_distributions(a, band), tm.band_distributions(b, band)
    expected = np.mean([wasserstein_distance(cells, cells, *w) for w in zip(p, q, strict=True)])
    assert tm.tm_emd(a, b, band) == pytest.approx(expected)


def test_visited_rows_by_hand(test_traces, other_traces):
    """Weights 3, 3 and 1; nobody leaves place 3 in the others, so all their moves stand for it."""
    columns, rows = (
        tm.tm_emd_visited(a, b)
        for a, b in zip(
            tm.step_counts(test_traces)[:2], tm.step_counts(other_traces)[:2], strict=True
        )
    )
    assert columns == pytest.approx((3 * 5 / 12 + 3 * 1 / 3 + 14 / 9) / 7)
    assert rows == pytest.approx(2 / 7)


def test_visited_rows_do_not_favour_standing_still(made):
    """The paper's metric gives rows nobody leaves to staying; this one asks where people went."""
    moving = made([0, 1, 0, 1], [1, 0, 1, 0])
    still = made([0, 0, 0, 0], [1, 1, 1, 1])
    counts = [tm.step_counts(t)[0] for t in (moving, still)]
    column = moving.places.grid_cells(tm.CELLS)[0]
    assert tm.tm_emd(*counts, column) == pytest.approx(0.5)
    assert tm.tm_emd_visited(*counts) == pytest.approx(1.0)
    assert np.isnan(tm.tm_emd_visited(counts[0], 0 * counts[1]))
