"""Crowd: new people from noisy counts of all users together; our model with a guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.crowd import files, people
from doppeltrace.crowd.ledger import Entry
from doppeltrace.crowd.measure import NoisyStatistics, measure
from doppeltrace.crowd.outlook import caution
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.sampler import Sampler
from doppeltrace.errors import require
from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers.private import PrivateSynthesizer
from doppeltrace.traces import Places, Traces

CHUNK = 20_000
"""Traces drawn between two steps of progress."""


class Crowd(PrivateSynthesizer):
    """Bounded, noisy counts → a maximum-entropy chain with types of users → any number of people.

    (ε, δ)-differential privacy for one user with all of their data, for all traces and the model
    together. Noise comes from the operating system, never from `seed`: two fits differ.

    Parameters
    ----------
    epsilon : ε, or None for the same model without noise and without a guarantee.
    delta : δ.
    types : types of users at most; the data decide how many of them.
    style : "dense" (an event at most instants) or "checkins" (few events), if that is public;
        None lets a noisy count decide.
    min_users : without noise, counts of fewer users are pooled; with noise it does nothing.
    candidates : traces of the chain of which each released one is chosen, so that days look like
        the users' days; 1 takes the chain's own.
    gaps : True leaves events out as often as the data do on a day with events; False gives every
        instant a place; None is True for dense data and False for check-ins, whose traces then
        stand for a user's events of many days.
    seed, threads : see `Synthesizer`.
    """

    name = "crowd"
    description = "Crowd: new people from noisy counts of all users together"
    public_settings = {
        "epsilon": "ε",
        "delta": "δ",
        "types": "most types of users",
        "min_users": "fewest users behind a count (without noise)",
        "candidates": "candidates per trace",
    }

    def __init__(
        self,
        *,
        epsilon: float | None = 1.0,
        delta: float = 1e-6,
        types: int = 16,
        style: Literal["dense", "checkins"] | None = None,
        min_users: int = 5,
        candidates: int = 16,
        gaps: bool | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, seed=seed, threads=threads)
        require(types >= 1, "types must be at least 1")
        require(min_users >= 1, "min_users must be at least 1")
        require(candidates >= 1, "candidates must be at least 1")
        self.types = types
        self.style = style
        self.min_users = min_users
        self.candidates = candidates
        self.gaps = gaps
        self._noisy: NoisyStatistics | None = None

    @property
    def statistics_(self) -> NoisyStatistics:
        """The noisy statistics: all that the model knows of its input."""
        self._known()
        assert self._noisy is not None
        return self._noisy

    @property
    def ledger_(self) -> tuple[Entry, ...]:
        """Every statistic with its bound, share of the budget and σ."""
        return self.statistics_.entries

    def caution_before(self, n_users: int, places: Places) -> str | None:
        """Return one sentence if noise will outweigh the data of so many users."""
        return caution(n_users, self.epsilon, self.delta, places)

    @property
    def caution(self) -> str | None:
        """One sentence if noise outweighs the data so far that the traces are worth little."""
        noisy = self.statistics_
        return caution(noisy.first.users, self.epsilon, self.delta, self.places)

    def for_warm_up(self) -> Crowd:
        """Return a cheap copy without noise, which spends no budget."""
        return Crowd(
            epsilon=None, types=1, style=self.style, min_users=1, candidates=2, seed=0,
            threads=self.threads,
        )  # fmt: skip

    @property
    def _leaves_gaps(self) -> bool:
        return self.statistics_.first.style == "dense" if self.gaps is None else self.gaps

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Refuse: no trace is made from one user; the guarantee covers all of them."""
        return super().log_likelihood(locations, users)

    def _fit(self, traces: Traces, callback: Callback) -> None:
        public = PublicInputs.of(traces.places, traces.clock)
        noisy = measure(traces, public, self._ledger(), style=self.style, min_users=self.min_users)
        self._crowd = people.make_crowd(
            noisy,
            public,
            types=self.types,
            candidates=self.candidates,
            seed=self.seed,
            callback=callback,
        )
        self._noisy, self._public = noisy, public
        self._noisy_users = noisy.first.users
        self._sampler = Sampler(self._crowd.chain)

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        out = np.empty((len(users), len(instants)), dtype=np.int32)
        for first in range(0, len(users), CHUNK):
            last = min(first + CHUNK, len(users))
            out[first:last] = people.draw(
                self._crowd,
                self._sampler,
                self._public,
                last - first,
                len(instants),
                candidates=self.candidates,
                gaps=self._leaves_gaps,
                seed=seed,
                offset=first,
            )
            callback(Step("synthesis", last, len(users)))
        return out

    def _saved(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return files.to_arrays(self.statistics_, self._crowd)

    def _restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        self._public = PublicInputs.of(self.places, self.clock)
        self._noisy, self._crowd = files.from_arrays(arrays, state, self._public)
        self._noisy_users = self._noisy.first.users
        self._sampler = Sampler(self._crowd.chain)
