"""Doppel: our own model. Poisson factorization, and a chain along the population's moves."""

from __future__ import annotations

from typing import Any

from doppeltrace import tensors
from doppeltrace.chain.base_chain import BaseChain, base_chain
from doppeltrace.chain.population import Base, check_settings, population_base
from doppeltrace.errors import require
from doppeltrace.factorize import poisson
from doppeltrace.factorize.poisson import Exposure
from doppeltrace.factorize.state import Observations, State
from doppeltrace.synthesizers.factorized import FactorizedSynthesizer
from doppeltrace.traces import Traces

EXPOSURE_FLOOR = 0.01
"""Exposure of a step that is not in the base, where 1 is chance: it must stay possible."""


class Doppel(FactorizedSynthesizer):
    """Poisson multiple tensor factorization with a population base.

    The factors say when a user likes to be where (π); the base says how the population moves;
    the chain (`chain._base_kernels`) moves along the base towards π. Fewer factors make users
    more alike: more privacy, less detail.

    Parameters
    ----------
    factors : z, number of factors.
    iterations : Gibbs iterations; the last one's Θ is the model.
    shape, rate : of the Gamma priors of all factor entries.
    min_users : different users that must have made a move for it to enter the base.
    smoothing : weight of the gravity kernel in the base, in transitions per place.
    stay : how many times more a place holds its visitors than an equally popular one next door
        would draw them, in the gravity kernel: check-ins do not record staying.
    range_km : range of the gravity kernel, or None to fit it to the data.
    most_neighbours : places that gravity reaches from a place, at most.
    exposure : True lets the base enter the factorization too, as E: the transition factors then
        say how a user differs from the population.
    jump : τ, probability per event of a fresh draw from π instead of a step along the base.
    seed, threads : see `Synthesizer`.

    `history` holds {"log_likelihood": …} per iteration; `base_` is the base after `fit`.
    """

    name = "doppel"

    def __init__(
        self,
        *,
        factors: int = 10,
        iterations: int = 300,
        shape: float = 0.03,
        rate: float = 1.0,
        min_users: int = 5,
        smoothing: float = 0.3,
        stay: float = 6.0,
        range_km: float | None = None,
        most_neighbours: int = 128,
        exposure: bool = False,
        jump: float = 0.003,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(factors=factors, iterations=iterations, seed=seed, threads=threads)
        require(0 <= jump <= 1, "jump must be from 0 to 1")
        self._prior = poisson.GammaPrior(shape, rate)
        self.shape, self.rate = shape, rate
        self.base_settings: dict[str, Any] = {
            "min_users": min_users,
            "smoothing": smoothing,
            "stay": stay,
            "range_km": range_km,
            "most_neighbours": most_neighbours,
        }
        check_settings(**self.base_settings)
        self.exposure = exposure
        self.jump = jump
        self._base: Base | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide the model, without seed and threads."""
        return {
            "factors": self.n_factors,
            "iterations": self.iterations,
            "shape": self.shape,
            "rate": self.rate,
            **self.base_settings,
            "exposure": self.exposure,
            "jump": self.jump,
        }

    @property
    def base_(self) -> Base:
        """The population base; raises `NotFittedError` before `fit`."""
        train = self.train
        if self._base is None:
            self._base = population_base(train, **self.base_settings)
        return self._base

    def _begin(self, traces: Traces) -> list[tuple[Observations, Exposure | None]]:
        self._base = population_base(traces, **self.base_settings)
        exposure = Exposure(self._base.lift, EXPOSURE_FLOOR) if self.exposure else None
        counts = Observations(tensors.transition_tensor(traces), tensors.visit_tensor(traces))
        return [(counts, exposure)]

    def _start(self, part: int, work: tuple[Observations, Exposure | None]) -> State:
        return poisson.init(work[0], self.n_factors, self.seed)

    def _step(
        self, part: int, work: tuple[Observations, Exposure | None]
    ) -> tuple[State, dict[str, float]]:
        counts, exposure = work
        state, info = poisson.step(self._states[part], counts, self._prior, self.seed, exposure)
        return state, {"log_likelihood": info.log_likelihood}

    def _build_chain(self) -> BaseChain:
        return base_chain(self.factors_, self.base_.lift, self.jump)
