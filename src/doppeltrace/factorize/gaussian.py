"""Step (ii): both tensors factorized together by Gibbs sampling (the paper's appendix).

One `step` draws Ψ_A … Ψ_D, then A, B, C, D in turn from their conditionals. Everything over
users is a sum: fixed shards of users are summed in float32 and added in order in float64, so
the number of threads changes no bit of the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.engine.local import run, run_blocks, threads
from doppeltrace.factorize import _kernels as kernels
from doppeltrace.factorize.hyperprior import Hyper, NormalWishart
from doppeltrace.factorize.state import Factors, Observations, State

SHARD_USERS = 256
"""Users per shard: fixed, so that sums are added in the same order on any machine."""


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
    b, c, d = (_padded(rows) for rows in (old.B, old.C, old.D))

    a_new = np.empty_like(old.A)
    error = np.empty(len(a_new))
    quads, gram_size = _quads(b), _gram_size(b.shape[1])
    terms = _prior_terms(psi_a)
    key = streams.key(seed, "draw A", iteration, part)
    run_blocks(
        lambda first, last: kernels.draw_users(
            first, last, t.offsets, t.row, t.column, t.count, v.offsets, v.row, v.column, v.count,
            b, c, d, quads, gram_size, alpha, *terms, key, a_new, error,
        ),
        len(a_new),
    )  # fmt: skip
    a = _padded(a_new)

    def draw(name: str, rows: NDArray, psi: Hyper, *sums: _Sum) -> NDArray[np.float64]:
        gram, moment = _sum_over_shards(a, len(rows), sums)
        out = np.empty_like(rows)
        key = streams.key(seed, f"draw {name}", iteration, part)
        terms = _prior_terms(psi)
        run_blocks(
            lambda first, last: kernels.draw_rows(
                first, last, gram, moment, alpha, *terms, key, out
            ),
            len(out),
        )
        return out

    b_new = draw(
        "B", old.B, psi_b,
        _Sum(t.offsets, t.column, t.row, t.count, c), _Sum(v.offsets, v.column, v.row, v.count, d),
    )  # fmt: skip
    b = _padded(b_new)
    c_new = draw("C", old.C, psi_c, _Sum(t.offsets, t.row, t.column, t.count, b))
    d_new = draw("D", old.D, psi_d, _Sum(v.offsets, v.row, v.column, v.count, b))

    elements = observations.transitions.n_elements + observations.visits.n_elements
    rmse = float(np.sqrt(error.sum() / max(elements, 1)))
    return State(Factors(a_new, b_new, c_new, d_new), iteration), Info(rmse)


def rmse(factors: Factors, elements: Observations) -> float:
    """Return the root mean squared error of r̂ over the given elements, eq. (hr_one+two)."""
    squares = 0.0
    for tensor, last in ((elements.transitions, factors.C), (elements.visits, factors.D)):
        user = np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))
        estimate = np.einsum(
            "ek,ek,ek->e", factors.A[user], factors.B[tensor.row], last[tensor.column]
        )
        squares += float(np.sum((estimate - tensor.count) ** 2))
    n = elements.transitions.n_elements + elements.visits.n_elements
    return float(np.sqrt(squares / n)) if n else float("nan")


class _Sum(NamedTuple):
    """Elements whose f = a_n ∘ other[source] belongs to the row `target`."""

    offsets: NDArray[np.int64]
    source: NDArray
    target: NDArray
    value: NDArray
    other: NDArray[np.float32]


def _padded(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the rows in float32, with zero columns up to a multiple of four."""
    out = np.zeros((len(rows), -(-rows.shape[1] // 4) * 4), np.float32)
    out[:, : rows.shape[1]] = rows
    return out


def _quads(rows: NDArray[np.float32]) -> tuple[int, ...]:
    """Return the tuple whose length tells the kernels Z at compile time."""
    return (0,) * (rows.shape[1] // 4)


def _gram_size(columns: int) -> int:
    """Return H, the floats in the upper 4 × 4 blocks of a gram of this many columns."""
    blocks = columns // 4
    return 16 * blocks * (blocks + 1) // 2


def _prior_terms(psi: Hyper) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return psi.precision, psi.precision @ psi.mean


def _scratch(part: _Sum) -> NDArray[np.unsignedinteger]:
    """Return room for the elements of any shard, each a user and a source in one word."""
    at_shards = part.offsets[np.append(np.arange(0, len(part.offsets), SHARD_USERS), -1)]
    return np.empty(np.diff(at_shards).max(), f"u{2 * part.source.itemsize}")


def _sum_over_shards(
    a: NDArray[np.float32], n_rows: int, sums: tuple[_Sum, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gram (R, H) and moment (R, Z) of every row, summed over all users.

    Waves of shards run in parallel, one shard per thread, and are added in shard order.
    """
    lanes = threads()
    columns = a.shape[1]
    gram = np.zeros((n_rows, _gram_size(columns)))
    moment = np.zeros((n_rows, columns))
    gram_parts = np.zeros((lanes, *gram.shape), np.float32)
    moment_parts = np.zeros((lanes, *moment.shape), np.float32)
    packed_parts = [[_scratch(part) for part in sums] for _ in range(lanes)]
    quads = _quads(a)

    def add_shard(shards: NDArray[np.int64], lane: int) -> None:
        first = int(shards[lane])
        for part, packed in zip(sums, packed_parts[lane], strict=True):
            kernels.scatter_users(
                first, min(first + SHARD_USERS, len(a)),
                part.offsets, part.source, part.target, part.value,
                a, part.other, quads, packed, gram_parts[lane], moment_parts[lane],
            )  # fmt: skip

    def take_rows(first: int, last: int) -> None:
        kernels.take_parts(first, last, gram_parts, gram)
        kernels.take_parts(first, last, moment_parts, moment)

    starts = np.arange(0, len(a), SHARD_USERS)
    for wave in range(0, len(starts), lanes):
        shards = starts[wave : wave + lanes]
        run(partial(add_shard, shards), len(shards))
        run_blocks(take_rows, n_rows)
    return gram, moment
