"""Semantic clusters of locations: which places mean the same to different people."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.engine.local import run
from doppeltrace.synthesizers.sglt import _kernels as kernels
from doppeltrace.synthesizers.sglt.profiles import Profiles
from doppeltrace.traces import Traces

FLOOR = 1e-9
"""Where every weight starts, as a fraction of the mean weight."""

SHARDS = 8
"""Parts in which the pairs of users are added up, so that threads do not change a bit."""

MAX_SHARD_ELEMENTS = 2**26
"""Above this many weights in all shards together, there are fewer shards."""

DENSE = 2000
"""Up to this many places all eigenvectors asked for come from the dense solver."""

TRIALS = 10
"""Partitions from different starts, of which the best counts."""

MAX_PASSES = 30
"""Times that each place may move in a trial."""


def location_graph(profiles: Profiles) -> NDArray[np.float64]:
    """Return the symmetric weights M (n_places, n_places) of the location graph.

    Every ordered pair of users (u, v) is matched by the σ that maximises
    Σ_x log min(π_u(x), π_v(σ(x))), and adds min(π_u(x), π_v(σ(x))) · sim(u, v) to each
    M[x, σ(x)]. As log min is supermodular, σ pairs the places in the order of their
    probabilities (equal ones in the order of the places), so the matchings of (u, v) and
    (v, u) are each other's transpose. The pair (u, u) has similarity 1 and adds π_u to the
    diagonal.
    """
    n = profiles.n_places
    shards = max(1, min(SHARDS, MAX_SHARD_ELEMENTS // n**2))
    parts = np.zeros((shards, n, n))
    inputs = (profiles.start, profiles.place, profiles.probability, profiles.unseen)
    run(lambda shard: kernels.add_pairs(*inputs, shard, shards, parts[shard]), shards)
    weights: NDArray[np.float64] = parts.sum(axis=0)
    weights += weights.T
    users = int(np.count_nonzero(np.diff(profiles.start)))
    seen = np.bincount(profiles.place, profiles.probability - profiles.unseen, minlength=n)
    weights[np.diag_indices(n)] += seen + users * profiles.unseen
    weights += FLOOR * weights.mean()
    return weights


def partition(weights: NDArray[np.float64], clusters: int, seed: int) -> NDArray[np.int64]:
    """Return (n_places,) labels of at most `clusters` groups of alike size.

    Minimises Σ_k n_k² · W(S_k, 𝒳) / W(S_k, S_k), a min-max cut in which n_k² keeps the sizes
    alike: places move one by one while the sum falls. The first trial starts from spectral
    clusters, the others from clusters of the best sizes so far, dealt at random; the least sum
    counts.
    """
    n = len(weights)
    if clusters >= n:
        return np.arange(n)
    draws = streams.generator(seed, "sglt partition")
    best, least = np.arange(n) % clusters, np.inf
    for trial in range(TRIALS):
        labels = _spectral(weights, clusters) if trial == 0 else draws.permutation(best)
        order = draws.permutation(n)
        cost = kernels.refine_partition(weights, labels, clusters, order, MAX_PASSES)
        if cost < least:
            best, least = labels, cost
    return np.unique(best, return_inverse=True)[1].astype(np.int64)


def _spectral(weights: NDArray[np.float64], clusters: int) -> NDArray[np.int64]:
    """Return labels from the leading eigenvectors of D^−½ M D^−½.

    Rows of the eigenvectors' matrix point along one axis per cluster, up to a rotation.
    QR with column pivoting finds one representative row per cluster; the polar factor of
    these rows is the rotation back (Damle, Minden & Ying 2019).
    """
    n = len(weights)
    scale = 1 / np.sqrt(weights.sum(axis=1))
    normalized = weights * scale[:, None] * scale
    if n <= DENSE:
        _, vectors = scipy.linalg.eigh(normalized, subset_by_index=[n - clusters, n - 1])
    else:
        _, vectors = scipy.sparse.linalg.eigsh(normalized, k=clusters, v0=1 / scale)
    _, pivot = scipy.linalg.qr(vectors.T, pivoting=True, mode="r")
    left, _, right = scipy.linalg.svd(vectors[pivot[:clusters]].T)
    labels: NDArray[np.int64] = np.argmax(np.abs(vectors @ (left @ right)), axis=1)
    return labels


_known: WeakKeyDictionary[Traces, dict[tuple[object, ...], NDArray[Any]]] = WeakKeyDictionary()


def semantic_labels(
    traces: Traces, clusters: int, smoothing: float, seed: int
) -> NDArray[np.int64]:
    """Return (n_places,) cluster of each place.

    Models that differ only in how they sample share the work: the graph and the labels are
    kept as long as the traces are.
    """
    known = _known.setdefault(traces, {})
    graph, labels = ("graph", smoothing), ("labels", smoothing, clusters, seed)
    if labels not in known:
        if graph not in known:
            known[graph] = location_graph(Profiles.of(traces, smoothing))
        known[labels] = partition(known[graph], clusters, seed)
    return known[labels]
