"""Does a group of similar users keep its own places? Cluster-specific distributions.

A column of the factor matrix A is a cluster: the tenth of the users with the largest values
in it. The synthetic traces made from these users should visit what these users visited.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import InputError
from doppeltrace.traces import SyntheticTraces, Traces
from doppeltrace.utility.population import distributions, total_variation

SHARE = 0.1
"""Fraction of the users that forms a cluster."""


def cluster_members(factors: ArrayLike, n_users: int) -> NDArray[np.int64]:
    """Return (z, size) the users with the largest values in each column of A (n_users, z).

    Columns are first normalised to unit length. Ties go to the lower user index.
    """
    a = np.asarray(factors, dtype=np.float64)
    if a.ndim != 2 or a.shape[0] != n_users or a.shape[1] == 0:
        raise InputError(
            f"clusters has shape {a.shape}: give the factor matrix A, one row for each of "
            f"the {n_users} training users"
        )
    length = np.linalg.norm(a, axis=0)
    a = a / np.where(length > 0, length, 1.0)
    size = max(1, int(SHARE * n_users))
    return np.argsort(-a, axis=0, kind="stable")[:size].T


def place_counts(
    location: NDArray[Any], owner: NDArray[np.int64], members: NDArray[np.int64], n_places: int
) -> NDArray[np.int64]:
    """Return (z, n_places) the events per place of each cluster's members.

    Parameters
    ----------
    location, owner : (n_events,) place and user of each event.
    members : (z, size) as `cluster_members` returns.
    """
    counts = np.empty((len(members), n_places), dtype=np.int64)
    for cluster, users in enumerate(members):
        counts[cluster] = np.bincount(location[np.isin(owner, users)], minlength=n_places)
    return counts


def cluster_tv(
    train: Traces, synthetic: SyntheticTraces, members: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return (z,) the total variation between each cluster's training and synthetic events.

    Synthetic traces need their owners; a cluster without synthetic events counts as uniform.
    """
    n_places = len(train.places)
    present = synthetic.locations >= 0
    owner = np.repeat(synthetic.owner, present.sum(axis=1))
    made = place_counts(synthetic.locations[present], owner, members, n_places)
    real = place_counts(train.location, train.user, members, n_places)
    return total_variation(distributions(real), distributions(made))


def uniform_cluster_tv(train: Traces, members: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (z,) the total variation between each cluster's events and the uniform."""
    real = distributions(place_counts(train.location, train.user, members, len(train.places)))
    return total_variation(real, np.full_like(real, 1.0 / real.shape[1]))
