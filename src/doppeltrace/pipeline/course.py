"""The course of a run: merge rare places, fit, sample, test, check, score and release."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from doppeltrace.audit.level0 import Level0
from doppeltrace.deniability import deterministic, randomized
from doppeltrace.evaluation import evaluate
from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.files import atomic_file
from doppeltrace.pipeline.batches import BatchSynthesis, TestedTraces
from doppeltrace.pipeline.checkpoint import RunCheckpoint
from doppeltrace.pipeline.estimate import Estimate, announce, peak_memory_mb
from doppeltrace.pipeline.guarantees import guarantee_of
from doppeltrace.pipeline.manifest import (
    InputRecord,
    Manifest,
    ModelRecord,
    SamplingRecord,
    TestRecord,
)
from doppeltrace.pipeline.privacy import spend
from doppeltrace.pipeline.protection import ProtectedInput, check_release, protect_input
from doppeltrace.pipeline.run import Run
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.pipeline.source import Source
from doppeltrace.pipeline.summary import summarize
from doppeltrace.progress import Monitor
from doppeltrace.release import TraceCounts, release
from doppeltrace.release.writer import leaving
from doppeltrace.report.internal.files import internal_files
from doppeltrace.report.internal.findings import collect_findings
from doppeltrace.report.internal.verdict import judge
from doppeltrace.report.public import datasheet
from doppeltrace.report.public.publication import Method
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.synthesizers.model_file import fingerprint
from doppeltrace.traces import Traces


@dataclass
class Course:
    """One run from traces to a release; the output folder appears at the end, or not at all."""

    settings: RunSettings
    model: Synthesizer
    source: Source
    monitor: Monitor
    checkpoint: RunCheckpoint | None = None
    started: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    estimate: Estimate | None = None

    def perform(self, train: Traces, test: Traces | None = None) -> Run:
        """Do everything."""
        identity = self._identity(train)
        given = protect_input(train, test, self.model, self.settings, self.monitor)
        self.settings.check_against(given.fitted)
        self.model.check_against(given.fitted)
        self.estimate = announce(self.model, given.fitted, self.settings, self.monitor)
        with self._kept_while_unfinished(identity):
            return self._perform(given, identity)

    def _caution(self, words: str | None) -> None:
        if words is not None:
            self.monitor.warn(words)

    def _perform(self, given: ProtectedInput, identity: Mapping[str, Any]) -> Run:
        settings, monitor, train, test = self.settings, self.monitor, given.train, given.test
        with monitor.phase("kernels", note="compiled on the first run, then kept on the disk"):
            self._warm_up(train, test)
        self._caution(self.model.caution_before(given.fitted.n_users, given.fitted.places))
        spend(self.model, self.source, identity["input data"], monitor)
        with monitor.phase("training"):
            self._fit(given.fitted)
        self._caution(self.model.caution)
        made = self._make()
        shown = check_release(train, made.leaving, self.model, settings, monitor)
        score = None
        if test is not None and made.passed.any():
            with monitor.phase("evaluation"):
                score = evaluate(train=train, test=test, synthetic=made.leaving)
        with monitor.phase("release"), self._kept_model():
            run = self._release(given, made, score, shown)
        if len(run.traces) == 0:
            monitor.warn(
                "no trace passed the test: the release is empty; try a smaller k or a larger η"
            )
        return run

    @contextmanager
    def _kept_while_unfinished(self, identity: Mapping[str, Any]) -> Iterator[None]:
        """Keep what is done beside the output folder, until that stands."""
        checkpoint = self.checkpoint
        if checkpoint is None:
            yield
            return
        try:
            checkpoint.begin(self.settings.seed, identity)
            yield
        except BaseException:
            if checkpoint.run is None:  # it is not ours
                raise
            if checkpoint.has_begun:
                self.monitor.say(
                    f"what is done so far is kept in {checkpoint.folder}, which is as secret as "
                    "the input: the same run with resume=True goes on from it"
                )
            else:
                checkpoint.remove()
            raise
        else:
            checkpoint.remove()
        finally:
            checkpoint.leave()

    def _identity(self, train: Traces) -> dict[str, Any]:
        """Return all that decides the released traces, by the names that users know."""
        settings = self.settings
        names = (
            "min_users", "max_events", "traces_per_user", "n_traces", "length", "k", "eta",
            "verifiers", "epsilon0", "count_all",
        )  # fmt: skip
        return {
            "version of doppeltrace": version("doppeltrace"),
            "input data": fingerprint(train),
            "model": self.model.name,
            "setting of the model": self.model.settings,
            **{name: getattr(settings, name) for name in names},
        }

    def _fit(self, train: Traces) -> None:
        """Train; where something is kept, from there."""
        seconds = self.settings.checkpoint_seconds
        if self.checkpoint is None or seconds is None or not self.model.resumable:
            self.model.fit(train, callback=self.monitor)
            return
        kept = self.checkpoint.training
        if kept.exists():
            done = self.model.check_checkpoint(kept)
            self.monitor.say(f"{done:,} iterations are done already")
        self.model.fit(train, callback=self.monitor, checkpoint=kept, checkpoint_seconds=seconds)

    def _warm_up(self, train: Traces, test: Traces | None) -> None:
        """Compile the kernels, or load them from the disk, on a handful of users."""
        small = self.model.for_warm_up()
        if small is None:
            return
        few = train.select(np.arange(min(4, train.n_users)))
        synthetic = small.fit(few).sample(1, length=self.settings.length, seed=self.settings.seed)
        if small.testable:
            deterministic.deniability_test(small, synthetic, k=1, eta=self.settings.eta)
        if test is not None:
            others = test.select(np.arange(min(4, test.n_users)))
            evaluate(train=few, test=others, synthetic=synthetic)

    def _make(self) -> TestedTraces:
        """Make the traces that were asked for, and test each."""
        if self.settings.epsilon0 is not None:
            return self._make_randomized(self.settings.epsilon0)
        return BatchSynthesis(self.model, self.settings, self.monitor, self.checkpoint).make()

    def _make_randomized(self, epsilon0: float) -> TestedTraces:
        """Make as many traces in all, of users drawn at random, and test each at random."""
        settings = self.settings
        assert settings.k is not None
        in_all = self.model.n_users * settings.traces_per_user
        with self.monitor.phase("deniability test"):
            result = randomized.randomized_release(
                self.model,
                settings.n_traces or in_all,
                k=settings.k,
                eta=settings.eta,
                epsilon0=epsilon0,
                delta=settings.delta,
                length=settings.length,
                seed=settings.seed,
                callback=self.monitor,
            )
        return TestedTraces(result.synthetic, result.passed, result.plausible, result.privacy)

    @contextmanager
    def _kept_model(self) -> Iterator[None]:
        """Write the model, if it is to be kept, before the release; and not without it."""
        file = self.settings.keep_model
        if file is None:
            yield
            return
        with atomic_file(file) as partial:
            self.model.save(partial)
            partial.chmod(0o600)
        try:
            yield
        except BaseException:
            file.unlink(missing_ok=True)
            raise

    def _release(
        self,
        given: ProtectedInput,
        made: TestedTraces,
        score: Scorecard | None,
        shown: Level0,
    ) -> Run:
        """Describe what leaves, and write it."""
        settings, seconds = self.settings, self.monitor.seconds
        findings = collect_findings(
            train=given.train,
            test=given.test,
            released=made.leaving,
            run=summarize(settings, self.model, self.source, given, made, seconds),
            score=score,
            factors=self.model.clusters_,
            plausible=made.plausible,
            audit={"level0": shown.to_dict()},
        )
        leaves = leaving(made.synthetic, made.passed)
        manifest = self._manifest(given, made, score, shown, TraceCounts.of(made.passed, leaves))
        run = Run(
            traces=leaves,
            score=score,
            verdict=judge(findings.to_dict()),
            guarantee=manifest.guarantee,
            manifest=manifest,
            findings=findings,
        )
        if settings.out is None:
            return run
        method, words = Method.of_manifest(manifest.to_dict()), settings.publication

        def at_last(counts: TraceCounts) -> dict[str, Any]:
            nonlocal run
            run = replace(run, manifest=replace(manifest, **_now()))  # writing takes memory too
            return run.manifest.to_dict()

        def page(traces: Path) -> str:
            return datasheet.datasheet(traces, method, words)

        written = release(
            made.synthetic,
            made.passed,
            settings.out,
            format=settings.output_format,
            manifest=at_last,
            internal_files=internal_files(findings),
            public_files={datasheet.NAME: page},
            overwrite=settings.overwrite,
        )
        return replace(run, release=written)

    def _manifest(
        self,
        given: ProtectedInput,
        made: TestedTraces,
        score: Scorecard | None,
        shown: Level0,
        counts: TraceCounts,
    ) -> Manifest:
        settings = self.settings
        return Manifest(
            started=self.started.isoformat(timespec="seconds"),
            seed=settings.seed,
            model=ModelRecord.of(self.model),
            guarantee=guarantee_of(self.model, settings, made.privacy),
            sampling=SamplingRecord.of(settings),
            deniability=TestRecord.of(settings, made.privacy),
            publication=settings.publication,
            input=InputRecord.of(self.source, given.train),
            safeguards=given.record,
            public_safeguards=given.public_words,
            level0=shown.to_dict(),
            allow_rare_places=settings.allow_rare_places,
            run=None if self.checkpoint is None else self.checkpoint.run,
            resumed=settings.resume,
            threads=self.model.threads,
            estimate=None if self.estimate is None else self.estimate.to_dict(),
            seconds=dict(self.monitor.seconds),
            score=None if score is None else score.to_dict(),
            traces=counts,
            **_now(),
        )


def _now() -> dict[str, Any]:
    """Return when a run is finished, and the memory it took."""
    finished = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return {"finished": finished, "peak_memory_mb": round(peak_memory_mb(), 1)}
