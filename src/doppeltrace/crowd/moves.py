"""How people move: gravity by trip length, corrected by groups, by places, by neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.graph import MoveGraph, Moves
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.shrink import correction
from doppeltrace.crowd.statistics import Noisy

Floats = NDArray[np.float64]

ROUNDS = 2
"""Rounds of corrections: a finer table moves the sums of the coarser ones a little."""
ANYWHERE = 0.002
"""Share of moves that goes anywhere: nothing is impossible."""
_SAMPLING = 1.0  # a user makes the same move about once a day in each direction


def population_moves(
    tables: Mapping[str, Noisy], visits: Floats, graph: MoveGraph, public: PublicInputs
) -> Moves:
    """Return the expected moves, sum 1.

    visits : (L, X) the population; see `population.population`.
    """
    share = visits.sum(axis=0) / visits.sum()
    if graph.n_places < 2:
        nothing = np.zeros(graph.n_places)
        return Moves(graph, np.zeros(0), nothing, np.zeros((1, 1)), nothing)
    moves = _gravity(tables["trip lengths"], share, graph, public)
    moves = _scaled(moves, max(tables["flows"].value.sum(), 1.0))
    both, end_sigma = tables["ends of moves"]
    scale = moves.total() / max(both.sum() / 2, 1.0)
    for _ in range(ROUNDS):
        moves = _by_groups(moves, tables["flows"])
        ends = tables["ends of moves"].beside(np.stack([moves.leaving(), moves.arriving()]))
        out = correction(ends[0] * scale, moves.leaving(), end_sigma * scale, _SAMPLING)
        moves = moves.times_places(leaving=out)
        into = correction(ends[1] * scale, moves.arriving(), end_sigma * scale, _SAMPLING)
        moves = moves.times_places(arriving=into)
        moves = _by_neighbours(moves, tables["moves between neighbours"], public)
    return _anywhere(_scaled(moves, 1.0), share)


def _gravity(lengths: Noisy, share: Floats, graph: MoveGraph, public: PublicInputs) -> Moves:
    """Return moves ∝ p_x p_b f(length), with the f that gives the lengths their shares."""
    value, sigma = lengths
    wanted = np.where(value > sigma, value, 0.0)
    wanted = wanted if wanted.sum() > 0 else np.ones_like(value)
    near = share[graph.origin] * share[graph.place]
    near_bin = _bins(public.points[graph.place] - public.points[graph.origin], public)
    step = graph.centre[:, None] - graph.centre
    far_bin = _bins(step, public)
    rest = _not_near(near, share, graph)
    of_group = np.bincount(graph.group, share, minlength=graph.n_groups)
    far = of_group[:, None] * of_group * rest
    mass = np.bincount(near_bin, near, minlength=len(value))
    mass += np.bincount(far_bin.ravel(), far.ravel(), minlength=len(value))
    affinity = np.maximum(wanted / wanted.sum(), 1e-6) / np.maximum(mass, 1e-12)
    return Moves(graph, near * affinity[near_bin], share, rest * affinity[far_bin], share)


def _bins(step: Floats, public: PublicInputs) -> NDArray[np.int64]:
    km = np.sqrt((step**2).sum(axis=-1))
    result: NDArray[np.int64] = np.searchsorted(public.length_edges, km, side="right")
    return result


def _not_near(near: Floats, share: Floats, graph: MoveGraph) -> Floats:
    """Return (G, G) the share of p_x p_b between two groups that is not among the near moves."""
    n = graph.n_groups
    pair = graph.group[graph.origin] * n + graph.group[graph.place]
    inside = np.bincount(pair, near, minlength=n * n).reshape(n, n)
    of_group = np.bincount(graph.group, share, minlength=n)
    rest = np.clip(1 - inside / np.maximum(of_group[:, None] * of_group, 1e-300), 0, 1)
    rest[rest < 1e-9] = 0.0
    np.fill_diagonal(rest, 0.0)
    result: NDArray[np.float64] = rest
    return result


def _scaled(moves: Moves, total: float) -> Moves:
    factor = total / max(moves.total(), 1e-300)
    return replace(moves, near=moves.near * factor, between=moves.between * factor)


def _by_groups(moves: Moves, table: Noisy) -> Moves:
    """Correct what leaves and enters groups, then pairs both ways, then pairs one way."""
    flows, sigma = table.beside(moves.between_parents()), table.sigma
    n = len(flows)
    for axis in (1, 0):
        predicted = moves.between_parents().sum(axis=axis)
        fac = correction(flows.sum(axis=axis), predicted, sigma * np.sqrt(n), _SAMPLING)
        moves = moves.times_parents(np.broadcast_to(fac[:, None] if axis else fac, (n, n)))
    predicted = moves.between_parents()
    both = np.triu_indices(n)
    fac = correction(
        (flows + flows.T)[both], (predicted + predicted.T)[both], sigma * np.sqrt(2), _SAMPLING
    )
    square = np.ones((n, n))
    square[both] = fac
    square.T[both] = fac
    moves = moves.times_parents(square)
    return moves.times_parents(correction(flows, moves.between_parents(), sigma, _SAMPLING))


def _by_neighbours(moves: Moves, pairs: Noisy, public: PublicInputs) -> Moves:
    """Correct moves between neighbours: both ways together first, then one way."""
    graph, near = moves.graph, moves.near.copy()
    n, k = public.neighbours.shape
    origin, place = np.repeat(np.arange(n), k), public.neighbours.ravel()
    move = graph.find(origin, place)
    value = pairs.beside(near[move].reshape(n, k)).ravel()
    where = np.full(len(near), -1, dtype=np.int64)
    where[move] = np.arange(n * k)
    back = graph.find(place, origin)
    other = np.where(back >= 0, where[back], -1)
    one = np.flatnonzero((other >= 0) & (origin < place))
    two = other[one]
    a, b = move[one], move[two]
    fac = correction(
        value[one] + value[two], near[a] + near[b], pairs.sigma * np.sqrt(2), _SAMPLING
    )
    near[a] *= fac
    near[b] *= fac
    near[move] *= correction(value, near[move], pairs.sigma, _SAMPLING)
    return replace(moves, near=near)


def _anywhere(moves: Moves, share: Floats) -> Moves:
    """Mix in a little of p_x p_b."""
    graph = moves.graph
    p = np.maximum(share, 1e-3 / len(share))
    p /= p.sum()
    near = p[graph.origin] * p[graph.place]
    rest = _not_near(near, p, graph)
    of_group = np.bincount(graph.group, p, minlength=graph.n_groups)
    whole = near.sum() + (of_group[:, None] * of_group * rest).sum()
    spread = ANYWHERE / whole
    into = np.bincount(graph.group, moves.into, minlength=graph.n_groups)
    out = np.bincount(graph.group, moves.out, minlength=graph.n_groups)
    flow = spread * of_group[:, None] * of_group * rest / np.maximum(out[:, None] * into, 1e-300)
    return replace(
        moves,
        near=(1 - ANYWHERE) * moves.near + spread * near,
        between=(1 - ANYWHERE) * moves.between + flow,
    )
