"""What a run shall make, and what is wrong with it before anything is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from doppeltrace.deniability.randomized import one_trace_privacy
from doppeltrace.errors import require
from doppeltrace.files import check_destination, check_file
from doppeltrace.report.public.publication import Publication
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import Traces


@dataclass(frozen=True)
class RunSettings:
    """What to make and where to put it; the model carries its own settings.

    Attributes
    ----------
    k, eta : of the deniability test; k None releases without it.
    verifiers : how many users, drawn at random, may vouch for a trace; None means all.
    epsilon0, delta : of the randomized test, which takes the place of the deterministic one if
        epsilon0 is given: input users are drawn at random, and k gets Laplace(1/ε₀) noise.
    count_all : count plausible users beyond k, for the pass rate as a function of k.
    seed : of everything; kept in the manifest only.
    keep_model : file for the trained model, or None.
    resume : go on where an earlier run to the same folder was stopped.
    checkpoint_seconds : how often, at most, what is done is kept on the disk while the run
        lasts; None keeps nothing.
    publication : the publisher's words on the public page.
    """

    out: Path
    seed: int
    traces_per_user: int = 1
    length: int | None = None
    k: int | None = 10
    eta: float = 1.0
    verifiers: int | None = None
    epsilon0: float | None = None
    delta: float = 1e-3
    count_all: bool = False
    output_format: Literal["csv", "parquet"] = "csv"
    overwrite: bool = False
    keep_model: Path | None = None
    resume: bool = False
    checkpoint_seconds: float | None = 30.0
    publication: Publication = field(default_factory=Publication)

    def check(self) -> None:
        """Raise what can be known to be wrong before anything is read."""
        require(self.traces_per_user >= 1, "--traces-per-user must be at least 1")
        require(self.length is None or self.length >= 1, "--length must be at least 1")
        require(self.k is None or self.k >= 1, "--k must be at least 1")
        require(np.isfinite(self.eta) and self.eta > 0, "--eta must be a number greater than 0")
        require(self.verifiers is None or self.verifiers >= 1, "--verifiers must be at least 1")
        if self.verifiers is not None and self.k is not None:
            require(
                self.verifiers >= self.k - 1,
                f"--verifiers {self.verifiers} is too few for --k {self.k}: no trace could pass; "
                f"take at least {self.k - 1}, or lower --k",
            )
        if self.epsilon0 is not None:
            require(self.k is not None, "--randomized-test and --no-test exclude each other")
            require(self.verifiers is None, "--randomized-test takes all users as verifiers")
            one_trace_privacy(self.k or 0, self.eta, self.epsilon0, self.delta)
        check_destination(self.out, overwrite=self.overwrite)
        require(
            self.checkpoint_seconds is None or self.checkpoint_seconds >= 0,
            "--checkpoint-seconds must not be negative",
        )
        require(
            self.checkpoint_seconds is not None or not self.resume,
            "--resume and --no-checkpoint exclude each other",
        )
        if self.keep_model is not None:
            require(
                not self.keep_model.resolve().is_relative_to(self.out.resolve()),
                f"--keep-model {self.keep_model} lies inside --out, from which traces are "
                "published: keep it elsewhere",
            )
            check_file(self.keep_model, overwrite=self.overwrite or self.resume)

    def check_model(self, model: Synthesizer) -> None:
        """Raise if traces of this model cannot be released as wished."""
        require(
            model.name != "training",
            "--model training gives the input traces themselves: it is there to be compared "
            "with, not to be released",
        )
        require(
            self.k is None or type(model).log_likelihood is not Synthesizer.log_likelihood,
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
            f"--k {self.k} is larger than the number of users ({users}): no trace could pass; "
            "lower --k",
        )
        require(
            self.verifiers is None or self.verifiers <= users,
            f"--verifiers {self.verifiers} is larger than the number of users ({users})",
        )
