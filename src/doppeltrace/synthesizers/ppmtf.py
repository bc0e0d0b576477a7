"""PPMTF: the paper's synthesizer, from traces to Θ to synthetic traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import tensors
from doppeltrace.chain.factor_chain import FLOOR, FactorChain, factor_chain
from doppeltrace.errors import InputError, require
from doppeltrace.factorize import gaussian
from doppeltrace.factorize.gaussian import Factors, Observations
from doppeltrace.factorize.hyperprior import NormalWishart
from doppeltrace.progress import Callback, Step, silent
from doppeltrace.synthesizers.chained import ChainSynthesizer
from doppeltrace.synthesizers.model_file import fingerprint, read_model, write_model
from doppeltrace.traces import Traces

PerTensor = int | tuple[int, int]
"""One value for both tensors, or (transitions, visits)."""


class PPMTF(ChainSynthesizer):
    """Privacy-Preserving Multiple Tensor Factorization.

    Parameters
    ----------
    alpha : α, precision of the counts around their reconstruction; larger follows the data
        more closely.
    factors : z, columns of each factor matrix.
    iterations : Gibbs iterations; the last one's Θ is the model.
    trim : λ, most positive elements per user and tensor.
    zeros : ρ, zero elements observed per user and tensor.
    max_count : r_max, where counts are cut.
    mu0, beta0, w0, nu0 : the hyperprior N(μ | μ₀, (β₀Λ)⁻¹) W(Λ | W₀, ν₀), W₀ = w0 · I;
        nu0 None means z.
    floor : φ, smallest reconstructed count.
    holdout : fraction of the observed elements kept out of training, to see the model predict
        them (`history`).
    seed, threads : see `Synthesizer`.

    Attributes
    ----------
    factors_ : Θ after `fit`.
    history : per iteration {"rmse": …} and, with holdout, {"heldout_rmse": …}.
    """

    name = "ppmtf"

    def __init__(
        self,
        *,
        alpha: float = 200.0,
        factors: int = 16,
        iterations: int = 100,
        trim: PerTensor = 100,
        zeros: PerTensor = 1000,
        max_count: PerTensor = 10,
        mu0: float = 0.0,
        beta0: float = 2.0,
        w0: float = 1.0,
        nu0: float | None = None,
        floor: float = FLOOR,
        holdout: float = 0.0,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(seed=seed, threads=threads)
        require(0 < alpha < np.inf, "alpha must be positive")
        require(factors >= 1, "factors must be at least 1")
        require(iterations >= 1, "iterations must be at least 1")
        require(floor > 0, "floor must be positive")
        require(0 <= holdout < 1, "holdout must be from 0 to below 1")
        self.alpha = float(alpha)
        self.n_factors = factors
        self.iterations = iterations
        self.trim = _pair(trim, "trim", 1)
        self.zeros = _pair(zeros, "zeros", 0)
        self.max_count = _pair(max_count, "max_count", 1)
        self.mu0, self.beta0, self.w0, self.nu0 = mu0, beta0, w0, nu0
        self.floor = floor
        self.holdout = holdout
        self._prior = NormalWishart.of(factors, mean=mu0, strength=beta0, scale=w0, degrees=nu0)
        self._states: list[gaussian.State] = []
        self._chain: FactorChain | None = None
        self.history: list[dict[str, float]] = []

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide the model, without seed and threads."""
        return {
            "alpha": self.alpha,
            "factors": self.n_factors,
            "iterations": self.iterations,
            "trim": list(self.trim),
            "zeros": list(self.zeros),
            "max_count": list(self.max_count),
            "mu0": self.mu0,
            "beta0": self.beta0,
            "w0": self.w0,
            "nu0": self.nu0,
            "floor": self.floor,
            "holdout": self.holdout,
        }

    @property
    def factors_(self) -> Factors:
        """Θ = (A, B, C, D); raises `NotFittedError` before `fit`."""
        self.train  # noqa: B018  (raises before fit)
        return self._states[0].factors

    @property
    def chain(self) -> FactorChain:
        """The chain of Θ."""
        self.train  # noqa: B018  (raises before fit)
        if self._chain is None:
            first, last = self._states[0].factors, self._states[-1].factors
            self._chain = factor_chain(first, last, floor=self.floor)
        return self._chain

    def fit(
        self,
        traces: Traces,
        *,
        callback: Callback = silent,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
    ) -> Self:
        """Learn Θ from traces.

        Parameters
        ----------
        checkpoint : file to save the sampler in every `checkpoint_every` iterations; if it
            exists already and belongs to the same data, settings and seed, training goes on
            from it, with the same result as without the interruption.
        """
        require(checkpoint_every >= 1, "checkpoint_every must be at least 1")
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self._checkpoint_every = checkpoint_every
        return super().fit(traces, callback=callback)

    def _fit(self, traces: Traces, callback: Callback) -> None:
        require(
            self.n_factors <= len(traces.places),
            f"factors = {self.n_factors} exceeds the {len(traces.places)} locations: "
            "lower the number of factors",
        )
        parts = [self._hold_out(part) for part in self._parts(self._observe(traces))]
        self._chain = None
        self.history = []
        self._states = [
            gaussian.init(training, self.n_factors, self.seed, part)
            for part, (training, _) in enumerate(parts)
        ]
        if self._checkpoint is not None and self._checkpoint.exists():
            self._resume(traces)
        total = self.iterations * len(parts)
        for part, (training, held_out) in enumerate(parts):
            while self._states[part].iteration < self.iterations:
                self._states[part], info = gaussian.step(
                    self._states[part], training, self.alpha, self._prior, self.seed, part
                )
                figures = {"rmse": info.rmse}
                if self.holdout:
                    figures["heldout_rmse"] = gaussian.rmse(self._states[part].factors, held_out)
                self.history.append(figures)
                done = part * self.iterations + self._states[part].iteration
                if self._checkpoint is not None and (
                    done % self._checkpoint_every == 0 or done == total
                ):
                    self._write(self._checkpoint, traces)
                callback(Step("training", done, total, figures))

    def _parts(self, observed: Observations) -> list[Observations]:
        """Return what is factorized: here both tensors at once."""
        return [observed]

    def _hold_out(self, observed: Observations) -> tuple[Observations, Observations]:
        """Return (for training, held out)."""
        (t, t_out), (v, v_out) = (
            tensors.hold_out(tensor, self.holdout, self.seed, name)
            for tensor, name in (
                (observed.transitions, "transitions"),
                (observed.visits, "visits"),
            )
        )
        return Observations(t, v), Observations(t_out, v_out)

    def _observe(self, traces: Traces) -> Observations:
        """Step (i): count, trim, and sample zeros."""
        counted = (tensors.transition_tensor(traces), tensors.visit_tensor(traces))
        return Observations(
            *(
                tensors.observe(
                    counts,
                    most_elements=self.trim[t],
                    most_count=self.max_count[t],
                    zeros=self.zeros[t],
                    seed=self.seed,
                    name=("transitions", "visits")[t],
                )
                for t, counts in enumerate(counted)
            )
        )

    @classmethod
    def from_factors(
        cls,
        A: ArrayLike,
        B: ArrayLike,
        C: ArrayLike,
        D: ArrayLike,
        *,
        like: Traces,
        **settings: Any,
    ) -> Self:
        """Return a fitted model with the given factors.

        A (users, z), B and C (places, z), D (slots, z) must fit the traces `like`.
        """
        theta = Factors(*(np.asarray(m, dtype=np.float64) for m in (A, B, C, D)))
        expected = (like.n_users, len(like.places), len(like.places), like.clock.n_slots)
        matrices = (theta.A, theta.B, theta.C, theta.D)
        if any(m.ndim != 2 or m.shape[1:] != theta.A.shape[1:] for m in matrices):
            raise InputError("factors must be four matrices with the same number of columns")
        actual = tuple(len(m) for m in matrices)
        if actual != expected:
            raise InputError(
                f"factors have {actual} rows, but the data have {expected} "
                "users, places, places and slots"
            )
        if not all(np.all(np.isfinite(m)) for m in matrices):
            raise InputError("factors hold NaN or infinite entries")
        z = theta.n_factors
        model = cls(factors=z, **settings)
        model._states = [gaussian.State(theta, model.iterations)]
        model._train = like
        return model

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
        mine = {k: v for k, v in self.settings.items() if k != "iterations"}
        theirs = {k: v for k, v in about["settings"].items() if k != "iterations"}
        if (about["model"], theirs, int(about["seed"])) != (self.name, mine, self.seed):
            raise InputError(
                f"checkpoint {self._checkpoint} was made with other settings or another seed: "
                "use those, or remove the file to start anew"
            )
        if max(about["iterations"]) > self.iterations:
            raise InputError(
                f"checkpoint {self._checkpoint} is beyond the {self.iterations} iterations asked "
                "for: ask for more, or remove the file to start anew"
            )
        self._restore(self._checkpoint, arrays, about, traces)

    def _restore(
        self, path: Path, arrays: dict[str, NDArray], about: dict[str, Any], traces: Traces
    ) -> None:
        if about["data"] != fingerprint(traces):
            raise InputError(f"{path} was made from other data: use the same input")
        self._states = [
            gaussian.State(Factors(*(arrays[f"{name}{part}"] for name in "ABCD")), iteration)
            for part, iteration in enumerate(about["iterations"])
        ]
        self.history = list(about["history"])


def _pair(value: PerTensor, name: str, least: int) -> tuple[int, int]:
    """Return (transitions, visits) of a setting that may be given once for both."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    require(
        len(pair) == 2 and all(isinstance(v, int) and v >= least for v in pair),
        f"{name} must be an integer of at least {least}, or two: (transitions, visits)",
    )
    return pair[0], pair[1]


def _constructor_arguments(settings: dict[str, Any]) -> dict[str, Any]:
    """Turn the lists of a JSON header back into tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
