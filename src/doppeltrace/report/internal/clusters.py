"""Which groups of users the model found: each factor's people, places and hours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doppeltrace.evaluation.measure import KEPT, LOST
from doppeltrace.factorize.state import Factors
from doppeltrace.report.figures.encoding import packed, plain
from doppeltrace.report.figures.slots import ALL_DAY, busy_hours
from doppeltrace.report.figures.words import cut, percent
from doppeltrace.report.figures.zones import zones
from doppeltrace.traces import Places, SyntheticTraces, Traces
from doppeltrace.utility.clusters import cluster_members, place_counts
from doppeltrace.utility.mobility import haversine_km
from doppeltrace.utility.population import distributions, total_variation
from doppeltrace.utility.summary import CHUNK

TOP_PLACES = 5
NAMED = 3
NEARLY_ALL = 0.9
"""Share of a cluster's events whose distance from the centre is its spread."""
STANDS_OUT = 0.05
"""A category or zone is named if its share in the cluster exceeds that overall by this."""
NAMED_ZONES = 2
NAME_LENGTH = 24
"""Longer names of places and categories are cut where several stand in a row."""
SURVIVED, BLURRED, GONE, NO_GROUP = "survived", "blurred", "lost", "like all users"
MIN_OWN = 0.1
"""A cluster nearer than this to all users together has too little of its own to be lost."""

Share = tuple[str, float, float]
"""A category or zone, its share of the cluster's events, and of all users' events."""


@dataclass(frozen=True)
class Cluster:
    """One factor: the tenth of the users with most of it.

    Attributes
    ----------
    users, traces : number of members, and of released traces made from them.
    hours : (slots,) the factor's column of D, as shares.
    places, next_places : (place, share) of the largest entries of its columns of B and C.
    scale, real, synthetic : events of its members per shown place, as `encoding.packed`.
    tv, everyone_tv : total variation of its members' training events from their synthetic
        ones, and from the training events of all users together.
    verdict : "survived", "blurred" or "lost", by the first as a part of the second, or "like
        all users".
    spread_km : radius around their centre that holds nine tenths of the members' events.
    name, title, description : in words: what and where; also when; and with figures.
    """

    users: int
    traces: int
    hours: list[float | None]
    places: list[tuple[int, float]]
    next_places: list[tuple[int, float]]
    scale: float
    real: str
    synthetic: str
    tv: float
    everyone_tv: float
    verdict: str
    spread_km: float
    name: str
    title: str
    description: str


@dataclass(frozen=True, eq=False)
class ClusterCounts:
    """Events per place of each cluster's members, and what the factors say.

    Attributes
    ----------
    real, made : (z, n_places) training and synthetic events.
    traces : (z,) released traces made from members.
    size : members of each cluster.
    first, then, hours : columns of B, C and D as shares, (z, n_places) and (z, n_slots).
    """

    real: NDArray[np.int64]
    made: NDArray[np.int64]
    traces: NDArray[np.int64]
    size: int
    first: NDArray[np.float64]
    then: NDArray[np.float64]
    hours: NDArray[np.float64]


def count_clusters(train: Traces, made: SyntheticTraces, factors: Factors) -> ClusterCounts:
    """Count each cluster's events; synthetic traces `CHUNK` at a time."""
    members = cluster_members(factors.A, train.n_users)
    n_places = len(train.places)
    synthetic = np.zeros((len(members), n_places), dtype=np.int64)
    for start in range(0, len(made), CHUNK):
        part = made.select(np.arange(start, min(len(made), start + CHUNK)))
        present = part.locations >= 0
        owner = np.repeat(part.owner, present.sum(axis=1))
        synthetic += place_counts(part.locations[present], owner, members, n_places)
    made_from = np.bincount(made.owner, minlength=train.n_users)
    return ClusterCounts(
        real=place_counts(train.location, train.user, members, n_places),
        made=synthetic,
        traces=made_from[members].sum(axis=1),
        size=members.shape[1],
        first=column_shares(factors.B),
        then=column_shares(factors.C),
        hours=column_shares(factors.D),
    )


def column_shares(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (z, n) the columns as shares: of the side, positive or negative, with more weight.

    A Gaussian factor may come with either sign in two of its matrices at once.
    """
    up, down = np.maximum(matrix, 0.0), np.maximum(-matrix, 0.0)
    weight = np.where((up**2).sum(axis=0) >= (down**2).sum(axis=0), up, down).T
    return distributions(weight)


def named_places(counts: ClusterCounts) -> set[int]:
    """Return the places that the clusters' descriptions speak of."""
    return {
        place
        for column in (*counts.first, *counts.then)
        for place, _ in top_places(column)
    }  # fmt: skip


def top_places(column: NDArray[np.float64]) -> list[tuple[int, float]]:
    """Return (place, share) of the largest entries, the largest first."""
    order = np.argsort(-column, kind="stable")[:TOP_PLACES]
    return [(int(p), float(f"{column[p]:.4g}")) for p in order if column[p] > 0]


def clusters(counts: ClusterCounts, train: Traces, shown: NDArray[np.int64]) -> list[Cluster]:
    """Return every cluster, in the order of the factors."""
    everywhere = np.bincount(train.location, minlength=len(train.places))
    real, made = distributions(counts.real), distributions(counts.made)
    tv = total_variation(real, made)
    everyone = total_variation(real, np.broadcast_to(distributions(everywhere), real.shape))
    zone = zones(train.places, everywhere)
    found = []
    for c in range(len(real)):
        p, q = real[c, shown], made[c, shown] * (counts.made[c].sum() > 0)
        scale = float(max(p.max(), q.max()))
        spread = spread_km(train.places, counts.real[c])
        hours = busy_hours(train.clock, counts.hours[c])
        kind = categories(train.places, counts.real[c], everywhere)
        where = standing_out(zone, counts.real[c], everywhere)[:NAMED_ZONES]
        top = top_places(counts.first[c])
        names = [_place(train.places, place) for place, _ in top[:NAMED]]
        name = _name(kind, where, names)
        found.append(
            Cluster(
                users=counts.size,
                traces=int(counts.traces[c]),
                hours=plain(counts.hours[c]),
                places=top,
                next_places=top_places(counts.then[c]),
                scale=scale,
                real=packed(p, scale),
                synthetic=packed(q, scale),
                tv=float(tv[c]),
                everyone_tv=float(everyone[c]),
                verdict=verdict(float(tv[c]), float(everyone[c])),
                spread_km=spread,
                name=name,
                title=f"{name}, {_when(hours)}",
                description=_description(hours, spread, kind, where, names),
            )
        )
    return _told_apart(found, [_place(train.places, c.places[0][0]) for c in found])


def verdict(tv: float, everyone_tv: float) -> str:
    """Return whether a cluster survived, by the shares that scores have: `KEPT` and `LOST`."""
    if everyone_tv < MIN_OWN:
        return NO_GROUP
    if tv <= (1 - KEPT) * everyone_tv:
        return SURVIVED
    return BLURRED if tv < (1 - LOST) * everyone_tv else GONE


def spread_km(places: Places, counts: NDArray[np.int64]) -> float:
    """Return the radius around the events' mean position that holds `NEARLY_ALL` of them."""
    if counts.sum() == 0:
        return 0.0
    lat, lng = (np.average(x, weights=counts) for x in (places.lat, places.lng))
    km = haversine_km(places.lat, places.lng, np.full(len(places), lat), np.full(len(places), lng))
    order = np.argsort(km, kind="stable")
    inside = np.cumsum(counts[order])
    return float(km[order[np.searchsorted(inside, NEARLY_ALL * inside[-1])]])


def categories(
    places: Places, counts: NDArray[np.int64], everywhere: NDArray[np.int64]
) -> list[Share]:
    """Return the categories that stand out, at most `NAMED`; none if places have none."""
    if places.category is None:
        return []
    return standing_out(places.category.astype(str), counts, everywhere)


def standing_out(
    names: NDArray[np.str_], counts: NDArray[np.int64], everywhere: NDArray[np.int64]
) -> list[Share]:
    """Return the names with clearly more of the cluster's events than of all, most first.

    Parameters
    ----------
    names : (n_places,) category or zone of each place.
    counts, everywhere : (n_places,) events of the cluster and of all users.
    """
    if counts.sum() == 0:
        return []
    kinds, kind = np.unique(names, return_inverse=True)
    own, overall = (
        distributions(np.bincount(kind, x, minlength=len(kinds))) for x in (counts, everywhere)
    )
    order = np.argsort(overall - own, kind="stable")[:NAMED]
    return [
        (cut(str(kinds[i]), NAME_LENGTH), float(own[i]), float(overall[i]))
        for i in order
        if own[i] - overall[i] >= STANDS_OUT
    ]


def _place(places: Places, place: int) -> str:
    label = cut(str(places.labels[place]), NAME_LENGTH)
    if places.category is None:
        return label
    return f"{label} ({cut(str(places.category[place]), NAME_LENGTH)})"


def _name(kind: list[Share], where: list[Share], names: list[str]) -> str:
    """Return a few words: what stands out, and where."""
    what = ", ".join(name for name, _, _ in kind[:2])
    area = " and ".join(name for name, _, _ in where)
    if what and area:
        what = f"{what} in the {area}"
    words = what or area or f"often at {', '.join(names[:2])}"
    return f"{words[0].upper()}{words[1:]}"


def _when(hours: str) -> str:
    return hours if hours == ALL_DAY else f"busiest {hours}"


def _description(
    hours: str, spread: float, kind: list[Share], where: list[Share], names: list[str]
) -> str:
    """Return a few short sentences."""
    more = "; ".join(
        words
        + ", ".join(f"{name} ({percent(a)}, all users {percent(b)})" for name, a, b in shares)
        for words, shares in (("at ", kind), ("in the ", where))
        if shares
    )
    when = _when(hours)
    parts = [f"More than others {more}."] if more else []
    parts += [
        f"{when[0].upper()}{when[1:]} in the model.",
        f"Nine in ten real events lie within {spread:.1f} km of their centre.",
        f"Typical places: {', '.join(names)}.",
    ]
    return " ".join(parts)


def _told_apart(found: list[Cluster], typical: list[str]) -> list[Cluster]:
    """Return the clusters, those with the title of another with a typical place in theirs."""
    times = Counter(c.title for c in found)
    return [
        replace(c, title=f"{c.title}, often at {place}") if times[c.title] > 1 else c
        for c, place in zip(found, typical, strict=True)
    ]
