"""The kernels against plain NumPy."""

import math

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.crowd import statistics
from doppeltrace.crowd.contributions import clipped_sum, counts_of_users, norms
from doppeltrace.crowd.ledger import GRID
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.statistics import CLASS_EDGES, HEADINGS, Clips

CLIPS = Clips(5.0, 2.0)


@pytest.fixture(params=["dense", "checkins"])
def counted(request):
    style = request.param
    traces = dt.simulate_city(users=60, places=36, seed=1, style=style).traces
    public = PublicInputs.of(traces.places, traces.clock)
    sums, heads = statistics.tables(traces, public, style, CLIPS, heads=True)
    found = statistics.layout(public, style, CLIPS)
    return (
        style, traces, public, statistics.split(sums, found), statistics.split(heads, found)
    )  # fmt: skip


def _sum(traces, user, key, size, clip):
    who, what, count = counts_of_users(user, key)
    return clipped_sum(who, what, count, traces.n_users, size, clip)


def test_visits_share_the_weight_of_the_coarsest_map(counted):
    _, traces, public, tables, heads = counted
    slot = traces.slot.astype(np.int64)
    coarse = public.levels[0]
    who, _, count = counts_of_users(
        traces.user, slot * (coarse.max() + 1) + coarse[traces.location]
    )
    norm = norms(who, count, traces.n_users)
    weight = np.minimum(1, CLIPS.visits / np.maximum(norm, 1e-300)) * (1 - 1e-12)
    n = public.n_places
    who, what, count = counts_of_users(traces.user, slot * n + traces.location)
    expected = np.zeros(public.n_slots * n, np.int64)
    np.add.at(expected, what, (count * weight[who] * GRID).astype(np.int64))
    np.testing.assert_array_equal(tables["visits of places"].ravel(), expected)
    users = np.bincount(what, minlength=len(expected))
    np.testing.assert_array_equal(heads["visits of places"].ravel(), users)


def test_moves(counted):
    _, traces, public, tables, _ = counted
    user, origin, destination, _ = traces.transitions()
    moved = origin != destination
    user, a, b = user[moved], origin[moved].astype(np.int64), destination[moved].astype(np.int64)
    n, fine = public.n_places, public.levels[-1]
    groups = fine.max() + 1
    flows = _sum(traces, user, fine[a] * groups + fine[b], groups**2, CLIPS.moves)
    np.testing.assert_array_equal(tables["flows"].ravel(), flows)
    km = np.linalg.norm(public.points[a] - public.points[b], axis=1)
    bins = np.searchsorted(public.length_edges, km, side="right")
    lengths = _sum(traces, user, bins, len(public.length_edges) + 1, 2 * CLIPS.moves)
    np.testing.assert_array_equal(tables["trip lengths"], lengths)
    ends = _sum(
        traces, np.concatenate([user, user]), np.concatenate([a, n + b]), 2 * n,
        math.sqrt(2) * CLIPS.moves,
    )  # fmt: skip
    np.testing.assert_array_equal(tables["ends of moves"].ravel(), ends)
    k = public.neighbours.shape[1]
    where = np.array([np.searchsorted(public.neighbours[x], y) for x, y in zip(a, b, strict=True)])
    near = (where < k) & (public.neighbours[a, np.minimum(where, k - 1)] == b)
    pairs = _sum(traces, user[near], (a * k + where)[near], n * k, CLIPS.moves)
    np.testing.assert_array_equal(tables["moves between neighbours"].ravel(), pairs)


def test_staying_and_turning(counted):
    style, traces, public, tables, _ = counted
    user, origin, destination, slot = traces.transitions()
    key = 2 * slot.astype(np.int64) + (origin != destination)
    stays = _sum(traces, user, key, 2 * public.n_slots, CLIPS.visits)
    np.testing.assert_array_equal(tables["stays"].ravel(), stays)
    steps = np.bincount(user, minlength=traces.n_users)
    moved = np.bincount(user[origin != destination], minlength=traces.n_users)
    n_classes = 5 if style == "dense" else 1
    mobility = np.searchsorted(CLASS_EDGES, moved / np.maximum(steps, 1), side="left")
    mobility = mobility if n_classes > 1 else np.zeros_like(mobility)
    first = np.flatnonzero((np.diff(traces.instant) == 1) & (np.diff(traces.user) == 0))
    two = first[1:][np.diff(first) == 1]
    x, y, z = (traces.location[two + i].astype(np.int64) for i in (-1, 0, 1))
    who = traces.user[two]
    key = ((2 * traces.slot[two + 1].astype(np.int64) + (x != y)) * 2 + (y != z)) * n_classes
    table = _sum(traces, who, key + mobility[who], 4 * public.n_slots * n_classes, CLIPS.visits)
    np.testing.assert_array_equal(tables["persistence"].ravel(), table)
    if style == "dense":
        both = (x != y) & (y != z)

        def heading(a, b):
            step = public.points[b] - public.points[a]
            turn = (np.arctan2(step[:, 0], step[:, 1]) + np.pi) / (2 * np.pi)
            return np.floor(turn * HEADINGS + 0.5).astype(int) % HEADINGS

        turns = (heading(y[both], z[both]) - heading(x[both], y[both])) % HEADINGS
        expected = _sum(traces, who[both], turns, HEADINGS, 2 * CLIPS.moves)
        np.testing.assert_array_equal(tables["turns"], expected)


def test_types(counted):
    style, traces, public, tables, _ = counted
    part, group = public.part[traces.slot], public.type_group[traces.location]
    n_parts, n_groups = public.n_parts, int(public.type_group.max()) + 1
    share = np.zeros((traces.n_users, n_parts, n_groups), np.int64)
    np.add.at(share, (traces.user, part, group), 1)
    seen = share.sum(axis=2, keepdims=True)
    share = np.where(seen > 0, share * 256 // np.maximum(seen, 1), 0)
    blocks = [
        np.einsum("ua,ub->ab", share[:, p], share[:, q]).ravel()
        for p in range(n_parts)
        for q in range(p + 1, n_parts)
    ]
    size = sum(map(len, blocks))
    np.testing.assert_array_equal(tables["types"][:size], np.concatenate(blocks))
    assert (len(tables["types"]) > size) == (style == "dense")


def test_repeats(counted):
    style, traces, _, tables, _ = counted
    if style == "checkins":
        n = np.diff(traces.offsets)
        distinct = [len(np.unique(traces.select([u]).location)) for u in range(traces.n_users)]
        cell = np.searchsorted(statistics.REPEAT_EDGES, (n - distinct) / n, side="left")
        expected = np.bincount(cell[n >= 2], minlength=5)
        np.testing.assert_array_equal(tables["repeats"], expected * GRID)


def test_days():
    """One day by hand: 0 0 0 1 · 0 0 (a gap before the last two)."""
    clock = dt.Clock.regular(instant_minutes=60, first_hour=8, last_hour=16, daily=False)
    places = dt.Places(np.arange(3), np.array([35.0, 35.1, 35.2]), np.full(3, 139.0))
    traces = dt.Traces.from_events(
        np.zeros(6, int), [0, 0, 0, 1, 0, 0], [0, 1, 2, 3, 5, 6], places=places, clock=clock
    )
    public = PublicInputs.of(places, clock)
    sums, _ = statistics.tables(traces, public, "dense", CLIPS)
    tables = statistics.split(sums, statistics.layout(public, "dense", CLIPS))
    days = tables["days"] // GRID
    cut = np.split(days, np.cumsum(statistics.CELLS)[:-1])
    distinct, moves, _, top, longest, back, long_stays = (int(np.argmax(c)) for c in cut)
    assert days.sum() == 7
    assert (distinct, moves, top, longest, back) == (2, 2, 20 * 5 // 6, 20 * 3 // 8, 2)
    assert long_stays == 2  # of at least two instants
    stays = tables["lengths of stay"] / GRID
    np.testing.assert_allclose(stays[:4], [1, 1, 1, 0], atol=1e-4)


def test_rare_cells_are_levelled(counted):
    from doppeltrace.crowd.measure import pool_rare

    style, traces, public, tables, heads = counted
    found = statistics.layout(public, style, CLIPS)
    flat = np.concatenate([tables[t.name].ravel() for t in found])
    users = np.concatenate([heads[t.name].ravel() for t in found])
    pooled = statistics.split(pool_rare(flat, users, found, 5, public.levels[1]), found)
    for table in found:
        rare = heads[table.name] < 5
        kept = ~rare
        np.testing.assert_array_equal(pooled[table.name][kept], tables[table.name][kept])
        rows = pooled[table.name].reshape(table.shape[0], -1)
        if len(table.shape) == 2:
            places = table.name == "visits of places"
            parts = public.levels[1] if places else np.zeros(rows.shape[1])
            before = tables[table.name].reshape(rows.shape)
            for row, few, sums in zip(rows, rare.reshape(rows.shape), before, strict=True):
                for part in np.unique(parts):  # alike within a group
                    assert len(np.unique(row[few & (parts == part)])) <= 1
                assert row.sum() <= sums.sum()
        else:
            assert len(np.unique(pooled[table.name][rare])) <= 1


def test_rare_cells_share_their_sum_as_predicted():
    """Two rare cells of a row hold 6 together; the prediction has them one to two."""
    rare = np.array([[True, False, True], [False, False, False]])
    table = statistics.Noisy(np.array([[3.0, 10.0, 3.0], [1.0, 2.0, 3.0]]), 0.0, rare)
    predicted = np.array([[5.0, 1.0, 10.0], [9.0, 9.0, 9.0]])
    np.testing.assert_allclose(table.beside(predicted), [[2, 10, 4], [1, 2, 3]])
    assert statistics.Noisy(table.value, 0.0).beside(predicted) is table.value


def test_rare_pairs_of_groups_tell_of_no_type():
    """What is left of a table whose cells are all rare is the product of its margins."""
    from doppeltrace.crowd.types import _without_types

    block = np.array([[8.0, 1.0], [1.0, 8.0]])
    np.testing.assert_allclose(_without_types(block, np.ones((2, 2), bool)), 4.5)
    kept = _without_types(block, np.array([[False, True], [True, False]]))
    np.testing.assert_allclose(kept, block)
    np.testing.assert_allclose(_without_types(block, np.zeros((2, 2), bool)), block)
