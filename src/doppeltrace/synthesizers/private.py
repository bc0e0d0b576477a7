"""What all models with differential privacy share: budget, ledger, guarantee, number of users."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace

from doppeltrace.crowd.ledger import Entry, Ledger, rho_of
from doppeltrace.crowd.noise import DiscreteGaussian, Noise, NoNoise
from doppeltrace.errors import require
from doppeltrace.guarantee import Guarantee
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.fitted import Fitted
from doppeltrace.traces import Traces

PUBLIC_INPUTS = (
    "Places, clock and settings are taken as public: they must not have been chosen by looking at "
    "the data."
)


class PrivateSynthesizer(Synthesizer):
    """A model made of noisy statistics only: it has no owners and keeps no traces.

    Parameters
    ----------
    epsilon : ε, or None for no noise and no guarantee.
    delta : δ.
    """

    savable = True
    has_owners = False
    keeps_traces = False

    _noise: Noise | None = None  # tests put a fake source here; nobody else may

    def __init__(
        self,
        *,
        epsilon: float | None = 1.0,
        delta: float = 1e-6,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(seed=seed, threads=threads)
        require(
            epsilon is None or 0 < epsilon < math.inf,
            "epsilon must be positive, or None for no noise",
        )
        require(0 < delta < 1, "delta must be above 0 and below 1")
        self.epsilon = epsilon
        self.delta = delta
        self._noisy_users = 1.0

    @property
    @abstractmethod
    def ledger_(self) -> tuple[Entry, ...]:
        """Every statistic with its bound, share of the budget and σ."""

    @property
    def guarantee(self) -> Guarantee | None:
        """(ε, δ)-differential privacy of everything the model gives; None without noise.

        Known before `fit`, which adds what was measured: how many numbers, with which shares.
        """
        if self.epsilon is None:
            return None
        found = Guarantee.differential_privacy(self.epsilon, self.delta, limits=(PUBLIC_INPUTS,))
        if self._fitted is None:
            return found
        parameters = dict(found.parameters)
        for entry in self.ledger_:
            parameters[f"share of {entry.name}"] = entry.share
            parameters[f"bound of {entry.name}"] = entry.sensitivity
        return replace(found, parameters=parameters)

    def _ledger(self) -> Ledger:
        """Return a ledger with the whole budget."""
        if self.epsilon is None:
            return Ledger(math.inf, NoNoise())
        noise = DiscreteGaussian() if self._noise is None else self._noise
        return Ledger(rho_of(self.epsilon, self.delta), noise)

    def _fitted_to(self, traces: Traces) -> None:
        """Remember places, clock and the noisy number of users."""
        self._fitted = Fitted(traces.places, traces.clock, max(1, round(self._noisy_users)))
