"""What is made of noisy tables: shrinkage, population, moves, types, rhythm."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.crowd import statistics
from doppeltrace.crowd.clipping import EDGES, choose_clip
from doppeltrace.crowd.graph import MoveGraph
from doppeltrace.crowd.ledger import GRID
from doppeltrace.crowd.moves import population_moves
from doppeltrace.crowd.population import population
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.rhythm import rhythm, stay_share
from doppeltrace.crowd.shrink import FLOOR, shrink
from doppeltrace.crowd.statistics import Clips, Noisy
from doppeltrace.crowd.types import fit_types

CLIPS = Clips(6.0, 6.0)


def _tables(traces, sigma, seed=0, style="dense"):
    """The tables of these traces with Gaussian noise of one σ."""
    public = PublicInputs.of(traces.places, traces.clock)
    found = statistics.layout(public, style, CLIPS)
    sums = statistics.split(statistics.tables(traces, public, style, CLIPS)[0], found)
    rng = np.random.default_rng(seed)
    noisy = {n: Noisy(v / GRID + rng.normal(0, sigma, v.shape), sigma) for n, v in sums.items()}
    return public, noisy


@pytest.fixture(scope="module")
def city():
    return dt.simulate_city(users=2000, places=100, seed=5, missing=0.0).traces


def _tv(a, b):
    a, b = (x / x.sum(axis=-1, keepdims=True) for x in (a, b))
    return 0.5 * np.abs(a - b).sum(axis=-1).mean()


def test_shrinkage_beats_both_what_it_starts_from_and_what_it_sees():
    rng = np.random.default_rng(0)
    predicted = rng.gamma(2.0, 50.0, size=2000)
    truth = predicted * rng.lognormal(0, 0.4, size=2000)
    noisy = truth + rng.normal(0, 60.0, size=2000)
    found = shrink(noisy, predicted, 60.0)
    error = [np.square(x - truth).mean() for x in (found, predicted, noisy)]
    assert error[0] < 0.8 * min(error[1:])
    assert np.all(found >= FLOOR * predicted)


def test_pure_noise_is_not_believed():
    rng = np.random.default_rng(1)
    predicted = np.full(5000, 100.0)
    found = shrink(predicted + rng.normal(0, 50.0, 5000), predicted, 50.0)
    assert np.abs(found - predicted).mean() < 0.1 * 50.0


def test_without_noise_or_chance_the_counts_are_the_truth():
    found = shrink(np.array([0.0, 3.0, 8.0]), np.full(3, 4.0), 0.0)
    np.testing.assert_allclose(found, [FLOOR * 4.0, 3.0, 8.0])  # and nothing is impossible


def test_sampling_noise_counts_as_noise():
    """Poisson counts around equal means: chance, and not believed."""
    counts = np.random.default_rng(2).poisson(20.0, 3000).astype(float)
    found = shrink(counts, np.full(3000, 20.0), 0.0, 1.0)
    assert np.std(found) < 0.2 * np.std(counts)


def test_clips():
    """Equal users: as much as they have; no users: some number; a lone heavy user is cut."""
    norms = np.zeros(len(EDGES))
    norms[20] = 10_000
    clip, kept = choose_clip(norms, 1.0, 10_000, 5.0)
    assert clip <= EDGES[20] and 0 < kept <= 1
    assert choose_clip(np.zeros(len(EDGES)), 1.0, 100, 5.0)[0] > 0
    norms[48] = 5
    assert choose_clip(norms, 1.0, 10_000, 5.0)[0] < EDGES[25]
    assert choose_clip(norms, 0.0, 10_000, 0.0)[0] == EDGES[20]


def test_population_is_nearer_than_the_noisy_table(city):
    public, noisy = _tables(city, 8.0)
    truth = np.zeros((public.n_slots, public.n_places))
    np.add.at(truth, (city.slot, city.location), 1)
    found = population(noisy, public, 1.0, stay_share(noisy["stays"]))
    assert found.shape == truth.shape and np.all(found > 0)
    raw = np.maximum(noisy["visits of places"].value, 1e-9)
    assert _tv(found, truth) < 0.6 * _tv(raw, truth)


def test_moves_follow_the_flows(city):
    public, noisy = _tables(city, 0.3)
    graph = MoveGraph.of(public, 4)
    visits = population(noisy, public, 1.0, 0.7)
    moves = population_moves(noisy, visits, graph, public)
    assert moves.total() == pytest.approx(1, abs=0.02)
    _, origin, destination, _ = city.transitions()
    moved = origin != destination
    truth = np.zeros((100, 100))
    np.add.at(truth, (origin[moved], destination[moved]), 1)
    found = moves.out[:, None] * moves.between[graph.group][:, graph.group] * moves.into
    found[graph.origin, graph.place] += moves.near
    p = visits.sum(axis=0) / visits.sum()
    assert _tv(found.ravel(), truth.ravel()) < 0.35 < _tv(np.outer(p, p).ravel(), truth.ravel())


def test_types_tell_two_kinds_of_people_apart():
    """Half live west and work north; half live east and work south."""
    rng = np.random.default_rng(0)
    n, grid = 4000, 6
    x, y = np.meshgrid(np.arange(grid), np.arange(grid))
    places = dt.Places(np.arange(36), 35 + y.ravel() / 100, 139 + x.ravel() / 100)
    clock = dt.simulate_city(users=2, places=4).traces.clock
    kind = np.arange(n) % 2
    home = np.where(kind == 0, 0, 5) + grid * rng.integers(6, size=n)
    work = np.where(kind == 0, 30, 0) + rng.integers(6, size=n)
    location = np.where(np.arange(36) < 18, home[:, None], work[:, None])
    traces = dt.SyntheticTraces(
        location, np.arange(n), np.zeros(n, int), places, clock
    ).as_traces()
    public, noisy = _tables(traces, 4.0)
    found = fit_types(noisy["types"], public, 5, 8, np.random.default_rng(0))
    assert len(found.weight) >= 2
    west = np.array([np.isin(g, np.unique(public.type_group[x.ravel() == 0])) for g in range(32)])
    north = np.array([np.isin(g, np.unique(public.type_group[y.ravel() == 5])) for g in range(32)])
    morning, evening = found.share[0][west].sum(axis=0), found.share[-1][north].sum(axis=0)
    together = (found.weight * morning * evening).sum()
    alone = (found.weight * morning).sum() * (found.weight * evening).sum()
    assert together > 0.42 > 0.33 > alone


def test_rhythm_has_the_shares_of_the_data(city):
    public, noisy = _tables(city, 2.0)
    steps, weight = rhythm(noisy, public.slots)
    np.testing.assert_allclose(steps.sum(axis=(1, 2)), 1)
    assert weight.sum() == pytest.approx(1)
    _, origin, destination, slot = city.transitions()
    moved = np.bincount(slot, origin != destination, minlength=36) / np.maximum(
        np.bincount(slot, minlength=36), 1
    )
    found = (steps[:, :, 1].sum(axis=1) * weight).sum(axis=1)
    np.testing.assert_allclose(found, moved[1:], atol=0.03)


def test_rhythm_of_check_ins_repeats_as_users_do():
    traces = dt.simulate_city(users=1000, places=100, seed=5, style="checkins").traces
    public, noisy = _tables(traces, 2.0, style="checkins")
    steps, weight = rhythm(noisy, public.slots)
    n = np.diff(traces.offsets)
    distinct = np.array([len(np.unique(traces.select([u]).location)) for u in range(1000)])
    stays = (steps[:, :, 0].sum(axis=1) * weight).sum(axis=1).mean()
    assert stays == pytest.approx(np.mean(1 - distinct / n), abs=0.1)
