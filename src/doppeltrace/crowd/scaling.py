"""Fit the chain: sequential iterative scaling.

A backward pass, then a forward pass that sets the potentials of one instant after another, each
with the messages of those already set; setting all at once diverges. Moves, turns and types are
corrected between passes from the sums of a whole pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd import _chain_kernels as kernels
from doppeltrace.crowd.chain import Chain, Floats, _mix
from doppeltrace.crowd.graph import Moves
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.engine.local import run_blocks
from doppeltrace.progress import Callback, Step

Wide = NDArray[np.float64]

ROUNDS = 15
"""Passes; moves and turns are corrected in every third of them but the last."""
DAMPING = 0.9
_TINY = np.float32(1e-30)
"""Keeps noise that outweighs the data from dividing by nothing."""
_MOVE_DAMPING = 0.65
_POSSIBLE = 0.003  # least share of a group for a type, relative to everybody's


@dataclass(frozen=True, eq=False)
class Targets:
    """What the chain is to agree with.

    Attributes
    ----------
    population : (T, X) share of people at each place, sum 1 per instant.
    moves : weights of moves, sum 1.
    steps : (T − 1, 2, 2, Q) shares of (moved before?, moves now?) per class.
    weight, mobility : (K,) share and mobility class of each kind of people.
    share : (P, G, K) where each kind is in each part of the cycle.
    turns : (H,) share of turns between two moves.
    """

    population: Wide
    moves: Moves
    steps: Wide
    weight: Wide
    mobility: NDArray[np.int64]
    share: Wide
    turns: Wide


@dataclass(frozen=True, eq=False)
class _Sums:
    """What one pass saw: kinds per place (T, X, K), near flows, flows by group, turns."""

    present: Floats
    near: Floats
    far: Wide
    turns: Wide


def refine(chain: Chain, targets: Targets, rounds: int) -> None:
    """Bring population and rhythm nearer to changed targets."""
    for _ in range(rounds):
        _sweep(chain, targets, flows=False)


def fit_chain(targets: Targets, public: PublicInputs, callback: Callback) -> Chain:
    """Return the chain that agrees with the targets, as far as they agree with each other."""
    chain = _start(targets, public)
    for number in range(ROUNDS):
        flows = number % 3 == 2 and number < ROUNDS - 3 and targets.moves.total() > 0
        sums = _sweep(chain, targets, flows)
        if number < ROUNDS - 2:
            _correct_types(chain, targets, sums.present)
        if flows:
            _correct_moves(chain, targets, sums)
        callback(Step("training", number + 1, ROUNDS + 1))
    return chain


def _start(targets: Targets, public: PublicInputs) -> Chain:
    """Return a chain of the moves alone, in which a usual share of steps moves."""
    moves, graph = targets.moves, targets.moves.graph
    p = np.maximum(targets.population.mean(axis=0), 1e-3 / public.n_places)
    p /= p.sum()
    n_classes = targets.steps.shape[3]
    of_class = np.bincount(targets.mobility, targets.weight, minlength=n_classes)
    usual = 0.5
    if len(targets.steps):
        usual = float(np.clip((targets.steps[:, :, 1].sum(axis=1) @ of_class).mean(), 0.02, 0.98))
    n_headings, n_kinds = graph.n_headings, len(targets.weight)
    turn = np.ones((n_headings + 1, n_headings))
    if n_headings > 1:
        lean = targets.turns / targets.turns.mean()
        for h in range(n_headings):
            turn[h + 1] = np.roll(lean, h)
    moving = np.full(n_kinds, usual)
    if len(targets.steps):
        moving = np.clip(targets.steps[0, 1].sum(axis=0), 0.002, 0.998)[targets.mobility]
    begin = np.stack([1 - moving] + [moving / n_headings] * n_headings)
    shape = (targets.share.shape[0], targets.share.shape[1], n_kinds)
    narrow = np.float32
    return Chain(
        graph=graph,
        part=public.part[public.slots],
        type_group=public.type_group,
        weight=targets.weight.astype(narrow),
        mobility=targets.mobility,
        site=np.ones(targets.population.shape, narrow),
        type_site=np.ones(shape, narrow),
        hold=np.clip(1 - usual * moves.leaving() / p, 0.05, 1).astype(narrow),
        near=(usual * moves.near / p[graph.origin]).astype(narrow),
        out=(usual * moves.out / p).astype(narrow),
        between=moves.between.astype(narrow),
        into=moves.into.astype(narrow),
        alpha=np.ones(targets.steps.shape, narrow),
        turn=turn.astype(narrow),
        begin=begin.astype(narrow),
    )


def _sweep(chain: Chain, targets: Targets, flows: bool) -> _Sums:
    """Set e and α of one instant after another."""
    n, h = chain.n_instants, chain.n_headings
    beta, back, scale = chain.backward()
    present = np.empty((n, chain.n_places, chain.n_kinds), dtype=np.float32)
    near = np.zeros(len(chain.near), dtype=np.float32)
    far = np.zeros(chain.between.shape)
    turns = np.zeros(h)
    state = chain.begin[:, None, :] * chain.at(0)
    for t in range(n):
        after = (state * beta[t]).sum(axis=0)
        present[t] = after / np.maximum(after.sum(axis=0), _TINY)
        factor = _set_site(chain, targets, t, present[t])
        state *= factor[:, None]
        if t == n - 1:
            break
        kind = chain.weight / np.maximum((after * factor[:, None]).sum(axis=0), _TINY)
        here = chain.at(t + 1)
        rest, moving = state[0], state[1:].sum(axis=0)
        turned = np.stack([_mix(chain.turn[1:, to], state[1:]) for to in range(h)])
        held = chain.hold[:, None] * here
        _set_alpha(
            chain, targets, t, kind,
            [(rest * held * beta[t + 1, 0]).sum(axis=0) * scale[t],
             (rest * back[t].sum(axis=0)).sum(axis=0),
             (moving * held * beta[t + 1, 0]).sum(axis=0) * scale[t],
             (turned * back[t]).sum(axis=(0, 1))],
        )  # fmt: skip
        alpha = chain.alpha_of_kinds(t)
        source = alpha[0, 1] * rest + alpha[1, 1] * turned
        arrived, leaving = chain.look_ahead(source)
        following = np.empty_like(state)
        following[0] = held * (alpha[0, 0] * rest + alpha[1, 0] * moving)
        following[1:] = here * arrived
        if flows:
            ahead = here * beta[t + 1, 1:]
            _add_flows(chain, source, leaving, ahead, kind * scale[t], near, far)
            pull = (state[1:, None] * back[t] * (alpha[1, 1] * kind)).sum(axis=(2, 3))
            seen = chain.turn[1:] * pull
            for before in range(h):
                turns += np.roll(seen[before], -before)
        state = following / np.maximum(following.mean(axis=(0, 1)), _TINY)
    return _Sums(present, near, far, turns)


def _set_site(chain: Chain, targets: Targets, t: int, present: Floats) -> Floats:
    """Bring the population of instant t nearer to its target; return the (X,) factor."""
    together = (present * chain.weight).sum(axis=1)
    ratio = targets.population[t] / np.maximum(together, 1e-12)
    factor = (np.clip(ratio, 0.2, 5.0) ** DAMPING).astype(np.float32)
    chain.site[t] *= factor
    result: NDArray[np.float32] = factor
    return result


def _set_alpha(
    chain: Chain, targets: Targets, t: int, kind: Floats, weights: list[Floats]
) -> None:
    """Bring the rhythm of step t nearer to its target.

    weights : (K,) of rest → rest, rest → move, move → rest, move → move without α.
    """
    n_classes = chain.alpha.shape[3]
    seen = np.empty((2, 2, n_classes))
    alpha = chain.alpha_of_kinds(t)
    for number, weight in enumerate(weights):
        before, now = divmod(number, 2)
        mass = alpha[before, now] * weight * kind
        seen[before, now] = np.bincount(chain.mobility, mass, minlength=n_classes)
    seen /= np.maximum(seen.sum(axis=(0, 1)), 1e-30)
    ratio = targets.steps[t] / np.maximum(seen, 1e-9)
    chain.alpha[t] *= (np.clip(ratio, 0.25, 4.0) ** DAMPING).astype(np.float32)


def _add_flows(
    chain: Chain,
    source: Floats,
    leaving: Floats,
    ahead: Floats,
    kind: Floats,
    near: Floats,
    far: Wide,
) -> None:
    """Add the expected moves of one step."""
    g = chain.graph
    run_blocks(
        lambda a, b: kernels.near_flows(
            g.start, g.place, g.sector, chain.near, source, ahead, kind, near, a, b
        ),
        chain.n_places,
    )
    into = chain._gather(ahead, chain.into)
    for h in range(chain.n_headings):
        pairs = np.einsum("ak,bk->ab", leaving[h] * kind, into[h])
        far += np.where(g.group_sector == h, chain.between * pairs, 0)


def _correct_types(chain: Chain, targets: Targets, present: Floats) -> None:
    """Bring each kind's share of each group in each part of the cycle nearer to its target."""
    if chain.n_kinds == 1:
        return
    n_groups = chain.type_site.shape[1]
    order = np.argsort(chain.type_group, kind="stable")
    starts = np.searchsorted(chain.type_group[order], np.arange(n_groups))
    for part in range(len(chain.type_site)):
        instants = np.flatnonzero(chain.part == part)
        if len(instants) == 0:
            continue
        mean = present[instants].mean(axis=0)
        seen = np.add.reduceat(mean[order], starts, axis=0)
        usual = (targets.share[part] * targets.weight).sum(axis=1)
        wanted = np.maximum(targets.share[part], _POSSIBLE * usual[:, None])
        wanted = wanted / wanted.sum(axis=0)
        ratio = np.clip(wanted / np.maximum(seen, 1e-9), 0.25, 4.0)
        chain.type_site[part] *= (ratio ** (DAMPING / len(instants))).astype(np.float32)


def _correct_moves(chain: Chain, targets: Targets, sums: _Sums) -> None:
    """Bring moves and turns nearer to their targets."""
    total = float(sums.near.sum(dtype=np.float64) + sums.far.sum())
    wanted = targets.moves

    def toward(target: Wide, seen: Wide) -> Floats:
        ratio = np.clip(target / np.maximum(seen / total, 1e-14), 1 / 3, 3)
        return (ratio**_MOVE_DAMPING).astype(np.float32)

    chain.near *= toward(wanted.near, sums.near.astype(np.float64))
    chain.between *= toward(wanted.by_group(), sums.far)
    if chain.n_headings > 1 and sums.turns.sum() > 0:
        ratio = targets.turns / np.maximum(sums.turns / sums.turns.sum(), 1e-6)
        lean = np.clip(ratio, 1 / 3, 3) ** _MOVE_DAMPING
        for h in range(chain.n_headings):
            chain.turn[h + 1] *= np.roll(lean, h).astype(np.float32)
