"""The maximum-entropy chain that agrees with population, moves, rhythm, turns and types.

p(x, m, k) ∝ w_k Π_t e_t(x_t) c_{part(t), k}(group of x_t) Π_t step_t, where a step either stays
(hold_x · α_t[moved before, 0, class of k]) or moves along the graph
(R(x, b) · turn[m, heading] · α_t[moved before, 1, class of k]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd import _chain_kernels as kernels
from doppeltrace.crowd.graph import MoveGraph
from doppeltrace.engine.local import run_blocks

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(eq=False)
class Chain:
    """Potentials of the chain; K kinds of people, M = 1 + H states of motion.

    Attributes
    ----------
    graph : where moves can go.
    part : (T,) part of the cycle of each instant; type_group : (X,).
    weight : (K,) share of each kind; mobility : (K,) its mobility class.
    site : (T, X) e; type_site : (P, G, K) c.
    hold : (X,) weight of staying.
    near, out, between, into : R, as in `graph.Moves`.
    alpha : (T − 1, 2, 2, Q); turn : (M, H), 1 after a stay.
    begin : (M, K) motion before the first instant.
    """

    graph: MoveGraph
    part: Labels
    type_group: Labels
    weight: Floats
    mobility: Labels
    site: Floats
    type_site: Floats
    hold: Floats
    near: Floats
    out: Floats
    between: Floats
    into: Floats
    alpha: Floats
    turn: Floats
    begin: Floats

    @property
    def n_instants(self) -> int:
        """Return T."""
        return len(self.site)

    @property
    def n_places(self) -> int:
        """Return X."""
        result: int = self.site.shape[1]
        return result

    @property
    def n_kinds(self) -> int:
        """Return K."""
        return len(self.weight)

    @property
    def n_headings(self) -> int:
        """Return H."""
        return self.graph.n_headings

    def at(self, t: int) -> Floats:
        """Return (X, K) the weight of being at a place at instant t."""
        result: NDArray[np.float32] = (
            self.site[t][:, None] * self.type_site[self.part[t]][self.type_group]
        )
        return result

    def alpha_of_kinds(self, t: int) -> Floats:
        """Return (2, 2, K) α_t of each kind."""
        result: NDArray[np.float32] = self.alpha[t][:, :, self.mobility]
        return result

    def look_back(self, ahead: Floats) -> tuple[Floats, Floats]:
        """Return (H, X, K) Σ_b R(x, b) ahead[h, b], and the (H, G, K) sums of `ahead` by group."""
        g = self.graph
        into = self._gather(ahead, self.into)
        across = np.empty_like(into)
        run_blocks(
            lambda a, b: kernels.across_groups(
                into, self.between, g.group_sector, across, True, a, b
            ),
            g.n_groups,
        )
        back = np.empty_like(ahead)
        run_blocks(
            lambda a, b: kernels.backward_near(
                g.start, g.place, g.sector, self.near, ahead, g.group, self.out, across, back, a, b
            ),
            self.n_places,
        )
        return back, into

    def look_ahead(self, source: Floats) -> tuple[Floats, Floats]:
        """Return (H, X, K) Σ_x R(x, b) source[h, x], and the (H, G, K) sums of `source`."""
        g = self.graph
        leaving = self._gather(source, self.out)
        across = np.empty_like(leaving)
        run_blocks(
            lambda a, b: kernels.across_groups(
                leaving, self.between, g.group_sector, across, False, a, b
            ),
            g.n_groups,
        )
        found = np.empty_like(source)
        run_blocks(
            lambda a, b: kernels.forward_near(
                g.into_start, g.into, g.origin, g.sector, self.near, source, g.group, self.into,
                across, found, a, b,
            ),
            self.n_places,
        )  # fmt: skip
        return found, leaving

    def _gather(self, values: Floats, factor: Floats) -> Floats:
        g = self.graph
        out = np.empty((self.n_headings, g.n_groups, self.n_kinds), dtype=np.float32)
        run_blocks(
            lambda a, b: kernels.gather_groups(
                values, factor, g.members, g.member_start, out, a, b
            ),
            g.n_groups,
        )
        return out

    def backward(self, keep_steps: bool = True) -> tuple[Floats, Floats, Floats]:
        """Return the backward messages.

        Returns
        -------
        beta : (T, M, X, K) weight of all that follows instant t, scaled to mean 1.
        back : (T − 1, H, X, K) weight of moving on from t with each heading (empty if not kept).
        scale : (T − 1, K) what t was scaled by.
        """
        n, h, x, k = self.n_instants, self.n_headings, self.n_places, self.n_kinds
        beta = np.empty((n, h + 1, x, k), dtype=np.float32)
        back = np.empty((n - 1 if keep_steps else 0, h, x, k), dtype=np.float32)
        scale = np.ones((max(n - 1, 0), k), dtype=np.float32)
        beta[-1] = 1
        for t in range(n - 2, -1, -1):
            ahead = beta[t + 1] * self.at(t + 1)
            alpha = self.alpha_of_kinds(t)
            stay = self.hold[:, None] * ahead[0]
            going, _ = self.look_back(ahead[1:])
            beta[t, 0] = alpha[0, 0] * stay + alpha[0, 1] * going.sum(axis=0)
            for m in range(1, h + 1):
                mixed = _mix(self.turn[m], going)
                beta[t, m] = alpha[1, 0] * stay + alpha[1, 1] * mixed
            scale[t] = 1 / np.maximum(beta[t].mean(axis=(0, 1)), np.float32(1e-30))
            beta[t] *= scale[t]
            if keep_steps:
                back[t] = going * scale[t]
        return beta, back, scale

    def present(self) -> Floats:
        """Return (T, X, K) where each kind is at each instant; sums to 1 over places."""
        n, h = self.n_instants, self.n_headings
        beta, _, _ = self.backward(keep_steps=False)
        found = np.empty((n, self.n_places, self.n_kinds), dtype=np.float32)
        state = self.begin[:, None, :] * self.at(0)
        for t in range(n):
            after = (state * beta[t]).sum(axis=0)
            found[t] = after / after.sum(axis=0)
            if t == n - 1:
                break
            alpha, here = self.alpha_of_kinds(t), self.at(t + 1)
            rest, moving = state[0], state[1:].sum(axis=0)
            turned = np.stack([_mix(self.turn[1:, to], state[1:]) for to in range(h)])
            arrived, _ = self.look_ahead(alpha[0, 1] * rest + alpha[1, 1] * turned)
            state[0] = self.hold[:, None] * here * (alpha[0, 0] * rest + alpha[1, 0] * moving)
            state[1:] = here * arrived
            state /= state.mean(axis=(0, 1))
        return found


def _mix(factor: Floats, values: Floats) -> Floats:
    """Return Σ_h factor_h values[h]."""
    out = factor[0] * values[0]
    for h in range(1, len(values)):
        out += factor[h] * values[h]
    result: NDArray[np.float32] = out
    return result
