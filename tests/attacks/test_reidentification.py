import numpy as np
import pytest

from doppeltrace.attacks import guess_users, reidentification


def test_copies_of_training_users_are_found(city, people):
    rows = people(1, 100)
    found = reidentification(city(rows).as_traces(), city(np.roll(rows, 7, axis=0)))
    assert found.rate <= 0.05  # the owners do not fit
    owner = np.roll(np.arange(100), 7)
    found = reidentification(city(rows).as_traces(), city(np.roll(rows, 7, axis=0), owner=owner))
    assert found.rate >= 0.95
    assert found.low <= found.rate <= found.high
    assert found.chance == 0.01


def test_independent_traces_sit_at_chance(city, people):
    covered = 0
    for seed in range(20):
        train = city(people(seed, 50)).as_traces()
        strangers = city(
            people(1000 + seed, 200), owner=np.arange(200) % 50, replicate=np.arange(200) // 50
        )
        found = reidentification(train, strangers)
        covered += found.low <= found.chance <= found.high
    assert covered >= 17  # of 20 with 95 % coverage: fewer has probability 0.016


def test_three_users_by_hand(city):
    hours = [-1] * 20
    train = city([[0, 0, 1, 0, *hours], [0, 1, 0, 1, *hours], [2, 2, 2, 2, *hours]]).as_traces()
    queries = city([[0, 1, 0, 0, *hours], [0, 1, 0, 1, *hours], [2, 2, 0, 1, *hours]])
    # user 0: 0→0 ½, 0→1 ½, 1→0 1; user 1: 0→1 1, 1→0 1; user 2: 2→2 1
    # query 0: user 0 has ½·1·½; user 1 lacks 0→0. query 1: user 1 has 1, user 0 has ¼.
    # query 2 (2→2, 2→0, 0→1): users 1 and 2 know one step with certainty each: the lower one
    np.testing.assert_array_equal(guess_users(train, queries.as_traces()), [0, 1, 1])
    assert reidentification(train, queries).rate == pytest.approx(2 / 3)


def test_renumbering_users_renumbers_the_guesses(city, people):
    rows, queries = people(3, 40), city(people(4, 60) % 11).as_traces()
    # users of their own places hardly tie; a user without a known step would be nobody's
    order = np.random.default_rng(0).permutation(40)
    guess = guess_users(city(rows % 11).as_traces(), queries)
    again = guess_users(city(rows[order] % 11).as_traces(), queries)
    assert np.mean(order[again] == guess) >= 0.95


def test_unknown_owners_are_left_out(city, people):
    rows = people(1, 30)
    train = city(rows).as_traces()
    assert reidentification(train, city(rows, owner=np.full(30, -1))) is None
    some = reidentification(train, city(rows, owner=np.where(np.arange(30) < 10, -1, range(30))))
    assert (some.n_attacked, some.n_traces) == (20, 30)
    assert some.rate >= 0.95


def test_subset_is_stated_seeded_and_unbiased(city, people):
    rows = np.tile(people(1, 100), (4, 1))
    wrong = np.arange(400) % 2 == 1
    owner = np.where(wrong, 0, np.arange(400) % 100)
    synthetic = city(rows, owner=owner, replicate=np.arange(400) // 100)
    train = city(rows[:100]).as_traces()
    everything = reidentification(train, synthetic)
    part = reidentification(train, synthetic, budget=5_000)
    assert 50 < part.n_attacked < 400 == everything.n_attacked
    assert part == reidentification(train, synthetic, budget=5_000)
    assert part != reidentification(train, synthetic, budget=5_000, seed=1)
    error = np.sqrt(0.25 / part.n_attacked)
    assert abs(part.rate - everything.rate) < 4 * error
