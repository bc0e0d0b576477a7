import numpy as np
import pytest

from doppeltrace.attacks import membership, membership_inference


def test_copies_of_training_users_give_them_away(city, people):
    rows = people(1, 100)
    train, test = city(rows).as_traces(), city(people(2, 100)).as_traces()
    found = membership_inference(train, test, city(rows))
    assert found.advantage >= 0.9
    assert found.chance_high < 0.3 < found.low <= found.advantage <= 1
    assert found.p_value == pytest.approx(1 / 501)
    assert found.true_positive_rate - found.false_positive_rate == pytest.approx(found.advantage)


def test_advantage_is_never_negative(city, people):
    # traces of the *testing* users mislead every threshold: the best calls nobody a member
    rows = people(2, 100)
    train, test = city(people(1, 100)).as_traces(), city(rows).as_traces()
    found = membership_inference(train, test, city(rows))
    assert 0 <= found.advantage <= 0.1
    one = membership_inference(train.select([0]), test.select([0]), city(rows[:1]))
    assert (one.advantage, one.true_positive_rate) == (0.0, 0.0)


def test_independent_traces_sit_at_chance(city, people):
    above = 0
    for seed in range(20):
        train, test = city(people(seed, 60)).as_traces(), city(people(100 + seed, 60)).as_traces()
        found = membership_inference(train, test, city(people(1000 + seed, 120)))
        above += found.advantage > found.chance_high
        assert 0 <= found.low <= found.high <= 1
        assert 0 < found.chance < found.chance_high
    assert above <= 3  # of 20 with level 5 %: more has probability 0.016


def test_three_users_by_hand(city):
    rest = [-1] * 21
    train = city([[0, 0, 1, *rest], [2, 2, 2, *rest]]).as_traces()
    test = city([[0, 1, 0, *rest]]).as_traces()
    synthetic = city([[0, 0, 0, *rest], [2, 2, 0, *rest]])
    # W_0: 0→0 ½, 0→1 ½; W_1: 2→2 1; W_2 (test): 0→1 1, 1→0 1
    # trace 0 is 0→0 twice, trace 1 is 2→2 and 2→0, which nobody knows (ratio 1)
    floor = 1e-8
    user_0 = max(2 * np.log(0.5 / floor), np.log(floor / (1 / 2)))
    user_1 = max(2 * np.log(floor / (0.5 / 2)), np.log(1 / floor))
    user_2 = max(2 * np.log(floor / (0.5 / 2)), np.log(floor / (1 / 2)))
    matrices = membership.Matrices.of(train, test)
    scores = membership.membership_scores(
        matrices, *matrices.look_up(synthetic.as_traces()), synthetic.replicate, np.arange(3)
    )
    np.testing.assert_allclose(scores[:, 0], [user_0, user_1, user_2])
    assert membership_inference(train, test, synthetic).advantage == 1.0


def test_order_of_users_and_traces_does_not_matter(city, people):
    draws = np.random.default_rng(0)
    rows = [people(seed, 50) % 13 for seed in (1, 2, 3)]
    values = set()
    for _ in range(3):
        train, test, synthetic = (city(draws.permutation(r)) for r in rows)
        found = membership_inference(train.as_traces(), test.as_traces(), synthetic)
        values.add(round(found.advantage, 9))
    assert len(values) == 1


def test_replicates_average_to_the_advantage(city, people):
    train, test = city(people(1, 40)).as_traces(), city(people(2, 40)).as_traces()
    synthetic = city(
        people(1, 120) % 17, owner=np.arange(120) % 40, replicate=np.arange(120) // 40
    )
    found = membership_inference(train, test, synthetic)
    assert len(found.per_replicate) == 3
    assert np.mean(found.per_replicate) == pytest.approx(found.advantage)


def test_subset_of_users_is_stated_and_seeded(city, people):
    rows = people(1, 200)
    train, test = city(rows).as_traces(), city(people(2, 100)).as_traces()
    part = membership_inference(train, test, city(rows), budget=30_000)
    assert 20 < part.n_members < 200 and 10 < part.n_nonmembers < 100
    assert part.n_users == 300
    assert part.advantage >= 0.9
    assert part == membership_inference(train, test, city(rows), budget=30_000)


def test_number_of_targets_is_bounded(city, people, monkeypatch):
    monkeypatch.setattr(membership, "MAX_TARGETS", 60)
    train, test = city(people(1, 100)).as_traces(), city(people(2, 100)).as_traces()
    found = membership_inference(train, test, city(people(3, 50)))
    assert (found.n_members, found.n_nonmembers) == (30, 30)


def test_the_file_as_published_is_attacked_with_all_traces_at_once(city, people):
    train, test = city(people(1, 40)).as_traces(), city(people(2, 40)).as_traces()
    rows = people(3, 120)
    rows[:10] = people(1, 40)[:10]  # ten members are copied, in the first replicate only
    synthetic = city(rows, owner=np.arange(120) % 40, replicate=np.arange(120) // 40)
    by_replicate, whole = membership.membership_attacks(train, test, synthetic)
    at_once = city(rows, owner=np.arange(120) % 40)  # every trace in replicate 0
    assert whole == membership_inference(train, test, at_once)
    assert by_replicate == membership_inference(train, test, synthetic)
    assert whole == membership.file_membership_inference(train, test, synthetic)
    assert whole.advantage > by_replicate.advantage + 0.1  # copied once, known for good
    assert 0 < whole.chance < whole.chance_high < 1
