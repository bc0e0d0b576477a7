"""A data set: its split, and how it shows itself."""

import pytest

import doppeltrace as dt


@pytest.fixture
def whole():
    city = dt.simulate_city(users=50, places=20, seed=1)
    events = city.traces.n_events
    read = dt.Validation("frame", events, events, (), 0, 50, 20, events, 0, "", "")
    return dt.Dataset(train=city.traces, test=None, validation=read)


def test_a_split_parts_the_users(whole):
    parted = whole.split(0.2, seed=3)
    assert (parted.train.n_users, parted.test.n_users) == (40, 10)
    assert not set(parted.train.users.tolist()) & set(parted.test.users.tolist())
    assert parted.validation is whole.validation
    assert whole.test is None
    again = whole.split(0.2, seed=3)
    assert again.test.users.tolist() == parted.test.users.tolist()


def test_without_a_seed_nobody_knows_who_was_held_out(whole):
    drawn = {tuple(whole.split(0.2).test.users.tolist()) for _ in range(5)}
    assert len(drawn) == 5


def test_what_is_split_is_not_split_again(whole):
    with pytest.raises(dt.InputError, match="already"):
        whole.split(0.2).split(0.2)
    with pytest.raises(dt.SettingsError, match="fraction"):
        whole.split(1.5)


def test_it_shows_sizes_not_arrays(whole, people_flow):
    assert repr(whole).startswith("Dataset(train: 50 users, ") and "test: None" in repr(whole)
    assert repr(people_flow).count("500 users") == 2
    page = people_flow._repr_html_()
    assert page.count("500 users") == 2 and "rows kept" in page
    assert "none" in whole._repr_html_()
