"""SGLT: hide a seed trace among places of the same meaning, and walk plausibly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.engine.local import run_blocks
from doppeltrace.errors import require
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.sglt import _trace_kernels as kernels
from doppeltrace.synthesizers.sglt.mobility import aggregate_mobility
from doppeltrace.synthesizers.sglt.semantics import semantic_labels
from doppeltrace.synthesizers.windows import fullest_windows
from doppeltrace.traces import Traces


class SGLT(Synthesizer):
    """Synthetic generator of location traces (Bindschaedler & Shokri, IEEE S&P 2016).

    Each user's trace is the seed of that user's synthetic traces. A seed trace needs an event
    at every instant: of several days of data the fullest is taken, the earliest among equals,
    and an instant without an event takes the place of the event nearest in time, the earlier
    of two equally near. A user without any event has every place as a candidate at all times.

    Parameters
    ----------
    clusters : c, semantic clusters of places; as many as places, if there are fewer.
    removal : par_l, probability that the true place is removed from an event's candidates.
    thinning : par_c, fraction of a cluster removed at random.
    merging : par_m, fraction of the candidates that the sets around a move lend each other.
    randomization : par_v, largest random factor in the Viterbi comparisons.
    smoothing : share of the uniform distribution in a user's visiting distribution. The
        published description leaves it open; 0.25 gives the published figures.
    seed, threads : see `Synthesizer`.
    """

    name = "sglt"
    description = "SGLT: places exchanged for semantically similar ones"
    public_settings = {
        "clusters": "clusters of places",
        "removal": "removal",
        "thinning": "thinning",
        "merging": "merging",
        "randomization": "randomization",
    }

    def __init__(
        self,
        *,
        clusters: int = 100,
        removal: float = 1.0,
        thinning: float = 0.25,
        merging: float = 0.75,
        randomization: float = 4.0,
        smoothing: float = 0.25,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(seed=seed, threads=threads)
        require(clusters >= 1, "clusters must be at least 1")
        require(0 <= removal <= 1, "removal must be a probability, from 0 to 1")
        require(0 <= thinning < 1, "thinning must be a fraction, from 0 to below 1")
        require(0 <= merging <= 1, "merging must be a fraction, from 0 to 1")
        require(1 <= randomization < np.inf, "randomization must be a factor of at least 1")
        require(0 < smoothing < 1, "smoothing must be between 0 and 1")
        self.clusters = clusters
        self.removal = removal
        self.thinning = thinning
        self.merging = merging
        self.randomization = randomization
        self.smoothing = smoothing

    @property
    def labels_(self) -> NDArray[np.int64]:
        """(n_places,) semantic cluster of each place; raises `NotFittedError` before `fit`."""
        self._known()
        return self._labels

    def _fit(self, traces: Traces, callback: Callback) -> None:
        callback(Step("training", 0, 2))
        self._labels = semantic_labels(traces, self.clusters, self.smoothing, self.seed)
        callback(Step("training", 1, 2))
        move, start = aggregate_mobility(traces)
        self._log_arrive = np.ascontiguousarray(np.log(move).T)
        self._log_start = np.log(start)
        callback(Step("training", 2, 2))

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        out = np.empty((len(users), traces_per_user, len(instants)), np.int32)
        inputs = (
            users,
            seed_traces(self.train, users, instants),
            self._labels,
            np.concatenate([[0], np.cumsum(np.bincount(self._labels))]).astype(np.int64),
            np.argsort(self._labels, kind="stable").astype(np.int32),
            self._log_arrive,
            self._log_start,
            self.thinning,
            self.merging,
            self.removal,
            self.randomization,
            streams.key(seed, "sglt synthesis"),
        )
        run_blocks(lambda a, b: kernels.semantic_traces(*inputs, out, a, b), len(users))
        callback(Step("synthesis", len(users), len(users)))
        return out


def seed_traces(
    traces: Traces, users: NDArray[np.int64], instants: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return (len(users), len(instants)) complete seed traces; all −1 without any event."""
    seeds = fullest_windows(traces, users, instants)[:, 0]
    known = seeds >= 0
    column = np.arange(seeds.shape[1])
    before = np.maximum.accumulate(np.where(known, column, -1), axis=1)
    after = np.minimum.accumulate(np.where(known, column, seeds.shape[1])[:, ::-1], axis=1)[
        :, ::-1
    ]
    has_before, has_after = before >= 0, after < seeds.shape[1]
    earlier = has_before & (~has_after | (column - before <= after - column))
    nearest = np.where(earlier, before, np.where(has_after, after, column))
    return np.take_along_axis(seeds, nearest, axis=1)
