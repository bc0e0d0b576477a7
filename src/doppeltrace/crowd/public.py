"""What the model takes from places and clock alone: no user's data enters here.

Groups of places, neighbours, trip-length bins and parts of the day decide *what* is counted, so
they must be known before anybody looks at the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from doppeltrace.traces import Clock, Places

KM_PER_DEGREE = 111.195
LEVELS = (2, 4, 6)
"""Depths of the k-d trees behind the coarse maps: 4, 16 and 64 groups of places."""
TYPE_DEPTH = 5
"""Depth of the map that types of users are told apart on: 32 groups."""
PARTS = 6
"""Parts of the cycle that types of users are told apart by."""
NEIGHBOURS = 24
"""Nearest places of each place between which moves are counted one by one."""
LENGTH_BINS = 16
"""Bins of trip lengths beyond the nearest neighbour's, growing geometrically."""
DISTANCE_SAMPLE = 300
"""Places whose distances to all others decide the longest bin."""

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublicInputs:
    """Everything that is decided before the data are read.

    Attributes
    ----------
    points : (X, 2) km north and east.
    levels : (X,) group of each place, for each depth of `LEVELS`, coarse to fine.
    type_group : (X,) group of each place on the map of the types.
    neighbours : (X, K) the K nearest other places, ascending within a row.
    length_edges : edges in km between the bins of trip lengths.
    part : (L,) part of the cycle of each slot.
    slots : (T,) slot of each instant of one cycle.
    """

    places: Places
    clock: Clock
    points: Floats
    levels: tuple[Labels, ...]
    type_group: Labels
    neighbours: Labels
    length_edges: Floats
    part: Labels
    slots: Labels

    @classmethod
    def of(cls, places: Places, clock: Clock) -> PublicInputs:
        """Derive them from places and clock."""
        points = kilometres(places)
        return cls(
            places=places,
            clock=clock,
            points=points,
            levels=tuple(kd_groups(points, depth) for depth in LEVELS),
            type_group=kd_groups(points, TYPE_DEPTH),
            neighbours=nearest(points, NEIGHBOURS),
            length_edges=length_edges(points),
            part=bands(clock.n_slots, PARTS),
            slots=clock.slot(clock.timeline()).astype(np.int64),
        )

    @property
    def n_places(self) -> int:
        """Return X, the number of places."""
        return len(self.points)

    @property
    def n_slots(self) -> int:
        """Return L, the number of slots."""
        return self.clock.n_slots

    @property
    def n_instants(self) -> int:
        """Return T, the instants of one cycle."""
        return len(self.slots)

    @property
    def n_parts(self) -> int:
        """Return the number of parts of the cycle."""
        return int(self.part.max()) + 1


def kilometres(places: Places) -> Floats:
    """Return (X, 2) km north and east on a plane: fine at the scale of a city."""
    shrink = np.cos(np.deg2rad(places.lat.mean()))
    return np.column_stack([places.lat, places.lng * shrink]) * KM_PER_DEGREE


def kd_groups(points: Floats, depth: int) -> Labels:
    """Return (X,) labels of at most 2**depth groups by median splits of the longer side.

    Deeper trees refine shallower ones.
    """
    label = np.zeros(len(points), dtype=np.int64)
    for _ in range(depth):
        label *= 2
        for group in np.unique(label):
            member = np.flatnonzero(label == group)
            if len(member) < 2:
                continue
            axis = int(np.argmax(np.ptp(points[member], axis=0)))
            order = np.lexsort((points[member, 1 - axis], points[member, axis]))
            label[member[order[len(member) // 2 :]]] += 1
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def nearest(points: Floats, number: int) -> Labels:
    """Return (X, K) the `number` nearest other places, or all others, ascending in a row."""
    n = len(points)
    k = min(number, n - 1)
    if k == 0:
        return np.zeros((n, 0), dtype=np.int64)
    found = KDTree(points).query(points, k=k + 1)[1]
    others = np.empty((n, k), dtype=np.int64)
    for x, row in enumerate(found):  # a place at the same point may come before the place itself
        others[x] = row[row != x][:k]
    others.sort(axis=1)
    return others


def length_edges(points: Floats) -> Floats:
    """Return edges in km: just above the usual nearest neighbour, then geometric."""
    n = len(points)
    sample = np.unique(np.linspace(0, n - 1, min(n, DISTANCE_SAMPLE)).astype(np.int64))
    farthest = max(float(np.linalg.norm(points - points[x], axis=1).max()) for x in sample)
    if n < 2 or farthest == 0:
        return np.ones(1)
    near = max(float(np.median(KDTree(points).query(points, k=2)[0][:, 1])), 1e-3)
    beyond = np.geomspace(near * 1.3, max(farthest * 0.8, near * 1.4), LENGTH_BINS)
    return np.concatenate([[near * 1.01], beyond])


def bands(length: int, number: int) -> Labels:
    """Return (length,) the band of each position when split into `number` equal ones."""
    number = min(number, length)
    return np.arange(length, dtype=np.int64) * number // length
