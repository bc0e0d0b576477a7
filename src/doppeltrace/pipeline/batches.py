"""Make and test traces part by part, keeping what is done where a run may be stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from doppeltrace.cli.console import warn
from doppeltrace.cli.progress import Reporter
from doppeltrace.deniability import deterministic
from doppeltrace.deniability.deterministic import Counting
from doppeltrace.pipeline.checkpoint import KeptBatch, RunCheckpoint
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import SyntheticTraces

PART_EVENTS = 6_000_000
"""Events made before the next part begins: a few hundred megabytes with what the test needs."""

MIN_USERS = 64
"""Parts of so few users are not made smaller where memory is short."""


@dataclass
class BatchSynthesis:
    """Draws and tests the traces of one part of the users after the other.

    No trace, and no test of one, depends on how the users are parted.
    """

    model: Synthesizer
    wish: RunSettings
    reporter: Reporter
    unfinished: RunCheckpoint | None
    _began: float = field(default_factory=time.monotonic)
    _kept_at: float = field(default_factory=time.monotonic)

    def make(self) -> tuple[SyntheticTraces, NDArray[np.int64] | None]:
        """Return all traces in order of users, and how many users are plausible for each."""
        train, wish = self.model.train, self.wish
        length = train.clock.n_instants if wish.length is None else wish.length
        at_once = max(1, PART_EVENTS // (wish.traces_per_user * length))
        locations, plausible, first = [], [], 0
        while first < train.n_users:
            kept = None if self.unfinished is None else self.unfinished.part_from(first)
            last = min(first + at_once, train.n_users) if kept is None else kept.last
            try:
                part, counted = self._part(first, last, kept)
            except MemoryError:
                if last - first <= MIN_USERS:
                    raise
                at_once = (last - first) // 2
                if kept is not None and self.unfinished is not None:
                    self.unfinished.drop_part(kept)
                warn(f"memory is short: going on with {at_once:,} users at a time")
                continue
            locations.append(part.locations)
            plausible.append(counted)
            first = last
        everything = self._synthetic(0, train.n_users, np.concatenate(locations))
        return everything, None if wish.k is None else np.concatenate(plausible)

    def _part(
        self, first: int, last: int, kept: KeptBatch | None
    ) -> tuple[SyntheticTraces, NDArray[np.int64]]:
        """Return the traces of users first … last − 1, and how many users are plausible."""
        wish = self.wish
        with self.reporter.phase("synthesis", part=True):
            if kept is not None:
                synthetic = self._synthetic(first, last, kept.locations)
            else:
                synthetic = self.model.sample(
                    wish.traces_per_user,
                    length=wish.length,
                    users=np.arange(first, last),
                    seed=wish.seed,
                    callback=self.reporter,
                )
        if wish.k is None:
            return synthetic, np.zeros(0, np.int64)
        with self.reporter.phase("deniability test", part=True):
            result = deterministic.deniability_test(
                self.model,
                synthetic,
                k=wish.k,
                eta=wish.eta,
                verifiers=wish.verifiers,
                seed=wish.seed,
                count_all=wish.count_all,
                callback=self.reporter,
                counted=None if kept is None else kept.counted,
                keep=lambda counted: self._keep(first, last, synthetic, counted, self._kept_at),
            )
        done = Counting(  # no verifier is left, so nobody will ask for the likelihoods
            np.zeros(len(synthetic)), result.plausible, self.model.train.n_users
        )
        self._keep(first, last, synthetic, done, self._began)
        return synthetic, result.plausible

    def _keep(
        self,
        first: int,
        last: int,
        synthetic: SyntheticTraces,
        counted: Counting,
        since: float,
    ) -> None:
        """Keep a part as it stands, if enough time has passed since then."""
        seconds = self.wish.checkpoint_seconds
        if self.unfinished is None or seconds is None:
            return
        if time.monotonic() - since >= seconds:
            self.unfinished.keep_part(KeptBatch(first, last, synthetic.locations, counted))
            self._kept_at = time.monotonic()

    def _synthetic(self, first: int, last: int, locations: NDArray[np.int32]) -> SyntheticTraces:
        """Return drawn locations with their owners and replicates, as `sample` orders them."""
        per_user, train = self.wish.traces_per_user, self.model.train
        return SyntheticTraces(
            locations,
            owner=np.repeat(np.arange(first, last), per_user),
            replicate=np.tile(np.arange(per_user), last - first),
            places=train.places,
            clock=train.clock,
        )
