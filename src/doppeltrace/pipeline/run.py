"""One run: fit, sample, test, score and release, with an account of each."""

from __future__ import annotations

import copy
import datetime as dt
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.cli.console import say, warn
from doppeltrace.cli.options import settings_of
from doppeltrace.cli.progress import Reporter, readable_time
from doppeltrace.deniability import deterministic, randomized
from doppeltrace.deniability.randomized import OneTracePrivacy
from doppeltrace.evaluation import evaluate
from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.files import atomic_file
from doppeltrace.guarantee import Guarantee
from doppeltrace.pipeline.batches import BatchSynthesis
from doppeltrace.pipeline.checkpoint import RunCheckpoint
from doppeltrace.pipeline.estimate import Estimate, announce, peak_memory_mb
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.release import Release, release
from doppeltrace.report.internal.files import internal_files
from doppeltrace.report.internal.findings import collect_findings
from doppeltrace.report.internal.run_summary import RunSummary
from doppeltrace.report.public import datasheet
from doppeltrace.report.public.publication import Method
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.synthesizers.chained import ChainSynthesizer
from doppeltrace.synthesizers.factorized import FactorizedSynthesizer
from doppeltrace.synthesizers.model_file import fingerprint
from doppeltrace.traces import SyntheticTraces, Traces


@dataclass(frozen=True, eq=False)
class TestedTraces:
    """Traces and what their test said; `plausible` is counted up to k only, unless asked for."""

    synthetic: SyntheticTraces
    passed: NDArray[np.bool_]
    plausible: NDArray[np.int64] | None = None
    privacy: OneTracePrivacy | None = None


@dataclass
class Run:
    """The course of a run: what each phase made, and how long it took."""

    wish: RunSettings
    model: Synthesizer
    source: Mapping[str, Any]
    reporter: Reporter
    started: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    score: Scorecard | None = None
    unfinished: RunCheckpoint | None = None
    estimate: Estimate | None = None
    data: str = ""

    def perform(self, train: Traces, test: Traces | None = None, title: str = "") -> Release:
        """Do everything; the output folder appears at the end, or not at all."""
        self.wish.check_against(train)
        self.data = fingerprint(train)
        self.estimate = announce(self.model, train, self.wish)
        with self._kept_while_unfinished():
            return self._perform(train, test, title)

    def _perform(self, train: Traces, test: Traces | None, title: str) -> Release:
        wish, reporter = self.wish, self.reporter
        with reporter.phase("kernels", note="compiled on the first run, then kept on the disk"):
            self._warm_up(train, test)
        with reporter.phase("training"):
            self._fit(train)
        made = self._make() if wish.epsilon0 is None else self._make_randomized(wish.epsilon0)
        if test is not None and made.passed.any():
            leaving = made.synthetic.select(made.passed)
            with reporter.phase("evaluation"):
                self.score = evaluate(train=train, test=test, synthetic=leaving)
        with reporter.phase("release"):
            with self._kept_model():
                done = self._release(train, test, made, title)
        return done

    @contextmanager
    def _kept_while_unfinished(self) -> Iterator[None]:
        """Keep what is done beside the output folder, until that stands."""
        unfinished = self.unfinished
        if unfinished is None:
            yield
            return
        try:
            unfinished.begin(self.wish.seed, self._identity())
            yield
        except BaseException:
            if unfinished.run is None:  # it is not ours
                raise
            if unfinished.has_begun:
                say(
                    f"what is done so far is kept in {unfinished.folder}, which is as secret as "
                    "the input: the same command with --resume goes on from it"
                )
            else:
                unfinished.remove()
            raise
        else:
            unfinished.remove()
        finally:
            unfinished.leave()

    def _identity(self) -> dict[str, Any]:
        """Return all that decides the released traces, by the names that users know."""
        wish = self.wish
        return {
            "version of doppeltrace": version("doppeltrace"),
            "input": self.data,
            "model": self.model.name,
            "setting of the model": self.model.settings,
            "--traces-per-user": wish.traces_per_user,
            "--length": wish.length,
            "--k": wish.k,
            "--eta": wish.eta,
            "--verifiers": wish.verifiers,
            "--epsilon0": wish.epsilon0,
            "--count-all": wish.count_all,
        }

    def _fit(self, train: Traces) -> None:
        """Train; where something is kept, from there."""
        seconds = self.wish.checkpoint_seconds
        if (
            self.unfinished is None
            or seconds is None
            or not isinstance(self.model, FactorizedSynthesizer)
        ):
            self.model.fit(train, callback=self.reporter)
            return
        checkpoint = self.unfinished.training
        if checkpoint.exists():
            say(f"{self.model.check_checkpoint(checkpoint):,} iterations are done already")
        self.model.fit(
            train, callback=self.reporter, checkpoint=checkpoint, checkpoint_seconds=seconds
        )

    def _warm_up(self, train: Traces, test: Traces | None) -> None:
        """Compile the kernels, or load them from the disk, on a handful of users."""
        if not isinstance(self.model, ChainSynthesizer):
            return
        small = copy.copy(self.model)
        if hasattr(small, "iterations"):
            small.iterations = 1
        few = train.select(np.arange(min(4, train.n_users)))
        synthetic = small.fit(few).sample(1, length=self.wish.length, seed=self.wish.seed)
        deterministic.deniability_test(small, synthetic, k=1, eta=self.wish.eta)
        if test is not None:
            others = test.select(np.arange(min(4, test.n_users)))
            evaluate(train=few, test=others, synthetic=synthetic)

    def _make(self) -> TestedTraces:
        """Make the wished number of traces of every user, and test each."""
        maker = BatchSynthesis(self.model, self.wish, self.reporter, self.unfinished)
        synthetic, plausible = maker.make()
        if self.wish.k is None or plausible is None:
            return TestedTraces(synthetic, np.ones(len(synthetic), dtype=bool))
        return TestedTraces(synthetic, plausible >= self.wish.k, plausible)

    def _make_randomized(self, epsilon0: float) -> TestedTraces:
        """Make as many traces in all, of users drawn at random, and test each at random."""
        wish = self.wish
        assert wish.k is not None
        with self.reporter.phase("deniability test"):
            result = randomized.randomized_release(
                self.model,
                self.model.train.n_users * wish.traces_per_user,
                k=wish.k,
                eta=wish.eta,
                epsilon0=epsilon0,
                delta=wish.delta,
                length=wish.length,
                seed=wish.seed,
                callback=self.reporter,
            )
        return TestedTraces(result.synthetic, result.passed, result.plausible, result.privacy)

    @contextmanager
    def _kept_model(self) -> Iterator[None]:
        """Write the model, if it is wished for, before the release, and keep it with that only."""
        file = self.wish.keep_model
        if file is None:
            yield
            return
        with atomic_file(file) as partial:
            self.model.save(partial)  # type: ignore[attr-defined]
            partial.chmod(0o600)
        try:
            yield
        except BaseException:
            file.unlink(missing_ok=True)
            raise

    def _release(
        self, train: Traces, test: Traces | None, made: TestedTraces, title: str
    ) -> Release:
        wish, score = self.wish, self.score
        settings = settings_of(self.model)
        size = {
            "users": train.n_users,
            "places": len(train.places),
            "slots": train.clock.n_slots,
            "events": train.n_events,
        }
        tested: dict[str, Any] = {"k": wish.k, "eta": wish.eta, "verifiers": wish.verifiers}
        if made.privacy is not None:
            epsilon, delta = made.privacy.epsilon, made.privacy.delta
            tested |= {"epsilon0": wish.epsilon0, "epsilon": epsilon, "delta": delta}
            tested["applies_to"] = "one trace alone, of a model that does not depend on the input"
        guarantee = self._guarantee(made)
        manifest = {
            "started": self.started.isoformat(timespec="seconds"),
            "finished": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "seed": wish.seed,
            "model": {
                "name": self.model.name,
                "description": self.model.description,
                "settings": settings,
                "public_settings": {
                    words: settings[name]
                    for name, words in self.model.public_settings.items()
                    if settings.get(name) is not None
                },
            },
            "guarantee": guarantee.to_dict(),
            "sampling": {"traces_per_user": wish.traces_per_user, "length": wish.length},
            "deniability": None if wish.k is None else tested,
            "publication": asdict(wish.publication),
            "input": {**self.source, **size},
            "run": None if self.unfinished is None else self.unfinished.run,
            "resumed": wish.resume,
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "seconds": self.reporter.seconds,
            "score": None if score is None else score.to_dict(),
        }
        summary = RunSummary(
            title=title,
            model=self.model.description or self.model.name,
            settings={
                **_shown(settings, self.model.public_settings),
                **_shown({"traces_per_user": wish.traces_per_user, "length": wish.length}),
            },
            input={
                "source": str(self.source.get("path", "")),
                "events": f"{train.n_events:,}",
            },
            effort={
                **{phase: readable_time(s) for phase, s in self.reporter.seconds.items()},
                "peak memory": f"{peak_memory_mb():,.0f} MB",
            },
            made=len(made.synthetic),
            released=int(made.passed.sum()),
            guarantee=guarantee,
            counted_all=wish.count_all or made.privacy is not None,
        )
        findings = collect_findings(
            train=train,
            test=test,
            released=made.synthetic.select(made.passed),
            run=summary,
            score=score,
            factors=self.model.clusters_,
            plausible=made.plausible,
        )
        done = release(
            made.synthetic,
            made.passed,
            wish.out,
            format=wish.output_format,
            manifest=manifest,
            at_last=lambda: {"peak_memory_mb": round(peak_memory_mb(), 1)},
            files=internal_files(findings),
            public_files={datasheet.NAME: self._datasheet(manifest)},
            overwrite=wish.overwrite,
        )
        if done.released == 0:
            warn("no trace passed the test: the release is empty; try a smaller k or larger η")
        return done

    def _guarantee(self, made: TestedTraces) -> Guarantee:
        """Return what the release promises: the model's own promise, or that of the test."""
        wish = self.wish
        if self.model.guarantee is not None:
            return self.model.guarantee
        if wish.k is None:
            return Guarantee.none("No deniability test was made: every trace was released.")
        parameters: dict[str, float] = {"k": wish.k, "eta": wish.eta}
        if wish.verifiers is not None:
            parameters["verifiers"] = wish.verifiers
        if made.privacy is not None and wish.epsilon0 is not None:
            epsilon, delta = made.privacy.epsilon, made.privacy.delta
            parameters |= {"epsilon0": wish.epsilon0, "epsilon": epsilon, "delta": delta}
        title = f"({wish.k}, {wish.eta:g})-plausible deniability"
        if self.model.same_for_all_users:
            why = "Every user gives every trace the same likelihood, so every trace passes."
            return Guarantee(
                "plausible deniability", title, why, "each trace alone", parameters, vacuous=True
            )
        return Guarantee(
            "plausible deniability",
            title,
            f"At least {wish.k:,} users of the input, its own among them, would have produced "
            "each released trace with about the same probability (within a factor of "
            f"e^{wish.eta:g}).",
            "each trace alone",
            parameters,
            limits=(
                "It does not bound what many traces of one user reveal together.",
                "It says nothing about whether a person was in the input at all.",
                "It is not differential privacy.",
            ),
        )

    def _datasheet(self, manifest: Mapping[str, Any]) -> Callable[[Path], str]:
        """Return what makes the public page of a file of released traces."""
        method, words = Method.of_manifest(manifest), self.wish.publication
        return lambda traces: datasheet.datasheet(traces, method, words)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of its files' names and hashes."""
    if not path.is_dir():
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(f for f in path.rglob("*") if f.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()} {file_hash(file)}\n".encode())
    return digest.hexdigest()


def _shown(values: Mapping[str, Any], names: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what is set, in words; whole numbers with their thousands apart."""
    called = names or {}

    def words(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:,}" if isinstance(value, int) else str(value)

    return {
        called.get(n, n.replace("_", " ")): words(v) for n, v in values.items() if v is not None
    }
