"""PPMTF: the paper's synthesizer, from traces to Θ to synthetic traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import tensors
from doppeltrace.chain.factor_chain import FLOOR, FactorChain, factor_chain
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import InputError, require
from doppeltrace.factorize import gaussian
from doppeltrace.factorize.cells import ENOUGH
from doppeltrace.factorize.hyperprior import NormalWishart
from doppeltrace.factorize.reconstruction import ReconstructionErrors, reconstruction_errors
from doppeltrace.factorize.state import Factors, Observations, State
from doppeltrace.synthesizers.cost import Cost, Work, chain_memory
from doppeltrace.synthesizers.retry import RetryingSynthesizer
from doppeltrace.traces import Traces

# Thread-seconds and bytes; see `cost.Cost`.
ELEMENT_SECONDS = 7.3e-11  # per observed element, iteration and z (z + 24)
CELL_SECONDS = 4.6e-11  # the same where many users share a cell
DRAW_SECONDS = 5.5e-10  # per event drawn, place and factor
SUMS_SECONDS = 1.3e-10  # per user, place² and factor: the row sums of the proposals
STAYS_SECONDS = 1.7e-9  # per verifier, place² and slot
PAIR_SECONDS = 3.6e-9  # per trace, verifier and event
ELEMENT_BYTES = 6  # per observed element
CELL_BYTES = 2.5  # more where many users share a cell

PerTensor = int | tuple[int, int]
"""One value for both tensors, or (transitions, visits)."""


class PPMTF(RetryingSynthesizer):
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
    kappa : κ, or None. Retry if fail: iterate on after the last iteration until every
        reconstructed count is in [−κ, r_max + κ], which Proposition 1 needs; see `epsilon_`.
        Each look at Θ goes over all users × places².
    retries : further iterations at most; then training fails.
    seed, threads : see `Synthesizer`.

    `history` holds {"rmse": …} per iteration and, with holdout, {"heldout_rmse": …}.
    """

    name = "ppmtf"
    description = "PPMTF: Gaussian multiple tensor factorization"
    public_settings = {
        "alpha": "precision α of the counts",
        "factors": "factors",
        "iterations": "training iterations",
    }

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
        kappa: float | None = None,
        retries: int = 100,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(factors=factors, iterations=iterations, seed=seed, threads=threads)
        require(0 < alpha < np.inf, "alpha must be positive")
        require(floor > 0, "floor must be positive")
        require(0 <= holdout < 1, "holdout must be from 0 to below 1")
        require(kappa is None or 0 <= kappa < np.inf, "kappa must not be negative, or None")
        require(retries >= 0, "retries must not be negative")
        self.alpha = float(alpha)
        self.trim = _pair(trim, "trim", 1)
        self.zeros = _pair(zeros, "zeros", 0)
        self.max_count = _pair(max_count, "max_count", 1)
        self.mu0, self.beta0, self.w0, self.nu0 = mu0, beta0, w0, nu0
        self.floor = floor
        self.holdout = holdout
        self.kappa, self.retries = kappa, retries
        self._prior = NormalWishart.of(factors, mean=mu0, strength=beta0, scale=w0, degrees=nu0)

    def reconstruction_errors(
        self, *, unobserved_per_user: int = 1000, seed: int = 0
    ) -> ReconstructionErrors:
        """Return the sums of |r − r̂| over observed and unobserved elements of both tensors.

        What training observed is drawn again from the model's settings and seed; held-out
        elements were not observed. `seed` is that of the sample of unobserved elements,
        `unobserved_per_user` of each user. See `factorize.reconstruction`.
        """
        train = self.train
        with use_threads(self.threads):
            counts = Observations(tensors.transition_tensor(train), tensors.visit_tensor(train))
            observed, _ = self._hold_out(self._observe(train))
            return reconstruction_errors(
                self._states[0].factors,
                self._states[-1].factors,
                counts,
                observed,
                unobserved_per_user=unobserved_per_user,
                seed=seed,
            )

    def _begin(self, traces: Traces) -> list[tuple[Observations, Observations]]:
        return [self._hold_out(part) for part in self._parts(self._observe(traces))]

    def _start(self, part: int, work: tuple[Observations, Observations]) -> State:
        return gaussian.init(work[0], self.factors, self.seed, part)

    def _step(
        self, part: int, work: tuple[Observations, Observations]
    ) -> tuple[State, dict[str, float]]:
        training, held_out = work
        state, info = gaussian.step(
            self._states[part], training, self.alpha, self._prior, self.seed, part
        )
        figures = {"rmse": info.rmse}
        if self.holdout:
            figures["heldout_rmse"] = gaussian.rmse(state.factors, held_out)
        return state, figures

    def _learn_chain(self, traces: Traces) -> FactorChain:
        return self._factor_chain()

    def _chain_of_file(
        self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]
    ) -> FactorChain:
        return self._factor_chain()

    def _factor_chain(self) -> FactorChain:
        first, last = self._states[0].factors, self._states[-1].factors
        return factor_chain(first, last, floor=self.floor)

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

    def _cost(self, traces: Traces, work: Work) -> Cost:
        z, places, slots = self.factors, len(traces.places), traces.clock.n_slots
        elements = self._observed_elements(traces)
        in_cells = elements >= ENOUGH * places * (places + slots)
        per_element = CELL_SECONDS if in_cells else ELEMENT_SECONDS
        test = 0.0
        if work.k is not None:  # few traces pass, so nearly all pairs are looked at
            sums, stays = SUMS_SECONDS * z, STAYS_SECONDS * slots
            test = places**2 * (traces.n_users * sums + work.verifiers * (sums + stays))
            test += PAIR_SECONDS * work.verifiers * work.events
        return Cost(
            training=per_element * elements * z * (z + 24) * self.iterations,
            synthesis=DRAW_SECONDS * work.events * places * z,
            test=test,
            memory=(ELEMENT_BYTES + CELL_BYTES * in_cells) * elements + chain_memory(traces, z),
        )

    def _observed_elements(self, traces: Traces) -> float:
        """Return how many positive and zero elements of both tensors training looks at."""
        places, slots = len(traces.places), traces.clock.n_slots
        events = traces.n_events / traces.n_users
        cells = (places * places, places * slots)
        return traces.n_users * sum(
            min(zeros, cell) + min(trim, events)
            for zeros, trim, cell in zip(self.zeros, self.trim, cells, strict=True)
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
        model._states = [State(theta, model.iterations)]
        model._chain = model._learn_chain(like)
        model._fitted_to(like)
        return model


def _pair(value: PerTensor, name: str, least: int) -> tuple[int, int]:
    """Return (transitions, visits) of a setting that may be given once for both."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    require(
        len(pair) == 2 and all(isinstance(v, int) and v >= least for v in pair),
        f"{name} must be an integer of at least {least}, or two: (transitions, visits)",
    )
    return pair[0], pair[1]
