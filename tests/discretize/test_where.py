"""Grids, boxes and the most visited places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doppeltrace import Bounds, Places, SettingsError
from doppeltrace.discretize.where import Grid, inside, keep_places, most_visited

BOX = Bounds(35.0, 139.0, 36.0, 141.0)


def test_cells_are_numbered_row_by_row_from_the_south_west():
    grid = Grid(2, 4, BOX)  # cells of 0.5° × 0.5°
    lat = [35.1, 35.1, 35.6, 35.5, 35.0, 36.0]
    lng = [139.1, 140.9, 139.6, 139.5, 139.0, 141.0]
    np.testing.assert_array_equal(grid.cell(lat, lng), [0, 3, 5, 5, 0, 7])


def test_points_outside_the_box_have_no_cell():
    cells = Grid(2, 4, BOX).cell(
        [34.999, 36.001, 35.5, 35.5, np.nan], [140, 140, 138.9, 141.1, 140]
    )
    np.testing.assert_array_equal(cells, [-1] * 5)


@given(rows=st.integers(1, 50), columns=st.integers(1, 50))
def test_each_cell_holds_its_own_centre(rows, columns):
    grid = Grid(rows, columns, BOX)
    places = grid.places()
    np.testing.assert_array_equal(grid.cell(places.lat, places.lng), places.labels)
    assert len(places) == rows * columns
    assert places.bounds == BOX


@given(lat=st.floats(35, 36), lng=st.floats(139, 141))
def test_a_point_lies_within_half_a_cell_of_its_cell_s_centre(lat, lng):
    grid = Grid(7, 11, BOX)
    places, cell = grid.places(), grid.cell(lat, lng)
    assert abs(places.lat[cell] - lat) <= 0.5 / 7 + 1e-9
    assert abs(places.lng[cell] - lng) <= 1.0 / 11 + 1e-9


def test_a_grid_needs_cells():
    with pytest.raises(SettingsError, match="0 × 3"):
        Grid(0, 3, BOX)


def test_the_box_includes_its_edges():
    np.testing.assert_array_equal(
        inside(BOX, [35.0, 36.0, 36.1], [139.0, 141.0, 140.0]), [True, True, False]
    )


def test_most_visited_breaks_ties_by_label_and_keeps_the_order():
    labels = np.array(["d", "c", "b", "a"])
    location = [0, 0, 1, 2, 3, 3, 3]  # d 2, c 1, b 1, a 3
    user = np.arange(7)
    for rank_by in ("users", "events"):
        for top, kept in ((2, [0, 3]), (3, [0, 2, 3]), (9, [0, 1, 2, 3])):
            found = most_visited(location, user, labels, top, rank_by)
            np.testing.assert_array_equal(found, kept)
    with pytest.raises(SettingsError, match="top_places"):
        most_visited(location, user, labels, 0)
    with pytest.raises(SettingsError, match="rank_by 'rows' is not known: choose from users"):
        most_visited(location, user, labels, 1, "rows")


def test_most_visited_counts_people_unless_told_to_count_events():
    labels = np.array(["lonely", "busy"])
    location, user = [0] * 50 + [1] * 3, [7] * 50 + [0, 1, 2]
    np.testing.assert_array_equal(most_visited(location, user, labels, 1), [1])
    np.testing.assert_array_equal(most_visited(location, user, labels, 1, "events"), [0])


def test_keep_places_renumbers():
    places = Places(
        ["a", "b", "c"], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], category=np.array(["x", "y", "z"])
    )
    kept, number = keep_places(places, np.array([0, 2]))
    assert kept.labels.tolist() == ["a", "c"]
    assert kept.category.tolist() == ["x", "z"]
    assert kept.bounds == places.bounds
    np.testing.assert_array_equal(number, [0, -1, 1])
