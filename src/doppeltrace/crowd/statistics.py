"""All statistics of the model: what is counted, with which bound, from which share of the budget.

Two passes over the users, each adding whole numbers into one vector, so parts of the users can
be counted anywhere and summed exactly:

1. `first_look`: how many users, how dense their events, how large their contributions. Its noisy
   result chooses the style and the clips.
2. `tables`: everything else, with those clips.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd import _kernels as kernels
from doppeltrace.crowd._day_kernels import CELLS, DWELL_CLIP, N_DWELLS
from doppeltrace.crowd.ledger import Ledger
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.engine.local import run, threads
from doppeltrace.traces import Traces

Style = Literal["dense", "checkins"]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

NORM_BINS = 49
"""Bins of norms: upper edges 2^−1, 2^−¾, … 2^11."""
CLASS_EDGES = np.array([0.0, 0.15, 0.3, 0.5])
"""Shares of steps that move at which one mobility class ends and the next begins."""
REPEAT_EDGES = np.array([0.1, 0.3, 0.5, 0.7])
"""Shares of events at a place seen before at which one class of check-in users ends."""
HEADINGS = 4
"""Sectors of the compass in which a move can point."""
NO_CYCLE = 2**40
"""Length of the cycle of a clock that does not repeat."""

FIRST_LOOK: Mapping[str, float] = {
    "users": 0.004,
    "continuity": 0.002,
    "visit norms": 0.008,
    "move norms": 0.008,
    "events per day": 0.006,
}
"""Shares of ρ for the first look."""

SHARES: Mapping[Style, Mapping[str, float]] = {
    "dense": {
        "visits of 4 groups": 0.01,
        "visits of 16 groups": 0.02,
        "visits of 64 groups": 0.05,
        "visits of places": 0.33,
        "flows": 0.055,
        "trip lengths": 0.025,
        "ends of moves": 0.06,
        "moves between neighbours": 0.11,
        "stays": 0.015,
        "persistence": 0.03,
        "turns": 0.01,
        "types": 0.20,
        "days": 0.045,
        "lengths of stay": 0.012,
    },
    "checkins": {
        "visits of 4 groups": 0.01,
        "visits of 16 groups": 0.03,
        "visits of 64 groups": 0.08,
        "visits of places": 0.37,
        "flows": 0.08,
        "trip lengths": 0.04,
        "ends of moves": 0.06,
        "moves between neighbours": 0.06,
        "stays": 0.015,
        "persistence": 0.007,
        "repeats": 0.01,
        "types": 0.21,
    },
}
"""Shares of ρ for the tables; with the first look they add up to 1."""


@dataclass(frozen=True)
class Clips:
    """Bounds of the norms of one user's visits and moves, and about what share they keep."""

    visits: float
    moves: float
    kept_visits: float = 1.0
    kept_moves: float = 1.0

    def kept(self, table: str) -> float:
        """Return the share of a table's counts that clipping keeps, as far as it is known."""
        by_visits = table.startswith("visits") or table in ("stays", "persistence")
        by_moves = table in ("flows", "moves between neighbours")
        return self.kept_visits if by_visits else self.kept_moves if by_moves else 1.0


@dataclass(frozen=True, eq=False)
class Noisy:
    """A released table: its values in events, and the σ of the noise of each (0: none).

    rare : cells of too few users, which share their sum evenly (without noise only).
    """

    value: Floats
    sigma: float
    rare: NDArray[np.bool_] | None = None

    def beside(self, predicted: Floats) -> Floats:
        """Return the values, rare cells sharing their sum (of each row) as the prediction does.

        They then say how many there are together, and nothing of one of them.
        """
        if self.rare is None or not self.rare.any():
            return self.value
        share = np.where(self.rare, np.maximum(predicted, 1e-300), 0.0)
        total = np.where(self.rare, self.value, 0.0).sum(axis=-1, keepdims=True)
        share *= total / np.maximum(share.sum(axis=-1, keepdims=True), 1e-300)
        return np.where(self.rare, share, self.value)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.value, self.sigma))


@dataclass(frozen=True)
class Table:
    """One table: name, shape, Δ as a function of the clips is `bound`."""

    name: str
    shape: tuple[int, ...]
    bound: float

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return math.prod(self.shape)


def classes(style: Style) -> NDArray[np.float64]:
    """Return the edges between mobility classes: check-ins do not tell them apart."""
    return CLASS_EDGES if style == "dense" else np.zeros(0)


def n_headings(style: Style) -> int:
    """Return in how many sectors moves can point: check-ins do not tell."""
    return HEADINGS if style == "dense" else 1


def layout(public: PublicInputs, style: Style, clips: Clips) -> list[Table]:
    """Return the tables of the second pass in the order in which they lie end to end."""
    n_slots, n_places = public.n_slots, public.n_places
    fine = int(public.levels[-1].max()) + 1
    groups = int(public.type_group.max()) + 1
    parts, n_classes = public.n_parts, len(classes(style)) + 1
    pairs = parts * (parts - 1) // 2
    co_occurrences = pairs * groups**2 + (parts * groups * n_classes if n_classes > 1 else 0)
    blocks = pairs + (parts if n_classes > 1 else 0)
    names = [name for name in SHARES[style] if name.startswith("visits")]
    sizes = [int(level.max()) + 1 for level in public.levels] + [n_places]
    found = [
        Table(name, (n_slots, size), clips.visits) for name, size in zip(names, sizes, strict=True)
    ]
    found += [
        Table("flows", (fine, fine), clips.moves),
        Table("trip lengths", (len(public.length_edges) + 1,), 2 * clips.moves),
        Table("ends of moves", (2, n_places), math.sqrt(2) * clips.moves),
        Table("moves between neighbours", public.neighbours.shape, clips.moves),
        Table("stays", (n_slots, 2), clips.visits),
        Table("persistence", (n_slots, 2, 2, n_classes), clips.visits),
    ]
    if style == "dense":
        found.append(Table("turns", (HEADINGS,), 2 * clips.moves))
    else:
        found.append(Table("repeats", (len(REPEAT_EDGES) + 1,), 1.0))
    found.append(Table("types", (co_occurrences,), math.sqrt(max(blocks, 1))))
    if style == "dense":
        found.append(Table("days", (sum(CELLS),), math.sqrt(len(CELLS))))
        found.append(Table("lengths of stay", (N_DWELLS,), DWELL_CLIP))
    return found


def first_look(traces: Traces, public: PublicInputs) -> Integers:
    """Return the sums of the first pass, in units of 1 / GRID; they add up over users."""
    cycle = public.clock.cycle or NO_CYCLE
    size = 2 + 2 * NORM_BINS + public.n_instants
    columns = _columns(traces)
    return _summed(
        lambda table, first, last: kernels.scan(
            *columns, public.levels[0], public.levels[-1], cycle, public.n_instants, NORM_BINS,
            table, first, last,
        ),
        traces.n_users,
        size,
    )  # fmt: skip


def tables(
    traces: Traces, public: PublicInputs, style: Style, clips: Clips, *, heads: bool = False
) -> tuple[Integers, Integers]:
    """Return the sums of the second pass in units of 1 / GRID, and users per cell if `heads`."""
    found = layout(public, style, clips)
    base = dict(
        zip((t.name for t in found), np.cumsum([0] + [t.size for t in found]), strict=False)
    )
    size = sum(t.size for t in found)
    offsets, location, instant, slot = _columns(traces)
    levels = np.stack([*public.levels, np.arange(public.n_places)])
    n_groups = levels.max(axis=1) + 1
    visit_bases = np.array([base[t.name] for t in found[: len(levels)]])
    moves = ["flows", "trip lengths", "ends of moves", "moves between neighbours", "stays",
             "persistence", "turns"]  # fmt: skip
    move_bases = np.array([base.get(name, -1) for name in moves])
    class_edges, n_head = classes(style), n_headings(style)
    scale = radius_scale(public)
    cycle = public.clock.cycle or NO_CYCLE

    def count(both: Integers, first: int, last: int) -> None:
        table, seen = both[:size], both[size:]
        kernels.count_visits(
            offsets, location, slot, levels, n_groups, clips.visits, visit_bases,
            table, seen, first, last,
        )  # fmt: skip
        kernels.count_moves(
            offsets, location, instant, slot, public.points, public.levels[-1],
            public.length_edges, public.neighbours, class_edges, n_head,
            clips.visits, clips.moves, move_bases, table, seen, first, last,
        )  # fmt: skip
        kernels.count_types(
            offsets, location, instant, slot, public.part, public.type_group, class_edges,
            base["types"], table, seen, first, last,
        )  # fmt: skip
        if "repeats" in base:
            kernels.count_repeats(
                offsets, location, REPEAT_EDGES, base["repeats"], table, seen, first, last
            )
        if "days" in base:
            kernels.count_days(
                offsets, location, instant, public.points, scale, cycle, public.n_instants,
                base["days"], table, seen, first, last,
            )  # fmt: skip

    both = _summed(count, traces.n_users, 2 * size if heads else size)
    return both[:size], both[size:]


def radius_scale(public: PublicInputs) -> float:
    """Return the places' own radius in km, the unit of radii of days."""
    return max(float(np.sqrt(public.points.var(axis=0).sum())), 1e-9)


def split(vector: Integers, found: list[Table]) -> dict[str, Integers]:
    """Return each table of a vector in its shape."""
    cuts = np.cumsum([t.size for t in found])[:-1]
    return {
        t.name: part.reshape(t.shape)
        for t, part in zip(found, np.split(vector, cuts), strict=True)
    }


def release_tables(
    ledger: Ledger, vector: Integers, style: Style, found: list[Table], clips: Clips
) -> dict[str, Noisy]:
    """Return every table with its noise, scaled up by what clipping took away."""
    noisy = {}
    for table, total in zip(found, split(vector, found).values(), strict=True):
        value, sigma = ledger.release(table.name, total, table.bound, SHARES[style][table.name])
        kept = clips.kept(table.name)
        noisy[table.name] = Noisy(value / kept, sigma / kept)
    return noisy


def _columns(
    traces: Traces,
) -> tuple[Integers, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return (offsets, location, instant, slot) as the kernels take them."""
    return traces.offsets, traces.location, traces.instant, traces.slot


def _summed(count, n_users: int, size: int) -> Integers:  # type: ignore[no-untyped-def]
    """Run count(table, first, last) over blocks of users, and add up their tables."""
    n_blocks = max(1, min(n_users, threads()))
    parts = np.zeros((n_blocks, size), dtype=np.int64)
    cut = [n_users * i // n_blocks for i in range(n_blocks + 1)]
    run(lambda i: count(parts[i], cut[i], cut[i + 1]), n_blocks)
    result: NDArray[np.int64] = parts.sum(axis=0)
    return result
