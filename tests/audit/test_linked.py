"""Naming owners from linked traces: chance, more traces, a known model, and ties."""

import datetime as dt

import numpy as np
import pytest

from doppeltrace.audit.linked import linked_naming
from doppeltrace.audit.process import Published
from doppeltrace.traces import Clock, Places, SyntheticTraces, Traces

N_USERS, LENGTH, N_PLACES = 30, 8, 40


class Knowing:
    """A model whose likelihoods point to the owner by `hint`, one bit of evidence per trace."""

    testable, same_for_all_users = True, False

    def __init__(self, hint):
        self.hint = hint

    def log_likelihood(self, locations, users):
        table = np.zeros((len(locations), len(users)))
        table[np.arange(len(locations)), locations[:, 0] % N_USERS] = self.hint
        return table


@pytest.fixture
def train(rng):
    rows = rng.integers(N_PLACES, size=(N_USERS, LENGTH))
    places = Places(np.arange(N_PLACES), np.linspace(35, 36, N_PLACES), np.full(N_PLACES, 139.0))
    clock = Clock(np.arange(LENGTH), 3600, dt.datetime(2024, 1, 1))
    return Traces(
        np.arange(N_USERS),
        np.arange(N_USERS + 1) * LENGTH,
        rows.ravel(),
        np.tile(np.arange(LENGTH), N_USERS),
        places,
        clock,
    )


def _published(train, locations, owner, model=None):
    made = SyntheticTraces(locations, owner, np.zeros(len(owner)), train.places, train.clock)
    same = np.arange(N_PLACES)
    return Published(made, train, same, np.zeros(N_PLACES, bool), model)


def _noisy(train, rng, noise, per_user=10):
    """Return traces of which a share of the events are of somebody else's places."""
    owner = np.repeat(np.arange(N_USERS), per_user)
    rows = train.location.reshape(N_USERS, LENGTH)[owner]
    other = rng.integers(N_PLACES, size=rows.shape)
    return np.where(rng.random(rows.shape) < noise, other, rows), owner


def test_more_linked_traces_name_more_owners(train, rng):
    found = linked_naming(_published(train, *_noisy(train, rng, 0.7)), seed=1)
    assert [f.traces for f in found] == [1, 2, 5, 10]
    rates = [f.unknown for f in found]
    assert rates == sorted(rates) and rates[0] < 0.75 < 0.9 < rates[-1]
    assert {(f.chance, f.owners, f.known) for f in found} == {(1 / N_USERS, N_USERS, None)}


def test_traces_of_nobody_are_named_by_chance(train, rng):
    found = linked_naming(_published(train, *_noisy(train, rng, 1.0)), seed=1)
    for f in found:
        error = np.sqrt(f.chance * (1 - f.chance) / f.owners)
        assert abs(f.unknown - f.chance) < 4 * error


def test_a_known_model_names_by_its_likelihoods(train, rng):
    locations, owner = _noisy(train, rng, 1.0)
    locations[:, 0] = owner
    found = linked_naming(_published(train, locations, owner, Knowing(1.0)), seed=1)
    assert [f.known for f in found] == [1.0] * 4
    tied = linked_naming(_published(train, locations, owner, Knowing(0.0)), seed=1)
    assert tied[0].known == pytest.approx(1 / N_USERS)  # all alike: a blind guess


def test_only_owners_with_enough_traces_count_and_unknown_owners_do_not(train, rng):
    locations, owner = _noisy(train, rng, 0.2, per_user=2)
    found = linked_naming(_published(train, locations[:-1], owner[:-1]), seed=1)
    assert [(f.traces, f.owners) for f in found] == [(1, N_USERS), (2, N_USERS - 1)]
    assert linked_naming(_published(train, locations, np.full(len(owner), -1)), seed=1) == ()
