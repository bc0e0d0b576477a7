"""What PPMTF, ITF and Doppel have in common: Θ by Gibbs sampling, checkpoints, model files."""

from __future__ import annotations

import time
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from doppeltrace.errors import InputError, require
from doppeltrace.factorize.state import Factors, State
from doppeltrace.progress import Callback, Step, silent
from doppeltrace.synthesizers.chained import ChainSynthesizer
from doppeltrace.synthesizers.model_file import (
    fingerprint,
    read_about,
    read_model,
    write_model,
)
from doppeltrace.traces import Traces


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
        self.n_factors = factors
        self.iterations = iterations
        self.history: list[dict[str, float]] = []
        self._states: list[State] = []
        self._chain: Any = None

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings that decide the model, without seed and threads."""

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
    def _build_chain(self) -> Any:
        """Return the chain of the current Θ."""

    @property
    def factors_(self) -> Factors:
        """Θ = (A, B, C, D); raises `NotFittedError` before `fit`."""
        self.train  # noqa: B018  (raises before fit)
        return self._states[0].factors

    @property
    def clusters_(self) -> Factors | None:
        """Θ."""
        return self.factors_

    def for_warm_up(self) -> Self:
        """Return a copy that trains for one iteration."""
        return type(self)(
            **{**_constructor_arguments(self.settings), "iterations": 1},
            seed=self.seed,
            threads=self.threads,
        )

    @property
    def chain(self) -> Any:
        """The chain of Θ."""
        self.train  # noqa: B018  (raises before fit)
        if self._chain is None:
            self._chain = self._build_chain()
        return self._chain

    def fit(
        self,
        traces: Traces,
        *,
        callback: Callback = silent,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 30.0,
    ) -> Self:
        """Learn Θ from traces.

        Parameters
        ----------
        checkpoint : file to save the sampler in after an iteration, at most every
            `checkpoint_seconds`, and at the end of a training that takes longer than that; if
            it exists already and belongs to the same
            data, settings and seed, training goes on from it, with the same result as without
            the interruption. It holds Θ and the seed, so it is as secret as the input; remove
            it afterwards.
        """
        require(checkpoint_seconds >= 0, "checkpoint_seconds must not be negative")
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self._checkpoint_seconds = checkpoint_seconds
        return super().fit(traces, callback=callback)

    def _fit(self, traces: Traces, callback: Callback) -> None:
        require(
            self.n_factors <= len(traces.places),
            f"factors = {self.n_factors} exceeds the {len(traces.places)} locations: "
            "lower the number of factors",
        )
        parts = self._begin(traces)
        self._chain = None
        self.history = []
        self._states = [self._start(part, work) for part, work in enumerate(parts)]
        if self._checkpoint is not None and self._checkpoint.exists():
            self._resume(traces)
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
                    self._write(self._checkpoint, traces)
                    written = time.monotonic()
                callback(Step("training", done, total, figures))

    def save(self, path: str | Path) -> None:
        """Write Θ, settings and seed to a model file. It must not leave your hands."""
        self._write(Path(path), self.train)

    @classmethod
    def load(cls, path: str | Path, traces: Traces, *, threads: int | None = None) -> Self:
        """Return the model of a file written by `save` for the same traces."""
        arrays, about = read_model(Path(path))
        if about["model"] != cls.name:
            raise InputError(f"{path} holds a model of kind {about['model']}, not {cls.name}")
        model = cls(**_constructor_arguments(about["settings"]), seed=int(about["seed"]),
                    threads=threads)  # fmt: skip
        model._restore(Path(path), arrays, about, traces)
        model._train = traces
        return model

    def _write(self, path: Path, traces: Traces) -> None:
        about = {
            "model": self.name,
            "settings": self.settings,
            "seed": str(self.seed),
            "iterations": [state.iteration for state in self._states],
            "history": self.history,
            "data": fingerprint(traces),
        }
        arrays = {
            f"{name}{part}": getattr(state.factors, name)
            for part, state in enumerate(self._states)
            for name in "ABCD"
        }
        write_model(path, arrays, about)

    def _resume(self, traces: Traces) -> None:
        assert self._checkpoint is not None
        arrays, about = read_model(self._checkpoint)
        self._check_same(self._checkpoint, about)
        self._restore(self._checkpoint, arrays, about, traces)

    def check_checkpoint(self, path: str | Path) -> int:
        """Return how many iterations a checkpoint has done.

        Raises
        ------
        InputError : it was made by another model, or with other settings or another seed.
        """
        about = read_about(Path(path))
        self._check_same(Path(path), about)
        return sum(about["iterations"])

    def _check_same(self, path: Path, about: dict[str, Any]) -> None:
        mine, theirs = (
            {k: v for k, v in settings.items() if k != "iterations" or not self._may_go_on}
            for settings in (self.settings, about["settings"])
        )
        if (about["model"], theirs, int(about["seed"])) != (self.name, mine, self.seed):
            raise InputError(
                f"checkpoint {path} was made with other settings or another seed: "
                "use those, or remove the file to start anew"
            )
        if max(about["iterations"]) > self.iterations:
            raise InputError(
                f"checkpoint {path} is beyond the {self.iterations} iterations asked "
                "for: ask for more, or remove the file to start anew"
            )

    def _restore(
        self, path: Path, arrays: dict[str, NDArray], about: dict[str, Any], traces: Traces
    ) -> None:
        if about["data"] != fingerprint(traces):
            raise InputError(f"{path} was made from other data: use the same input")
        self._states = [
            State(Factors(*(arrays[f"{name}{part}"] for name in "ABCD")), iteration)
            for part, iteration in enumerate(about["iterations"])
        ]
        self.history = list(about["history"])


def _constructor_arguments(settings: dict[str, Any]) -> dict[str, Any]:
    """Turn the lists of a JSON header back into tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
