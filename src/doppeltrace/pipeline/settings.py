"""What a run makes, and what is wrong with it before anything is done."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from doppeltrace.deniability.randomized import one_trace_privacy
from doppeltrace.errors import require
from doppeltrace.files import check_destination, check_file
from doppeltrace.release.columns import FORMATS
from doppeltrace.report.public.publication import Publication
from doppeltrace.safeguards.rare_places import MIN_USERS
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import Traces

MAX_ETA = 100.0
"""Likelihoods that differ by a factor of e^100 are not alike in any sense."""


@dataclass(frozen=True)
class RunSettings:
    """What to make and where to put it; the model carries its own settings.

    Attributes
    ----------
    seed : of everything; kept in the manifest only.
    out : the run's folder, or None to write nothing.
    traces_per_user, n_traces : traces from each input user's model, or traces in all; the latter
        takes the place of the former.
    length : events per trace; None means the clock's instants.
    min_users : training users that a place needs; places with fewer are merged into the nearest
        one with enough before anything is learned. 1 merges nothing.
    allow_rare_places : release places of few people all the same.
    max_events : events of one user that the model may see; None takes ten times the typical
        user's.
    k, eta : of the deniability test; k=None releases without it.
    verifiers : how many users, drawn at random, may vouch for a trace; None means all.
    epsilon0, delta : of the randomized test, which takes the place of the deterministic one if
        epsilon0 is given: input users are drawn at random, and k gets Laplace(1/ε₀) noise.
    count_all : count plausible users beyond k, for the pass rate as a function of k.
    output_format : "csv" or "parquet".
    overwrite : replace an earlier run.
    keep_model : file for the trained model, or None.
    resume : go on where an earlier run to the same folder was stopped.
    checkpoint_seconds : how often, at most, what is done is kept on the disk while the run
        lasts; None keeps nothing.
    anyway : start even if the memory that is free may not suffice.
    publication : the publisher's words on the public page.
    """

    seed: int
    out: Path | None = None
    traces_per_user: int = 1
    n_traces: int | None = None
    length: int | None = None
    min_users: int = MIN_USERS
    allow_rare_places: bool = False
    max_events: int | None = None
    k: int | None = 10
    eta: float = 1.0
    verifiers: int | None = None
    epsilon0: float | None = None
    delta: float = 1e-3
    count_all: bool = False
    output_format: str = "csv"
    overwrite: bool = False
    keep_model: Path | None = None
    resume: bool = False
    checkpoint_seconds: float | None = 30.0
    anyway: bool = False
    publication: Publication = field(default_factory=Publication)

    def check(self, model: Synthesizer) -> None:
        """Raise what can be known to be wrong before anything is read."""
        self._check_numbers()
        self._check_test()
        self._check_model(model)
        self._check_files()

    def _check_numbers(self) -> None:
        whole = isinstance(self.seed, int | np.integer) and not isinstance(self.seed, bool)
        require(whole and self.seed >= 0, "seed must be a non-negative integer", "seed")
        always = ("traces_per_user", "min_users")
        for name in (*always, "n_traces", "length", "max_events", "k", "verifiers"):
            value = getattr(self, name)
            if value is not None or name in always:
                require(_is_whole(value), f"{name} must be at least 1, and a whole number", name)
        require(
            self.min_users > 1 or self.allow_rare_places,
            "min_users=1 keeps places that only one person visits, who can then be told by them: "
            "to do so all the same, add allow_rare_places=True",
            "min_users",
            "allow_rare_places",
        )
        require(
            _is_number(self.eta) and 0 < self.eta <= MAX_ETA,
            f"eta must be a number greater than 0, and at most {MAX_ETA:g}",
            "eta",
        )
        seconds = self.checkpoint_seconds
        require(
            seconds is None or (_is_number(seconds) and seconds >= 0),
            "checkpoint_seconds must be a number, and not negative",
            "checkpoint_seconds",
        )
        require(
            self.output_format in FORMATS,
            f"output_format must be one of {', '.join(FORMATS)}",
            "output_format",
        )

    def _check_test(self) -> None:
        if self.verifiers is not None and self.k is not None:
            require(
                self.verifiers >= self.k - 1,
                f"verifiers={self.verifiers} is too few for k={self.k}: no trace could pass; "
                f"take at least {self.k - 1}, or lower k",
                "verifiers",
                "k",
            )
        if self.epsilon0 is not None:
            require(
                self.k is not None,
                "epsilon0 and k=None exclude each other: the randomized test is a test",
                "epsilon0",
                "k",
            )
            require(
                self.verifiers is None,
                "epsilon0 and verifiers exclude each other: the randomized test asks all users",
                "epsilon0",
                "verifiers",
            )
            one_trace_privacy(self.k or 0, self.eta, self.epsilon0, self.delta)

    def _check_model(self, model: Synthesizer) -> None:
        require(
            model.releasable,
            f"model={model.name} is there to be compared with, not to be released: choose another "
            "model",
            "model",
        )
        require(
            self.k is None or model.testable,
            f"model={model.name} has no likelihood to test: choose another model, or release "
            "without the test (k=None)",
            "model",
            "k",
        )
        require(
            model.has_owners or self.n_traces is not None,
            f"n_traces must be given with model={model.name}, whose traces belong to no user: the "
            "number of input users is not to show in the release",
            "n_traces",
            "model",
        )
        require(
            self.keep_model is None or model.savable,
            f"keep_model: a model of the kind {model.name} cannot be saved",
            "keep_model",
        )

    def _check_files(self) -> None:
        require(
            not self.resume or (self.out is not None and self.checkpoint_seconds is not None),
            "resume needs an out folder, and excludes checkpoint_seconds=None",
            "resume",
            "out",
            "checkpoint_seconds",
        )
        if self.out is not None:
            check_destination(self.out, overwrite=self.overwrite)
        if self.keep_model is not None:
            require(
                self.out is None
                or not self.keep_model.resolve().is_relative_to(self.out.resolve()),
                f"keep_model={self.keep_model} lies inside out, from which traces are published: "
                "keep it elsewhere",
                "keep_model",
                "out",
            )
            check_file(self.keep_model, overwrite=self.overwrite or self.resume)

    def check_against(self, traces: Traces) -> None:
        """Raise what the size of the input makes impossible."""
        traces.clock.timeline(self.length)
        if self.k is None:
            return
        users = traces.n_users
        require(
            self.k <= users,
            f"k={self.k} is larger than the number of users ({users}): no trace could pass; "
            "lower k",
            "k",
        )
        require(
            self.verifiers is None or self.verifiers <= users,
            f"verifiers={self.verifiers} is larger than the number of users ({users})",
            "verifiers",
        )


def _is_whole(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(value >= 1)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and math.isfinite(value)
