"""One run: fit, sample, test, score and release, with an account of each."""

from __future__ import annotations

import copy
import datetime as dt
import hashlib
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from doppeltrace.cli.console import warn
from doppeltrace.cli.estimate import announce
from doppeltrace.cli.options import settings_of
from doppeltrace.cli.progress import Reporter, readable_time
from doppeltrace.deniability import deterministic
from doppeltrace.errors import require
from doppeltrace.evaluation import evaluate
from doppeltrace.io.atomic import atomic_file, check_destination, check_file
from doppeltrace.release import Release, release
from doppeltrace.report.summary import Account, render
from doppeltrace.scorecard import Scorecard
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import SyntheticTraces, Traces

SHOWN_K = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Wish:
    """What to make and where to put it; the model carries its own settings.

    Attributes
    ----------
    k, eta : of the deniability test; k None releases without it.
    verifiers : how many users, drawn at random, may vouch for a trace; None means all.
    count_all : count plausible users beyond k, for the pass rate as a function of k.
    seed : of everything; kept in the manifest only.
    """

    out: Path
    seed: int
    traces_per_user: int = 1
    length: int | None = None
    k: int | None = 10
    eta: float = 1.0
    verifiers: int | None = None
    count_all: bool = False
    output_format: Literal["csv", "parquet"] = "csv"
    overwrite: bool = False
    keep_model: Path | None = None

    def check(self) -> None:
        """Raise what can be known to be wrong before anything is read."""
        require(self.traces_per_user >= 1, "--traces-per-user must be at least 1")
        require(self.length is None or self.length >= 1, "--length must be at least 1")
        require(self.k is None or self.k >= 1, "--k must be at least 1")
        require(np.isfinite(self.eta) and self.eta > 0, "--eta must be a number greater than 0")
        require(self.verifiers is None or self.verifiers >= 1, "--verifiers must be at least 1")
        check_destination(self.out, overwrite=self.overwrite)
        if self.keep_model is not None:
            require(
                not self.keep_model.resolve().is_relative_to(self.out.resolve()),
                f"--keep-model {self.keep_model} lies inside --out, from which traces are "
                "published: keep the model elsewhere",
            )
            check_file(self.keep_model, overwrite=self.overwrite)

    def check_model(self, model: Synthesizer) -> None:
        """Raise if traces of this model cannot be released as wished."""
        require(
            model.name != "training",
            "--model training gives the input traces themselves: it is there to be compared "
            "with, not to be released",
        )
        require(
            self.k is None or hasattr(model, "likelihood"),
            f"--model {model.name} has no likelihood to test: choose another model, or release "
            "without the test (--no-test)",
        )
        require(
            self.keep_model is None or hasattr(model, "save"),
            f"--keep-model: a {model.name} model cannot be saved",
        )

    def check_against(self, traces: Traces) -> None:
        """Raise what the size of the input makes impossible."""
        traces.clock.timeline(self.length)
        if self.k is None:
            return
        users = traces.n_users
        require(
            self.k <= users,
            f"--k {self.k} is larger than the number of users ({users}): no trace could pass",
        )
        require(
            self.verifiers is None or self.verifiers <= users,
            f"--verifiers {self.verifiers} is larger than the number of users ({users})",
        )


@dataclass
class Run:
    """The course of a run: what each phase made, and how long it took."""

    wish: Wish
    model: Synthesizer
    source: Mapping[str, Any]
    reporter: Reporter
    started: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))

    def perform(self, train: Traces, test: Traces | None = None, title: str = "") -> Release:
        """Do everything; the output folder appears at the end, or not at all."""
        wish, reporter = self.wish, self.reporter
        wish.check_against(train)
        announce(self.model, train, wish.traces_per_user, wish.length, wish.verifiers)
        with reporter.phase("kernels"):
            self._warm_up(train)
        with reporter.phase("training"):
            self.model.fit(train, callback=reporter)
        with reporter.phase("synthesis"):
            synthetic = self.model.sample(
                wish.traces_per_user, length=wish.length, seed=wish.seed, callback=reporter
            )
        passed, plausible = self._test(synthetic)
        score = None
        if test is not None:
            with reporter.phase("evaluation"):
                score = evaluate(train=train, test=test, synthetic=synthetic)
        with reporter.phase("release"), self._kept_model():
            return self._release(train, synthetic, passed, plausible, score, title)

    def _warm_up(self, train: Traces) -> None:
        """Compile the kernels, or load them from the disk, on a handful of users."""
        small = copy.copy(self.model)
        if hasattr(small, "iterations"):
            small.iterations = 1
        few = train.select(np.arange(min(4, train.n_users)))
        synthetic = small.fit(few).sample(1, length=self.wish.length, seed=self.wish.seed)
        if self.wish.k is not None:
            deterministic.deniability_test(small, synthetic, k=1, eta=self.wish.eta)

    def _test(
        self, synthetic: SyntheticTraces
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64] | None]:
        """Return which traces pass and, if all were counted, how many users are plausible."""
        wish = self.wish
        if wish.k is None:
            return np.ones(len(synthetic), dtype=bool), None
        with self.reporter.phase("deniability test"):
            result = deterministic.deniability_test(
                self.model,
                synthetic,
                k=wish.k,
                eta=wish.eta,
                verifiers=wish.verifiers,
                seed=wish.seed,
                count_all=wish.count_all,
                callback=self.reporter,
            )
        return result.passed, result.plausible if wish.count_all else None

    @contextmanager
    def _kept_model(self) -> Iterator[None]:
        """Write the model, if it is wished for, and keep it if the release succeeds."""
        if self.wish.keep_model is None:
            yield
            return
        with atomic_file(self.wish.keep_model) as partial:
            self.model.save(partial)  # type: ignore[attr-defined]
            partial.chmod(0o600)
            yield

    def _release(
        self,
        train: Traces,
        synthetic: SyntheticTraces,
        passed: NDArray[np.bool_],
        plausible: NDArray[np.int64] | None,
        score: Scorecard | None,
        title: str,
    ) -> Release:
        wish = self.wish
        settings = settings_of(self.model)
        size = {
            "users": train.n_users,
            "places": len(train.places),
            "slots": train.clock.n_slots,
            "events": train.n_events,
        }
        test = {"k": wish.k, "eta": wish.eta, "verifiers": wish.verifiers}
        manifest = {
            "started": self.started.isoformat(timespec="seconds"),
            "finished": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "seed": wish.seed,
            "model": {"name": self.model.name, **settings},
            "sampling": {"traces_per_user": wish.traces_per_user, "length": wish.length},
            "deniability": None if wish.k is None else test,
            "input": {**self.source, **size},
            "seconds": self.reporter.seconds,
            "peak_memory_mb": peak_memory_mb(),
            "score": None if score is None else score.to_dict(),
        }
        account = Account(
            title=title,
            settings={"model": self.model.name, **_shown(settings), **_shown(test)},
            input={"source": str(self.source.get("path", "")), **_shown(size)},
            effort={
                **{phase: readable_time(s) for phase, s in self.reporter.seconds.items()},
                "peak memory": f"{peak_memory_mb():,.0f} MB",
            },
            made=len(synthetic),
            released=int(passed.sum()),
            k=wish.k,
            eta=wish.eta,
            pass_rates=pass_rates(plausible, train.n_users),
            scores=[] if score is None else score_rows(score),
        )
        done = release(
            synthetic,
            passed,
            wish.out,
            format=wish.output_format,
            manifest=manifest,
            files={"report.html": render(account)},
            overwrite=wish.overwrite,
        )
        if done.released == 0:
            warn("no trace passed the test: the release is empty; try a smaller k or larger η")
        return done


def pass_rates(plausible: NDArray[np.int64] | None, users: int) -> list[tuple[int, float]]:
    """Return the share of traces with at least k plausible users, for a range of k."""
    if plausible is None or len(plausible) == 0:
        return []
    return [(k, float((plausible >= k).mean())) for k in SHOWN_K if k <= users]


def score_rows(card: Scorecard) -> list[tuple[str, str, str, str]]:
    """Return (score, synthetic, training, uniform or chance), as the page shows them."""
    rows = [
        (m.label, f"{m.mean:.4f}", f"{m.training:.4f}", f"{m.uniform:.4f}") for m in card.measures
    ]
    if card.reidentification is not None:
        attack = card.reidentification
        rows.append(
            ("re-identification rate", f"{attack.rate:.4f}", "", f"{attack.chance:.4f} (chance)")
        )
    if card.membership is not None:
        leak = card.membership
        rows.append(
            ("membership advantage", f"{leak.advantage:.4f}", "", f"{leak.chance:.4f} (chance)")
        )
    return rows


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of its files' names and hashes."""
    if not path.is_dir():
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(f for f in path.iterdir() if f.is_file()):
        digest.update(f"{file.name} {file_hash(file)}\n".encode())
    return digest.hexdigest()


def peak_memory_mb() -> float:
    """Return the most memory this process has held so far, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _shown(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        name.replace("_", " "): f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in values.items()
        if value is not None
    }
