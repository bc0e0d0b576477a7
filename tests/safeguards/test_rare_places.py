"""Places of few people: merged by distinct training users, and nothing else."""

import json
import re

import numpy as np
import pytest

from doppeltrace.errors import InputError, SettingsError
from doppeltrace.safeguards.rare_places import suppress, users_per_place
from doppeltrace.traces import Bounds, Clock, Places, Traces

CLOCK = Clock.regular(instant_minutes=60)


def traces(rows, lng=(0.0, 0.1, 0.2, 1.0, 1.1), bounds=None):
    """Return traces of (user, place) rows over places on the equator."""
    places = Places([f"p{i}" for i in range(len(lng))], np.zeros(len(lng)), lng, bounds)
    user, location = np.array(rows).T
    instant = np.arange(len(rows)) % 24
    order = np.lexsort((instant, user))
    return Traces.from_events(
        user[order], location[order], instant[order], places=places, clock=CLOCK
    )


def many(place, n, first=0):
    return [(first + i, place) for i in range(n)]


def test_rare_places_go_to_the_nearest_place_of_enough_users():
    train = traces([*many(0, 5), *many(3, 6), *many(1, 4), (0, 4), (1, 4)])
    test = traces([(0, 2), (1, 1), (1, 3)])
    done = suppress(train, test)
    assert done.train.places.labels.tolist() == ["p0", "p3"]
    np.testing.assert_array_equal(done.place_of, [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(done.merged, [False, True, True, False, True])
    np.testing.assert_array_equal(done.train.location, done.place_of[train.location])
    np.testing.assert_array_equal(done.test.location, done.place_of[test.location])
    np.testing.assert_array_equal(done.train.instant, train.instant)
    assert done.test.places is done.train.places
    record = done.record
    assert (record.places, record.places_kept) == (5, 2)
    assert (record.places_visited_by_few, record.places_unvisited) == (2, 1)
    assert (record.events, record.events_moved) == (17, 6)
    assert (record.test_events, record.test_events_moved) == (3, 2)
    assert json.loads(json.dumps(record.to_dict()))["min_users"] == 5


def test_rows_of_one_user_do_not_make_a_place_popular():
    train = traces([*many(0, 5), *many(3, 5), *[(0, 1)] * 50])
    assert users_per_place(train)[1] == 1
    assert suppress(train).train.places.labels.tolist() == ["p0", "p3"]


def test_testing_users_do_not_count():
    train = traces([*many(0, 5), *many(3, 5), *many(1, 4)])
    test = traces(many(1, 50))
    assert suppress(train, test).merged[1]


def test_the_place_list_does_not_depend_on_where_the_rare_ones_are():
    kept = [*many(0, 5), *many(3, 5)]
    done = suppress(traces([*kept, (0, 4)]))
    moved = suppress(traces([*kept, (0, 4)], lng=(0.0, 0.1, 0.2, 1.0, 7.7)))
    without = suppress(traces(kept))
    assert done.train.places.same_as(moved.train.places)
    assert done.train.places.bounds == moved.train.places.bounds
    assert done.train.places.bounds == without.train.places.bounds


def test_given_bounds_stay():
    box = Bounds(-1, -1, 2, 2)
    done = suppress(traces([*many(0, 5), *many(3, 5), (0, 4)], bounds=box))
    assert done.train.places.bounds == box


def test_the_nearest_place_may_lie_across_the_date_line():
    train = traces([*many(0, 5), *many(2, 5), (0, 1)], lng=(179.9, -179.9, 170.0))
    np.testing.assert_array_equal(suppress(train).place_of, [0, 0, 1])


def test_too_few_places_left_is_an_error_with_a_remedy():
    with pytest.raises(InputError, match=r"only 1 of 5 places .* larger cells"):
        suppress(traces([*many(0, 5), (0, 1)]))


def test_min_users_is_checked():
    with pytest.raises(SettingsError, match="min_users 0"):
        suppress(traces(many(0, 5)), min_users=0)


def test_one_user_is_enough_if_asked_for():
    done = suppress(traces([*many(0, 5), (0, 1)]), min_users=1)
    assert done.train.places.labels.tolist() == ["p0", "p1"]
    assert done.record.events_moved == 0


def test_words_for_internal_and_for_public_files():
    record = suppress(traces([*many(0, 50), *many(3, 49), (0, 4)])).record
    assert "1 place with fewer than 5" in record.words and "1 event " in record.words
    assert re.findall(r"\d+", record.public_words) == ["5", "5"]
    none = suppress(traces([*many(0, 5), *many(1, 5)], lng=(0.0, 1.0))).record
    assert none.words == "every place has at least 5 training users"
