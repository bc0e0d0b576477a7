"""The chain against explicit enumeration of all its paths."""

import datetime
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

import doppeltrace as dt
from doppeltrace.crowd import graph as graphs
from doppeltrace.crowd.chain import Chain
from doppeltrace.crowd.graph import MoveGraph
from doppeltrace.crowd.people import Crowd
from doppeltrace.crowd.public import PublicInputs, nearest
from doppeltrace.crowd.sampler import DayFactors, Presence, Sampler
from doppeltrace.population.persons import Persons
from doppeltrace.streams import key

N_PLACES, N_INSTANTS, N_KINDS, N_HEADINGS = 6, 3, 2, 4


@pytest.fixture
def public(monkeypatch):
    """Six places, near moves to two of them only, and two groups of three for the others."""
    monkeypatch.setattr(graphs, "NEAR", 2)
    monkeypatch.setattr(graphs, "LEVELS", (1,))
    rng = np.random.default_rng(0)
    places = dt.Places(
        np.arange(N_PLACES), 35 + rng.random(N_PLACES) / 10, 139 + rng.random(N_PLACES) / 10
    )
    clock = dt.Clock(np.arange(N_INSTANTS), 1200, datetime.datetime(2020, 1, 1, 9))
    found = PublicInputs.of(places, clock)
    return replace(found, neighbours=nearest(found.points, 1))


@pytest.fixture
def chain(public):
    rng = np.random.default_rng(1)
    graph = MoveGraph.of(public, N_HEADINGS)
    assert graph.n_groups == 2 and np.diff(graph.start).max() < N_PLACES - 1

    def positive(*shape):
        return rng.gamma(2.0, size=shape).astype(np.float32) + np.float32(0.05)

    turn = positive(N_HEADINGS + 1, N_HEADINGS)
    turn[0] = 1
    between = positive(2, 2) * (1 - np.eye(2, dtype=np.float32))
    n_parts, n_groups = public.n_parts, int(public.type_group.max()) + 1
    return Chain(
        graph=graph,
        part=public.part[public.slots],
        type_group=public.type_group,
        weight=np.array([0.3, 0.7], np.float32),
        mobility=np.array([1, 0]),
        site=positive(N_INSTANTS, N_PLACES),
        type_site=positive(n_parts, n_groups, N_KINDS),
        hold=positive(N_PLACES),
        near=positive(len(graph.place)),
        out=positive(N_PLACES),
        between=between,
        into=positive(N_PLACES),
        alpha=positive(N_INSTANTS - 1, 2, 2, 2),
        turn=turn,
        begin=positive(N_HEADINGS + 1, N_KINDS),
    )


def _step(chain, t, kind, before, now):
    """Weight of one step between states (place, motion)."""
    (x, m), (b, n) = before, now
    g, alpha = chain.graph, chain.alpha[t][:, :, chain.mobility[kind]]
    moved = min(m, 1)
    if n == 0:
        return alpha[moved, 0] * chain.hold[x] if x == b else 0.0
    h, total = n - 1, 0.0
    for e in range(g.start[x], g.start[x + 1]):
        if g.place[e] == b and g.sector[e] == h:
            total += chain.near[e]
    a, c = g.group[x], g.group[b]
    if g.group_sector[a, c] == h:
        total += chain.out[x] * chain.between[a, c] * chain.into[b]
    return alpha[moved, 1] * chain.turn[m, h] * total


def _explicit(chain, kind):
    """(6, 6, 6) weight of every trace of a kind, summed over motions."""
    weight = np.zeros((N_PLACES,) * N_INSTANTS)
    states = list(product(range(N_PLACES), range(N_HEADINGS + 1)))
    at = [chain.at(t)[:, kind].astype(float) for t in range(N_INSTANTS)]
    steps = [
        np.array([[_step(chain, t, kind, a, b) for b in states] for a in states])
        for t in range(N_INSTANTS - 1)
    ]
    for i, (x0, m0) in enumerate(states):
        start = chain.begin[m0, kind] * at[0][x0]
        for j, (x1, _) in enumerate(states):
            middle = start * steps[0][i, j] * at[1][x1]
            if middle > 0:
                for k, (x2, _) in enumerate(states):
                    weight[x0, x1, x2] += middle * steps[1][j, k] * at[2][x2]
    return weight


def test_messages_add_up_all_paths(chain):
    beta, back, scale = chain.backward()
    for kind in range(N_KINDS):
        total = (chain.begin[:, kind, None] * chain.at(0)[:, kind] * beta[0, :, :, kind]).sum()
        total /= scale[:, kind].astype(float).prod()
        assert total == pytest.approx(_explicit(chain, kind).sum(), rel=1e-4)
    ahead = beta[1, 1:] * chain.at(1)
    going, _ = chain.look_back(ahead)
    np.testing.assert_allclose(going * scale[0], back[0], rtol=1e-5)
    source = np.random.default_rng(2).random(going.shape).astype(np.float32)
    arrived, _ = chain.look_ahead(source)
    # ⟨source, R ahead⟩ = ⟨Rᵀ source, ahead⟩
    assert (source * going).sum() == pytest.approx((arrived * ahead).sum(), rel=1e-5)


def test_draws_follow_the_chain_exactly(chain, public):
    n = 60_000
    sampler = Sampler(chain)
    presence = Presence(np.array([0.0, 0.0, 1.0]), np.ones(N_INSTANTS))
    drawn = sampler.draw(
        n, 1, presence, DayFactors.none(), public.points, 1.0,
        candidates=1, gaps=False, key=key(1, "test"),
    )  # fmt: skip
    expected = np.zeros((N_PLACES,) * N_INSTANTS)
    for kind in range(N_KINDS):
        weight = _explicit(chain, kind)
        expected += chain.weight[kind] * weight / weight.sum()
    code = (drawn[:, 0] * N_PLACES + drawn[:, 1]) * N_PLACES + drawn[:, 2]
    seen = np.bincount(code, minlength=N_PLACES**3)
    mean = expected.ravel() * n
    often = mean >= 5
    assert seen[mean < 1e-6 * n].sum() <= 5
    seen = np.append(seen[often], seen[~often].sum())
    mean = np.append(mean[often], mean[~often].sum())
    keep = mean > 0
    assert (
        stats.chisquare(seen[keep], mean[keep] * seen[keep].sum() / mean[keep].sum()).pvalue > 1e-4
    )


# ---- users as mixtures over kinds -----------------------------------------------------------


def test_where_kinds_are(chain):
    found = chain.present()
    for kind in range(N_KINDS):
        weight = _explicit(chain, kind)
        for t in range(N_INSTANTS):
            others = tuple(a for a in range(N_INSTANTS) if a != t)
            expected = weight.sum(axis=others) / weight.sum()
            np.testing.assert_allclose(found[t, :, kind], expected, rtol=1e-4)


@pytest.fixture
def persons(chain, public):
    presence = Presence(np.array([0.0, 0.0, 1.0]), np.ones(N_INSTANTS))
    crowd = Crowd(chain, presence, DayFactors.none())
    mixture = np.array([[0.9, 0.1], [0.2, 0.8]])
    return Persons(None, crowd, public, mixture, np.array([0, 1, 1, 0]))


def test_likelihoods_are_those_of_all_paths(chain, persons):
    """Whole days, the beginning of one, and two days of one kind that follow each other."""
    every = np.array(list(product(range(N_PLACES), repeat=N_INSTANTS)), dtype=np.int32)
    shares = []
    for kind in range(N_KINDS):
        weight = _explicit(chain, kind)
        shares.append(weight / weight.sum())
        with np.errstate(divide="ignore"):
            expected = np.log(shares[-1].ravel())
        np.testing.assert_allclose(persons.log_of_kinds(every)[:, kind], expected, atol=2e-4)
        begun = persons.log_of_kinds(every[::N_PLACES, :2])[:, kind]
        np.testing.assert_allclose(begun, np.log(shares[-1].sum(axis=2).ravel()), atol=2e-4)
    two = np.concatenate([every[40:60], every[100:120]], axis=1)
    days = np.stack([np.log(s.ravel()[40:60] * s.ravel()[100:120]) for s in shares], axis=1)
    np.testing.assert_allclose(persons.log_of_kinds(two), days, atol=4e-4)
    mixed = np.exp(persons.log_likelihood(every, np.array([1, 3])))
    for column, row in zip(mixed.T, persons.mixture[[1, 0]], strict=True):
        expected = sum(w * s.ravel() for w, s in zip(row, shares, strict=True))
        np.testing.assert_allclose(column, expected, rtol=1e-3)
    np.testing.assert_allclose(mixed.sum(axis=0), 1.0, rtol=1e-4)


def test_users_draw_from_their_own_mixture(chain, persons):
    n = 20_000
    drawn = persons.draw(np.arange(4), n, N_INSTANTS, candidates=1, seed=3)
    every = np.array(list(product(range(N_PLACES), repeat=N_INSTANTS)), dtype=np.int32)
    expected = np.exp(persons.log_likelihood(every, np.arange(4))) * n
    for user in range(4):
        code = (drawn[user, :, 0] * N_PLACES + drawn[user, :, 1]) * N_PLACES + drawn[user, :, 2]
        seen, mean = np.bincount(code, minlength=N_PLACES**3), expected[:, user]
        often = mean >= 5
        seen = np.append(seen[often], seen[~often].sum())
        mean = np.append(mean[often], mean[~often].sum())
        assert stats.chisquare(seen, mean * seen.sum() / mean.sum()).pvalue > 1e-4
    some = persons.draw(np.array([2]), 3, N_INSTANTS, candidates=1, seed=3)
    np.testing.assert_array_equal(some[0], drawn[2, :3])


def test_a_trace_does_not_depend_on_the_others(chain, public):
    sampler = Sampler(chain)
    presence = Presence(np.array([0.2, 0.3, 0.5]), np.ones(N_INSTANTS))
    rest = (presence, DayFactors.none(), public.points, 1.0)
    options = {"candidates": 3, "gaps": True, "key": key(1, "test")}
    whole = sampler.draw(50, 2, *rest, **options)
    np.testing.assert_array_equal(whole[20:30], sampler.draw(10, 2, *rest, offset=20, **options))


def test_gaps_have_as_many_events_as_asked_for(chain, public):
    sampler = Sampler(chain)
    presence = Presence(np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    drawn = sampler.draw(
        200, 1, presence, DayFactors.none(), public.points, 1.0,
        candidates=1, gaps=True, key=key(1, "test"),
    )  # fmt: skip
    assert np.all((drawn >= 0) == [True, True, False])


def test_factors_choose_among_candidates(chain, public):
    """A factor on one-place days makes them as much more frequent as the candidates allow."""
    sampler = Sampler(chain)
    presence = Presence(np.array([0.0, 0.0, 1.0]), np.ones(N_INSTANTS))
    none, some = DayFactors.none(), DayFactors.none()
    some.cells[1] = 3.0  # one distinct place
    share = []
    for factors in (none, some):
        drawn = sampler.draw(
            4000, 1, presence, factors, public.points, 1.0,
            candidates=8, gaps=False, key=key(1, "test"),
        )  # fmt: skip
        share.append(np.mean((drawn == drawn[:, :1]).all(axis=1)))
    p, e = share[0], np.exp(3.0)
    assert share[1] > 1.5 * p
    assert share[1] < p * e
