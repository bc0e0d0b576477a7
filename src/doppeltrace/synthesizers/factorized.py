"""What PPMTF, ITF and Doppel have in common: Θ by Gibbs sampling, checkpoints, model files."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from doppeltrace.errors import InputError, require
from doppeltrace.factorize.state import Factors, State
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers.chained import ChainSynthesizer
from doppeltrace.synthesizers.model_file import (
    fingerprint,
    read_about,
    read_model,
    write_model,
)
from doppeltrace.traces import Traces

START_ANEW = "remove the file to start anew"
"""The remedy for a checkpoint that cannot be used."""


class FactorizedSynthesizer(ChainSynthesizer):
    """A chain whose parameters Θ come from one or more Gibbs samplers (`parts`).

    Attributes
    ----------
    factors_ : Θ after `fit` (of the first part).
    history : what each iteration told, such as {"rmse": …}.
    """

    savable = True
    resumable = True
    _may_go_on: ClassVar[bool] = True
    """Whether a checkpoint may be trained further than it was meant to."""

    def __init__(
        self, *, factors: int, iterations: int, seed: int | None, threads: int | None
    ) -> None:
        super().__init__(seed=seed, threads=threads)
        require(factors >= 1, "factors must be at least 1")
        require(iterations >= 1, "iterations must be at least 1")
        self.factors = factors
        self.iterations = iterations
        self.history: list[dict[str, float]] = []
        self._states: list[State] = []
        self._chain: Any = None

    @abstractmethod
    def _begin(self, traces: Traces) -> list[Any]:
        """Return what each part's sampler works on."""

    @abstractmethod
    def _start(self, part: int, work: Any) -> State:
        """Return a part's initial state."""

    @abstractmethod
    def _step(self, part: int, work: Any) -> tuple[State, dict[str, float]]:
        """Return a part's next state and what it tells."""

    @abstractmethod
    def _learn_chain(self, traces: Traces) -> Any:
        """Return the chain of the current Θ, with whatever else it takes from the traces."""

    @abstractmethod
    def _chain_of_file(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> Any:
        """Return the chain of a model file; Θ is set already."""

    @property
    def factors_(self) -> Factors:
        """Θ = (A, B, C, D); raises `NotFittedError` before `fit`."""
        self._known()
        return self._states[0].factors

    @property
    def clusters_(self) -> Factors | None:
        """Θ."""
        return self.factors_

    def for_warm_up(self) -> Self:
        """Return a copy that trains for one iteration."""
        return type(self)(**{**self.get_params(), "iterations": 1})

    @property
    def chain(self) -> Any:
        """The chain of Θ."""
        self._known()
        return self._chain

    def check_against(self, traces: Traces) -> None:
        """Raise `SettingsError` if there are fewer places than factors."""
        require(
            self.factors <= len(traces.places),
            f"factors={self.factors} exceeds the number of places ({len(traces.places)}): lower "
            "factors",
            "factors",
        )

    def _fit(self, traces: Traces, callback: Callback) -> None:
        data = "" if self._checkpoint is None else fingerprint(traces)
        parts = self._begin(traces)
        self.history = []
        self._states = [self._start(part, work) for part, work in enumerate(parts)]
        if self._checkpoint is not None and self._checkpoint.exists():
            self._resume(self._checkpoint, data)
        total = self.iterations * len(parts)
        began = written = time.monotonic()
        for part, work in enumerate(parts):
            while self._states[part].iteration < self.iterations:
                self._states[part], figures = self._step(part, work)
                self.history.append(figures)
                done = part * self.iterations + self._states[part].iteration
                since = began if done == total else written
                if (
                    self._checkpoint is not None
                    and time.monotonic() - since >= self._checkpoint_seconds
                ):
                    self._keep(self._checkpoint, data)
                    written = time.monotonic()
                callback(Step("training", done, total, figures))
        self._chain = self._learn_chain(traces)

    def _saved(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        arrays: dict[str, NDArray[Any]] = {
            f"{name}{part}": getattr(state.factors, name)
            for part, state in enumerate(self._states)
            for name in "ABCD"
        }
        iterations = [state.iteration for state in self._states]
        return arrays, {"iterations": iterations, "history": self.history}

    def _restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        self._set_factors(arrays, state)
        self._chain = self._chain_of_file(arrays, state)

    def _set_factors(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        self._states = [
            State(Factors(*(arrays[f"{name}{part}"] for name in "ABCD")), iteration)
            for part, iteration in enumerate(state["iterations"])
        ]
        self.history = list(state["history"])

    def _keep(self, path: Path, data: str) -> None:
        """Write a checkpoint."""
        arrays, state = FactorizedSynthesizer._saved(self)  # Θ alone: the rest is learned later
        about = {
            "model": self.name,
            "settings": self.settings,
            "seed": str(self.seed),
            "data": data,
            "state": state,
        }
        write_model(path, arrays, about)

    def _resume(self, path: Path, data: str) -> None:
        """Go on from a checkpoint."""
        arrays, about = read_model(path, START_ANEW)
        self._check_same(path, about)
        if about["data"] != data:
            raise InputError(
                f"checkpoint {path} was made from other data: use the same input, or {START_ANEW}"
            )
        self._set_factors(arrays, about["state"])

    def check_checkpoint(self, path: str | Path) -> int:
        """Return how many iterations a checkpoint has done.

        Raises
        ------
        InputError : it was made by another model, or with other settings or another seed.
        """
        about = read_about(Path(path), START_ANEW)
        self._check_same(Path(path), about)
        return sum(about["state"]["iterations"])

    def _check_same(self, path: Path, about: Mapping[str, Any]) -> None:
        mine, theirs = (
            {k: v for k, v in settings.items() if k != "iterations" or not self._may_go_on}
            for settings in (json.loads(json.dumps(self.settings)), about["settings"])
        )
        if (about["model"], theirs, int(about["seed"])) != (self.name, mine, self.seed):
            raise InputError(
                f"checkpoint {path} was made with other settings or another seed: use those, or "
                f"{START_ANEW}"
            )
        if max(about["state"]["iterations"]) > self.iterations:
            raise InputError(
                f"checkpoint {path} is beyond the {self.iterations} iterations asked for: ask for "
                f"more, or {START_ANEW}"
            )
