"""Make and test traces batch by batch, keeping what is done in case the run is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from doppeltrace.deniability import deterministic
from doppeltrace.deniability.deterministic import Counting, forget
from doppeltrace.deniability.randomized import OneTracePrivacy
from doppeltrace.pipeline.checkpoint import KeptBatch, RunCheckpoint
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.progress import Monitor
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import SyntheticTraces

BATCH_EVENTS = 6_000_000
"""Events of a batch: a few hundred megabytes with what the test needs."""

MIN_USERS = 64
"""Batches of so few users are not made smaller where memory is short."""


@dataclass(frozen=True, eq=False)
class TestedTraces:
    """Traces and what their test said.

    Attributes
    ----------
    passed : (n_traces,) which of them may be released.
    plausible : (n_traces,) k′, counted up to k unless all are; None without a test.
    privacy : what the randomized test gives one trace; None with another test.
    """

    synthetic: SyntheticTraces
    passed: NDArray[np.bool_]
    plausible: NDArray[np.int64] | None = None
    privacy: OneTracePrivacy | None = None

    @property
    def leaving(self) -> SyntheticTraces:
        """The traces that passed, with their owners, who stay behind."""
        return self.synthetic.select(self.passed)


@dataclass
class BatchSynthesis:
    """Draws and tests the traces of one batch of users after the other.

    No trace, and no test of one, depends on how users are put into batches.
    """

    model: Synthesizer
    settings: RunSettings
    monitor: Monitor
    checkpoint: RunCheckpoint | None
    _began: float = field(default_factory=time.monotonic)
    _kept_at: float = field(default_factory=time.monotonic)

    def make(self) -> TestedTraces:
        """Return all traces, in order of users if they have owners, and what their test said."""
        made = self._for_every_user if self.settings.n_traces is None else self._in_all
        synthetic, plausible = made()
        if self.settings.k is None:
            return TestedTraces(synthetic, np.ones(len(synthetic), dtype=np.bool_))
        return TestedTraces(synthetic, plausible >= self.settings.k, plausible)

    def _in_all(self) -> tuple[SyntheticTraces, NDArray[np.int64]]:
        """Return so many traces in all, in one batch, and how many users are plausible."""
        settings = self.settings
        with self.monitor.phase("synthesis"):
            synthetic = self.model.sample(
                n_traces=settings.n_traces,
                length=settings.length,
                seed=settings.seed,
                callback=self.monitor,
            )
        return synthetic, self._test(synthetic)

    def _for_every_user(self) -> tuple[SyntheticTraces, NDArray[np.int64]]:
        """Return the traces of every user, and how many users are plausible for each."""
        model, settings = self.model, self.settings
        length = model.clock.n_instants if settings.length is None else settings.length
        at_once = max(1, BATCH_EVENTS // (settings.traces_per_user * length))
        locations, plausible, first = [], [], 0
        while first < model.n_users:
            kept = None if self.checkpoint is None else self.checkpoint.batch_from(first)
            last = min(first + at_once, model.n_users) if kept is None else kept.last
            try:
                made, counted = self._batch(first, last, kept)
            except MemoryError:
                if last - first <= MIN_USERS:
                    raise
                at_once = (last - first) // 2
                if kept is not None and self.checkpoint is not None:
                    self.checkpoint.drop_batch(kept)
                self.monitor.warn(f"memory is short: going on with {at_once:,} users at a time")
                continue
            locations.append(made.locations)
            plausible.append(counted)
            first = last
        everything = self._synthetic(0, model.n_users, np.concatenate(locations))
        return everything, np.concatenate(plausible)

    def _batch(
        self, first: int, last: int, kept: KeptBatch | None
    ) -> tuple[SyntheticTraces, NDArray[np.int64]]:
        """Return the traces of users first … last − 1, and how many users are plausible."""
        settings = self.settings
        with self.monitor.phase("synthesis", part=True):
            if kept is not None:
                synthetic = self._synthetic(first, last, kept.locations)
            else:
                synthetic = self.model.sample(
                    settings.traces_per_user,
                    length=settings.length,
                    users=np.arange(first, last),
                    seed=settings.seed,
                    callback=self.monitor,
                )
        plausible = self._test(
            synthetic,
            counted=None if kept is None else kept.counted,
            keep=lambda counted: self._keep(first, last, synthetic, counted, self._kept_at),
        )
        if self.settings.k is not None:
            done = Counting(  # no verifier is left, so the likelihoods are not needed again
                np.zeros(len(synthetic)), plausible, self.model.n_users
            )
            self._keep(first, last, synthetic, done, self._began)
        return synthetic, plausible

    def _test(
        self,
        synthetic: SyntheticTraces,
        counted: Counting | None = None,
        keep: Callable[[Counting], None] = forget,
    ) -> NDArray[np.int64]:
        """Return (n_traces,) how many users are plausible for each; (0,) without a test."""
        if self.settings.k is None:
            return np.zeros(0, np.int64)
        with self.monitor.phase("deniability test", part=True):
            return deterministic.deniability_test(
                self.model,
                synthetic,
                k=self.settings.k,
                eta=self.settings.eta,
                verifiers=self.settings.verifiers,
                seed=self.settings.seed,
                count_all=self.settings.count_all,
                callback=self.monitor,
                counted=counted,
                keep=keep,
            ).plausible

    def _keep(
        self,
        first: int,
        last: int,
        synthetic: SyntheticTraces,
        counted: Counting,
        since: float,
    ) -> None:
        """Keep a batch as it stands, if enough time has passed since then."""
        seconds = self.settings.checkpoint_seconds
        if self.checkpoint is None or seconds is None:
            return
        if time.monotonic() - since >= seconds:
            self.checkpoint.keep_batch(KeptBatch(first, last, synthetic.locations, counted))
            self._kept_at = time.monotonic()

    def _synthetic(self, first: int, last: int, locations: NDArray[np.int32]) -> SyntheticTraces:
        """Return drawn locations with their owners and replicates, as `sample` orders them."""
        per_user = self.settings.traces_per_user
        return SyntheticTraces(
            locations,
            owner=np.repeat(np.arange(first, last), per_user),
            replicate=np.tile(np.arange(per_user), last - first),
            places=self.model.places,
            clock=self.model.clock,
        )
