"""Step (ii): both tensors factorized together by Gibbs sampling (the paper's appendix).

One `step` draws Ψ_A … Ψ_D, then A, B, C, D in turn from their conditionals. What B, C and D need
of the users are sums (`sums`), user by user or, where many users share a cell, cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.engine import exact
from doppeltrace.engine.local import run_blocks
from doppeltrace.factorize import _dense_kernels as dense
from doppeltrace.factorize import _kernels as kernels
from doppeltrace.factorize.hyperprior import Hyper, NormalWishart
from doppeltrace.factorize.state import Factors, Observations, State
from doppeltrace.factorize.sums import (
    Part,
    Sums,
    draw_by_cells,
    gram_size,
    padded,
    quads,
    sum_by_user,
)


@dataclass(frozen=True)
class Info:
    """What a step tells: root mean squared error of r̂ over the observed elements."""

    rmse: float


def init(observations: Observations, factors: int, seed: int, part: int = 0) -> State:
    """Return the start: every entry uniform on [0, 1).

    part : tells apart the streams of factorizations under one seed.
    """
    users, places, slots = observations.visits.shape
    rng = streams.generator(seed, "initial factors", part)
    return State(
        Factors(*(rng.random((rows, factors)) for rows in (users, places, places, slots))),
        0,
    )


def step(
    state: State,
    observations: Observations,
    alpha: float,
    prior: NormalWishart,
    seed: int,
    part: int = 0,
) -> tuple[State, Info]:
    """Draw Ψ and then Θ once, each given the current values of the others."""
    iteration = state.iteration + 1
    old = state.factors
    rng = streams.generator(seed, "hyper-parameters", iteration, part)
    psi_a, psi_b, psi_c, psi_d = (
        prior.given(rows).draw(rng) for rows in (old.A, old.B, old.C, old.D)
    )
    t, v = observations.transitions, observations.visits
    b, c, d = (padded(rows) for rows in (old.B, old.C, old.D))

    a_new = np.empty_like(old.A)
    error = np.empty(len(a_new))
    terms = _prior_terms(psi_a)
    key = streams.key(seed, "draw A", iteration, part)
    run_blocks(
        lambda first, last: kernels.draw_users(
            first, last, t.offsets, t.row, t.column, t.count, v.offsets, v.row, v.column, v.count,
            b, c, d, quads(b), gram_size(b), alpha, *terms, key, a_new, error,
        ),
        len(a_new),
    )  # fmt: skip
    a = padded(a_new)

    def draw(name: str, rows: NDArray[Any], psi: Hyper, sums: Sums) -> NDArray[np.float64]:
        out = np.empty_like(rows)
        key = streams.key(seed, f"draw {name}", iteration, part)
        terms = _prior_terms(psi)
        run_blocks(
            lambda first, last: kernels.draw_rows(first, last, *sums, alpha, *terms, key, out),
            len(out),
        )
        return out

    if observations.cells is None:
        b_sums = sum_by_user(
            a,
            b,
            Part(t.offsets, t.column, t.row, t.count, c),
            Part(v.offsets, v.column, v.row, v.count, d),
        )
        b_new = draw("B", old.B, psi_b, b_sums)
        b = padded(b_new)
        c_sums = sum_by_user(a, c, Part(t.offsets, t.row, t.column, t.count, b))
        d_sums = sum_by_user(a, d, Part(v.offsets, v.row, v.column, v.count, b))
    else:
        b_new = np.empty_like(old.B)
        key = streams.key(seed, "draw B", iteration, part)
        c_sums, d_sums = draw_by_cells(
            observations.cells, a, c, d, alpha, _prior_terms(psi_b), key, b_new
        )
    c_new = draw("C", old.C, psi_c, c_sums)
    d_new = draw("D", old.D, psi_d, d_sums)

    elements = observations.transitions.n_elements + observations.visits.n_elements
    rmse = float(np.sqrt(exact.total(error) / max(elements, 1)))
    return State(Factors(a_new, b_new, c_new, d_new), iteration), Info(rmse)


def rmse(factors: Factors, elements: Observations) -> float:
    """Return the root mean squared error of r̂ over the given elements, eq. (hr_one+two)."""
    squares = 0.0
    for tensor, last in ((elements.transitions, factors.C), (elements.visits, factors.D)):
        user = np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))
        estimate = np.einsum(
            "ek,ek,ek->e", factors.A[user], factors.B[tensor.row], last[tensor.column]
        )
        squares += exact.total((estimate - tensor.count) ** 2)
    n = elements.transitions.n_elements + elements.visits.n_elements
    return float(np.sqrt(squares / n)) if n else float("nan")


def _prior_terms(psi: Hyper) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return psi.precision, dense.product(psi.precision, psi.mean[:, None])[:, 0]
