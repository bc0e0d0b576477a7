"""Do groups of people who live alike keep their places? Groups that need no model.

The profile of a trace is √(share of its events) in each part of the day and area: a vector of
unit length, so the inner product of two is their Bhattacharyya coefficient. Groups are found in
the training users by halving, again and again, the group with the largest scatter along its
principal axis, followed by a few rounds of spherical k-means; or they are given (a simulated city
knows them). There is no seed, and the order of the users does not matter.

Every trace, real or synthetic, then belongs to the group whose centre is nearest to *its own*
profile. Owners are not asked for, so a release without owners is judged like any other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import InputError
from doppeltrace.traces import Traces
from doppeltrace.utility import _kernels as kernels
from doppeltrace.utility.areas import PARTS, areas, day_parts, n_areas
from doppeltrace.utility.population import total_variation

MAX_GROUPS = 6
USERS_PER_GROUP = 40
"""With few users there are fewer groups, at least two."""
MAX_USERS = 5_000
"""Groups are found from this many training users at most, evenly spread."""
ROUNDS = 10

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grouping:
    """Centres of groups.

    Attributes
    ----------
    centres : (n_groups, parts · areas) float64, rows of unit length.
    given : whether the groups are the true ones, not found.
    """

    centres: Floats
    given: bool = False

    @classmethod
    def find(cls, train: Traces) -> Grouping:
        """Return groups of the training users."""
        every = -(-train.n_users // MAX_USERS)
        x = profiles(train.select(np.arange(0, train.n_users, every)) if every > 1 else train)
        x = np.ascontiguousarray(x[np.lexsort(x.T)])  # whatever the order of the users
        n_groups = int(np.clip(train.n_users // USERS_PER_GROUP, 2, MAX_GROUPS))
        return cls(_refine(x, _halve(x, n_groups)))

    @classmethod
    def of_labels(cls, train: Traces, labels: ArrayLike) -> Grouping:
        """Return the centres of the true groups: `labels` (n_users,) of the training users."""
        label = np.asarray(labels)
        if label.shape != (train.n_users,):
            raise InputError(
                f"groups has shape {label.shape}: give one label for each of the "
                f"{train.n_users} training users"
            )
        x, seen = profiles(train), np.diff(train.offsets) > 0
        names = np.unique(label[seen])
        return cls(
            np.stack([_unit(x[seen & (label == name)].sum(axis=0)) for name in names]), True
        )

    @property
    def n_groups(self) -> int:
        """Return the number of groups."""
        return len(self.centres)

    def count(self, traces: Traces) -> tuple[Counts, Counts]:
        """Return (n_groups,) traces and (n_groups, parts, n_places) events of each group."""
        n_places = len(traces.places)
        sizes = np.zeros(self.n_groups, dtype=np.int64)
        events = np.zeros((self.n_groups, len(PARTS), n_places), dtype=np.int64)
        kernels.count_groups(
            traces.offsets,
            traces.location,
            day_parts(traces.clock, traces.instant),
            areas(traces.places),
            n_areas(n_places),
            self.centres,
            sizes,
            events,
        )
        return sizes, events


def profiles(traces: Traces) -> Floats:
    """Return (n_users, parts · areas) the profile of each user; zeros for one without events."""
    n = n_areas(len(traces.places))
    out = np.zeros((traces.n_users, len(PARTS) * n))
    part = day_parts(traces.clock, traces.instant)
    kernels.profiles(traces.offsets, traces.location, part, areas(traces.places), n, out)
    return out


def _unit(vector: Floats) -> Floats:
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector


def _halve(x: Floats, n_groups: int) -> list[Floats]:
    """Return the parts of x (rows are profiles) after n_groups − 1 cuts, or fewer if alike."""
    parts = [x]
    while len(parts) < n_groups:
        scatter = [float(((p - p.mean(axis=0)) ** 2).sum()) for p in parts]
        widest = int(np.argmax(scatter))
        if scatter[widest] <= 1e-12:
            break
        part = parts.pop(widest)
        centred = part - part.mean(axis=0)
        axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        above = centred @ axis > 0
        if above.all() or not above.any():
            parts.append(part)
            break
        parts += [part[above], part[~above]]
    return parts


def _refine(x: Floats, parts: list[Floats]) -> Floats:
    """Return the centres after a few rounds of spherical k-means."""
    centres = np.stack([_unit(part.sum(axis=0)) for part in parts])
    for _ in range(ROUNDS):
        nearest = np.argmax(x @ centres.T, axis=1)
        sums = np.stack([x[nearest == g].sum(axis=0) for g in range(len(centres))])
        sums = np.where(sums.any(axis=1, keepdims=True), sums, centres)
        centres = np.stack([_unit(row) for row in sums])
    return centres


def size_tv(test: Counts, other: Counts) -> float:
    """Return the total variation of the shares of traces in each group; NaN if there are none."""
    if test.sum() == 0 or other.sum() == 0:
        return float("nan")
    return float(total_variation(test / test.sum(), other / other.sum()))


def group_tv(test: Counts, other: Counts) -> float:
    """Return the total variation over places per group and part of the day, a weighted mean.

    Weights are the testing events. A group that is not there at that time in `other` has
    nothing in common: 1.
    """
    weight, seen = test.sum(axis=-1), other.sum(axis=-1)
    if weight.sum() == 0:
        return float("nan")
    p, q = (x / np.maximum(x.sum(axis=-1, keepdims=True), 1) for x in (test, other))
    tv = np.where(seen > 0, total_variation(p, q), 1.0)
    return float(np.average(tv, weights=weight))
