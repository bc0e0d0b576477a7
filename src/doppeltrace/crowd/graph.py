"""Which moves the chain knows one by one, and which by groups of places only.

A move is either *near* (to one of a place's nearest places, or to another place of its group) and
has a weight of its own, or *far*: out of x by group to b with weight out_x · between · into_b.
Memory and time grow with places × neighbours, not with places².
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from doppeltrace.crowd.public import LEVELS, PublicInputs, kd_groups, nearest

NEAR = 96
"""Nearest places of each place that moves reach one by one."""
GROUP_SIZE = 48
"""Places of one group of far moves, at most, roughly."""

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MoveGraph:
    """Where moves can go; public.

    Attributes
    ----------
    start : (X + 1,) near moves of x are start[x] … start[x + 1] − 1.
    place, origin : (E,) where each near move goes, ascending for one origin, and starts.
    sector : (E,) int8 heading of each near move.
    into : (E,) near moves ordered by destination; into_start : (X + 1,) where each begins.
    group : (X,) group of each place for far moves; parent : (G,) its group of 64.
    members : (X,) places ordered by group; member_start : (G + 1,).
    group_sector : (G, G) int8 heading from group to group.
    centre : (G, 2) km.
    """

    start: Labels
    place: Labels
    origin: Labels
    sector: NDArray[np.int8]
    into: Labels
    into_start: Labels
    group: Labels
    parent: Labels
    members: Labels
    member_start: Labels
    group_sector: NDArray[np.int8]
    centre: Floats
    n_headings: int

    @classmethod
    def of(cls, public: PublicInputs, n_headings: int) -> MoveGraph:
        """Build it from places alone."""
        points, n = public.points, public.n_places
        depth = max(LEVELS[-1], int(np.ceil(np.log2(max(n / GROUP_SIZE, 1)))))
        group = kd_groups(points, depth)
        n_groups = int(group.max()) + 1
        reach = nearest(points, NEAR)
        rows = [np.repeat(np.arange(n), reach.shape[1]),
                np.repeat(np.arange(n), public.neighbours.shape[1])]  # fmt: skip
        columns = [reach.ravel(), public.neighbours.ravel()]
        members = np.argsort(group, kind="stable")
        member_start = np.searchsorted(group[members], np.arange(n_groups + 1))
        for g in range(n_groups):
            inside = members[member_start[g] : member_start[g + 1]]
            rows.append(np.repeat(inside, len(inside)))
            columns.append(np.tile(inside, len(inside)))
        row, column = np.concatenate(rows), np.concatenate(columns)
        other = row != column
        row, column = row[other], column[other]
        matrix = csr_array((np.ones(len(row), np.int8), (row, column)), shape=(n, n))
        matrix.sum_duplicates()
        origin = np.repeat(np.arange(n), np.diff(matrix.indptr))
        place = matrix.indices.astype(np.int64)
        into = np.lexsort((origin, place))
        centre = np.column_stack(
            [np.bincount(group, points[:, a]) / np.bincount(group) for a in (0, 1)]
        )
        parent = np.zeros(n_groups, dtype=np.int64)
        parent[group] = public.levels[-1]
        return cls(
            start=matrix.indptr.astype(np.int64),
            place=place,
            origin=origin.astype(np.int64),
            sector=_sectors(points, origin, place, n_headings),
            into=into.astype(np.int64),
            into_start=np.searchsorted(place[into], np.arange(n + 1)).astype(np.int64),
            group=group,
            parent=parent,
            members=members.astype(np.int64),
            member_start=member_start.astype(np.int64),
            group_sector=_sectors(
                centre,
                np.repeat(np.arange(n_groups), n_groups),
                np.tile(np.arange(n_groups), n_groups),
                n_headings,
            ).reshape(n_groups, n_groups),
            centre=centre,
            n_headings=n_headings,
        )

    @property
    def n_places(self) -> int:
        """Return X."""
        return len(self.group)

    @property
    def n_groups(self) -> int:
        """Return G."""
        return len(self.parent)

    def find(self, origin: Labels, place: Labels) -> Labels:
        """Return the numbers of these near moves, −1 where a move is not near."""
        n = self.n_places
        every, wanted = self.origin * n + self.place, origin * n + place
        if len(every) == 0:
            return np.full(len(wanted), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(every, wanted), len(every) - 1)
        return np.where(every[at] == wanted, at, -1)


@dataclass(frozen=True, eq=False)
class Moves:
    """Weights of moves on a graph: near (E,), and far out_x · between_{G(x), G(b)} · into_b."""

    graph: MoveGraph
    near: Floats
    out: Floats
    between: Floats
    into: Floats

    def by_group(self) -> Floats:
        """Return (G, G) the far moves between groups."""
        g = self.graph
        out = np.bincount(g.group, self.out, minlength=g.n_groups)
        into = np.bincount(g.group, self.into, minlength=g.n_groups)
        return out[:, None] * self.between * into

    def total(self) -> float:
        """Return the sum over all moves."""
        return float(self.near.sum() + self.by_group().sum())

    def leaving(self) -> Floats:
        """Return (X,) moves out of each place."""
        g = self.graph
        into = np.bincount(g.group, self.into, minlength=g.n_groups)
        far = self.out * (self.between * into).sum(axis=1)[g.group]
        result: NDArray[np.float64] = np.bincount(g.origin, self.near, minlength=g.n_places) + far
        return result

    def arriving(self) -> Floats:
        """Return (X,) moves into each place."""
        g = self.graph
        out = np.bincount(g.group, self.out, minlength=g.n_groups)
        far = self.into * (self.between * out[:, None]).sum(axis=0)[g.group]
        result: NDArray[np.float64] = np.bincount(g.place, self.near, minlength=g.n_places) + far
        return result

    def between_parents(self) -> Floats:
        """Return (64, 64) moves between the groups that are counted."""
        g = self.graph
        top = int(g.parent.max()) + 1
        of = g.parent[g.group]
        near = np.bincount(of[g.origin] * top + of[g.place], self.near, minlength=top**2)
        pair = (g.parent[:, None] * top + g.parent).ravel()
        far = np.bincount(pair, self.by_group().ravel(), minlength=top**2)
        total: Floats = (near + far).astype(np.float64)
        return total.reshape(top, top)

    def times_parents(self, factor: Floats) -> Moves:
        """Multiply by a (64, 64) factor of groups."""
        g = self.graph
        of = g.parent[g.group]
        return replace(
            self,
            near=self.near * factor[of[g.origin], of[g.place]],
            between=self.between * factor[g.parent][:, g.parent],
        )

    def times_places(self, leaving: Floats | float = 1.0, arriving: Floats | float = 1.0) -> Moves:
        """Multiply by a factor of each origin and of each destination."""
        g = self.graph
        a, b = np.broadcast_to(leaving, g.n_places), np.broadcast_to(arriving, g.n_places)
        near = self.near * a[g.origin] * b[g.place]
        return replace(self, near=near, out=self.out * a, into=self.into * b)


def _sectors(points: Floats, origin: Labels, place: Labels, n_headings: int) -> NDArray[np.int8]:
    found = np.zeros(len(origin), dtype=np.int8)
    if n_headings > 1:
        step = points[place] - points[origin]
        turn = (np.arctan2(step[:, 0], step[:, 1]) + np.pi) / (2 * np.pi)
        found[:] = np.floor(turn * n_headings + 0.5).astype(np.int64) % n_headings
    return found
