"""What is audited: all that happens between the input and the file that leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from doppeltrace.deniability.deterministic import deniability_test
from doppeltrace.safeguards.protect import protect
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.traces import SyntheticTraces, Traces


@dataclass(frozen=True, eq=False)
class Published:
    """A release, with what its maker knows.

    Attributes
    ----------
    released : the traces that leave.
    train : the traces that the model was fitted to, with the places of the release.
    place_of : (n_places,) number in the release of each place of the input, −1 if it is gone.
    merged : (n_places,) whether a place of the input was merged into another.
    model : the fitted model, or None if the process has none to show.
    """

    released: SyntheticTraces
    train: Traces
    place_of: NDArray[np.int64]
    merged: NDArray[np.bool_]
    model: Synthesizer | None = None


class Process(Protocol):
    """Makes a release from traces."""

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides it, for JSON."""

    def __call__(self, traces: Traces, seed: int, traces_per_user: int) -> Published:
        """Run with fresh random numbers; equal seeds give equal releases."""


@dataclass(frozen=True, eq=False)
class ReleaseProcess:
    """Protect the input, fit, sample, test, keep what passed: what `synthesize` does.

    Attributes
    ----------
    model : gives kind and settings; a new one is fitted in every run.
    k, eta : of the deniability test; k = None leaves it out, as do models without likelihoods.
    min_users : users that a place needs (`safeguards.protect`, which bounds users too); None fits
        to the bare input.
    threads : of every fit; None for all cores.
    """

    model: Synthesizer
    k: int | None = 10
    eta: float = 1.0
    min_users: int | None = 5
    threads: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the process."""
        return {
            "model": self.model.name,
            "model_settings": self.model.settings,
            "k": self.k if self.model.testable else None,
            "eta": self.eta,
            "min_users": self.min_users,
        }

    def __call__(self, traces: Traces, seed: int, traces_per_user: int) -> Published:
        """Make a release."""
        train, place_of = traces, np.arange(len(traces.places))
        merged = np.zeros(len(place_of), np.bool_)
        if self.min_users is not None:
            safe = protect(traces, min_users=self.min_users, seed=seed)
            train, place_of, merged = safe.fitted, safe.place_of, safe.merged
        model = type(self.model)(**self.model.settings, seed=seed, threads=self.threads)
        model.fit(train)
        made = model.sample(traces_per_user, seed=seed)
        if self.k is not None and model.testable:
            k = min(self.k, train.n_users)
            test = deniability_test(model, made, k=k, eta=self.eta, count_all=False)
            made = made.select(test.passed)
        return Published(made, train, place_of, merged, model)
