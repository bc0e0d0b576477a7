"""Traces of people drawn at random: how many of each, and their order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.errors import require
from doppeltrace.progress import Callback, Step

Sample = Callable[
    [NDArray[np.int64], int, NDArray[np.int64], int, Callback],
    NDArray[np.int32],
]
"""`Synthesizer._sample`: users, traces per user, instants, seed, callback → locations."""


def sample_people(
    sample: Sample,
    users: NDArray[np.int64],
    n_traces: int,
    instants: NDArray[np.int64],
    seed: int,
    callback: Callback,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return locations (n_traces, T), owners and replicates of users drawn with replacement.

    The users come from a stream of their own; a user drawn c times gives the first c of the
    user's traces. Users with the same c are sampled together, so nothing is drawn in vain.
    """
    require(len(users) > 0, "there are no users to draw traces from")
    rng = streams.generator(seed, "people of the traces")
    drawn = np.bincount(rng.integers(len(users), size=n_traces), minlength=len(users))
    start = np.concatenate([[0], np.cumsum(drawn)])
    total, done = int(np.count_nonzero(drawn)), 0
    locations = np.empty((n_traces, len(instants)), np.int32)

    def told(step: Step) -> None:
        callback(Step(step.phase, done + step.done, total, step.figures))

    for count in np.unique(drawn[drawn > 0]).tolist():
        who = np.flatnonzero(drawn == count)
        part = sample(users[who], count, instants, seed, told)
        rows = start[who, None] + np.arange(count)
        locations[rows.ravel()] = part.reshape(-1, len(instants))
        done += len(who)
    replicate = np.arange(n_traces) - np.repeat(start[:-1], drawn)
    return locations, np.repeat(users, drawn), replicate
