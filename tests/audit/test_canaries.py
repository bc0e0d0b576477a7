"""Canaries: planted as they say, and counted where they should show."""

from collections import Counter

import numpy as np

from doppeltrace.audit.canaries import HEAVY, INSTANCES, plant, with_canaries


def _by_kind(city, seed=0):
    planted = plant(city, seed, 5)
    return planted, {kind: [c for c in planted if c.kind == kind] for kind in Counter(
        c.kind for c in planted)}  # fmt: skip


def test_three_of_every_kind_none_sharing_a_rare_place(city):
    planted, kinds = _by_kind(city)
    assert {len(group) for group in kinds.values()} <= set(range(1, INSTANCES + 1))
    rare = [int(c.places[0]) for c in planted if "rare place" in c.kind]
    assert len(rare) == len(set(rare)) > 0


def test_canaries_are_what_they_say(city):
    _, kinds = _by_kind(city)
    for canary in kinds["always at a rare place"]:
        assert set(canary.users[0].location) == set(canary.places)
    for canary in kinds["at a rare place once"]:
        assert (canary.users[0].location == canary.places[0]).sum() == 1
    for canary in kinds["at a rare place six times"]:
        assert (canary.users[0].location == canary.places[0]).sum() == 6
    for canary in kinds.get("twins at a rare place", []):
        assert len(canary.users) == 2
    for canary in kinds["unique sequence"]:
        _, a, b, _ = city.transitions()
        made = set(zip(a.tolist(), b.tolist(), strict=True))
        assert not made & set(canary.moves)
    for canary in kinds.get("night pattern", []):
        there = city.location == canary.places[0]
        busy = city.clock.position(city.instant[there])
        assert not np.isin(canary.positions, busy).any()
    for canary in kinds["heavy user"]:
        assert len(canary.users[0].location) >= HEAVY * np.median(np.diff(city.offsets))


def test_counting_by_hand(city):
    _, kinds = _by_kind(city)
    positions = np.arange(city.clock.n_instants)
    same = np.arange(len(city.places))
    at_rare = kinds["always at a rare place"][0]
    locations = np.zeros((4, len(positions)), np.int32)
    place = int(at_rare.places[0])
    locations[locations == place] = place + 1
    locations[1, 3:5] = place
    assert at_rare.count(locations, positions, same) == 2
    gone = np.where(same == place, -1, same)
    assert at_rare.count(locations, positions, gone) == 0
    ring = kinds["unique sequence"][0]
    (a, b), *_ = ring.moves
    walk = np.full((1, len(positions)), a, np.int32)
    walk[0, 5] = b
    back = (b, a) in ring.moves
    assert ring.count(walk, positions, same) == 1 + back


def test_training_holds_members_and_canaries_whose_coin_says_so(city, rng):
    planted = plant(city, 0, 5)
    member = rng.random(city.n_users) < 0.5
    coin = rng.random(len(planted)) < 0.5
    train = with_canaries(city, member, planted, coin)
    users = sum(len(c.users) for c, i in zip(planted, coin, strict=True) if i)
    assert train.n_users == member.sum() + users
    chosen = city.select(np.flatnonzero(member))
    np.testing.assert_array_equal(train.location[: chosen.n_events], chosen.location)
    last = [u for c, i in zip(planted, coin, strict=True) if i for u in c.users][-1]
    np.testing.assert_array_equal(train.location[train.offsets[-2] :], last.location)


def test_same_seed_same_canaries(city):
    one, two, other = (plant(city, seed, 5) for seed in (1, 1, 2))
    assert [c.places.tolist() for c in one] == [c.places.tolist() for c in two]
    assert [c.places.tolist() for c in one] != [c.places.tolist() for c in other]
