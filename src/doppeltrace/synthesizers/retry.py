"""Retry if fail: Θ is drawn again until its reconstructed counts keep to a bound."""

from __future__ import annotations

from doppeltrace.accounting import Trimming, trace_epsilon
from doppeltrace.errors import SettingsError, require
from doppeltrace.factorize.excess import excess
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers.factorized import FactorizedSynthesizer
from doppeltrace.traces import Traces


class RetryingSynthesizer(FactorizedSynthesizer):
    """A factorization that may go on until −κ ≤ r̂ ≤ r_max + κ for every element.

    Going on with the same chain and taking the first Θ that keeps to κ draws Θ from the posterior
    under that constraint, as far as the chain draws from the posterior at all.
    """

    alpha: float
    trim: tuple[int, int]
    zeros: tuple[int, int]
    max_count: tuple[int, int]
    kappa: float | None
    retries: int

    @property
    def kappa_(self) -> float:
        """The smallest κ that Θ keeps to, for every user and pair of places."""
        self._known()
        return self._excess()

    @property
    def epsilon_(self) -> float:
        """ε of Proposition 1 for publishing Θ, with `kappa`: what retry-if-fail costs and buys.

        It holds for Θ drawn from the *exact* posterior of users who differ in one whole trace,
        which a Gibbs sampler only comes near; see `accounting`. At useful settings it is in the
        millions, and protects nobody.
        """
        require(
            self.kappa is not None,
            "epsilon_ needs kappa: a bound that is chosen before the training, not read from it",
        )
        per_tensor = zip(self.trim, self.zeros, self.max_count, strict=True)
        transitions, visits = (Trimming(*numbers) for numbers in per_tensor)
        return trace_epsilon(
            self.alpha, transitions=transitions, visits=visits, kappa=self.kappa or 0.0
        )

    def _fit(self, traces: Traces, callback: Callback) -> None:
        super()._fit(traces, callback)
        if self.kappa is not None:
            self._retry(traces, self.kappa, callback)

    def _retry(self, traces: Traces, kappa: float, callback: Callback) -> None:
        """Iterate on until Θ keeps to κ."""
        parts = self._begin(traces)
        smallest = found = self._excess()
        for attempt in range(self.retries):
            if found <= kappa:
                break
            for part, work in enumerate(parts):
                self._states[part], figures = self._step(part, work)
                self.history.append(figures)
            found = self._excess()
            smallest = min(smallest, found)
            callback(Step("retry", attempt + 1, self.retries, {"kappa": found}))
        if found > kappa:
            raise SettingsError(
                f"kappa={kappa:g} was not reached in {self.retries} retries, but {smallest:.3g}: "
                "give a larger kappa or more retries",
            )
        self._chain = self._learn_chain(traces)

    def _excess(self) -> float:
        first, last = self._states[0].factors, self._states[-1].factors
        return max(
            excess((first.A, first.B, first.C), self.max_count[0]),
            excess((last.A, last.B, last.D), self.max_count[1]),
        )
