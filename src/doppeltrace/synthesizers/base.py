"""The contract that every synthesizer keeps; `tests/synthesizers` runs it over all of them."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.deniability.likelihood import FormulaLikelihood, Likelihood
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import InputError, NotFittedError, SettingsError, require
from doppeltrace.factorize.state import Factors
from doppeltrace.guarantee import Guarantee
from doppeltrace.progress import Callback, silent
from doppeltrace.streams import fresh_seed
from doppeltrace.traces import SyntheticTraces, Traces


class Synthesizer(ABC):
    """Settings in the constructor; `fit` learns from traces; `sample` draws synthetic ones.

    Parameters
    ----------
    seed : seed of the training, or None to draw one from the operating system.
    threads : number of threads, or None for all cores; never changes a result.
    """

    name: ClassVar[str]
    """The name on the command line and in tables."""
    description: ClassVar[str] = ""
    """What the model is, in the words of the public page."""
    public_settings: ClassVar[Mapping[str, str]] = {}
    """Setting → its words on the public page: those chosen before the run, never fitted to it."""
    testable: ClassVar[bool] = False
    """Whether it has likelihoods of traces under each input user: the deniability test applies."""
    releasable: ClassVar[bool] = True
    """Whether its traces may be released at all."""
    savable: ClassVar[bool] = False
    """Whether `save` can write it to a file."""
    has_owners: ClassVar[bool] = True
    """Whether each trace is made from one input user; else owners are −1."""
    resumable: ClassVar[bool] = False
    """Whether `fit` takes a checkpoint to go on from."""

    def __init__(self, *, seed: int | None = None, threads: int | None = None) -> None:
        require(seed is None or seed >= 0, "seed must be a non-negative integer")
        require(threads is None or threads >= 1, "threads must be at least 1")
        self.seed = fresh_seed() if seed is None else seed
        self.threads = threads
        self._train: Traces | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide the model, without seed and threads."""
        names = inspect.signature(type(self)).parameters
        return {n: getattr(self, n) for n in names if n not in ("seed", "threads")}

    @property
    def guarantee(self) -> Guarantee | None:
        """What the fitted model itself promises for all it gives; None if it promises nothing."""
        return None

    @property
    def same_for_all_users(self) -> bool:
        """Whether every input user gives every trace the same likelihood.

        The deniability test then passes every trace, and says nothing.
        """
        return False

    @property
    def clusters_(self) -> Factors | None:
        """Θ, where one Θ tells which users are alike and how; None where there is none."""
        return None

    @property
    def user_factors(self) -> NDArray[np.float64] | None:
        """(n_users, z) how much of each factor a user has; None without factors."""
        return None if self.clusters_ is None else self.clusters_.A

    def for_warm_up(self) -> Self | None:
        """Return a cheap copy, whose `fit`, `sample` and test compile the kernels.

        None where there is nothing worth compiling ahead.
        """
        return None

    def check_checkpoint(self, path: str | Path) -> int:
        """Return how many steps of training a checkpoint has done.

        Raises
        ------
        InputError : it was made by another model, or with other settings or another seed.
        """
        raise SettingsError(f"{type(self).__name__} keeps no checkpoints")

    @property
    def train(self) -> Traces:
        """The traces this model was fitted to."""
        if self._train is None:
            raise NotFittedError(f"this {type(self).__name__} has no data yet: call fit first")
        return self._train

    def fit(self, traces: Traces, *, callback: Callback = silent) -> Self:
        """Learn from traces; `callback` hears of every step."""
        if traces.n_events == 0:
            raise InputError("there are no events to learn from")
        self._train = None  # an interrupted fit leaves no model, not a half-trained one
        with use_threads(self.threads):
            self._fit(traces, callback)
        self._train = traces
        return self

    def sample(
        self,
        traces_per_user: int = 1,
        *,
        length: int | None = None,
        users: ArrayLike | None = None,
        seed: int | None = None,
        callback: Callback = silent,
    ) -> SyntheticTraces:
        """Draw traces: `traces_per_user` from each input user's model.

        Parameters
        ----------
        length : events per trace; by default the clock's number of instants.
        users : indexes of the input users, by default all; a user's traces do not depend on
            which others are asked for.
        seed : seed of the draws, or None to draw one from the operating system.

        Returns
        -------
        SyntheticTraces ordered by user, then replicate.
        """
        train = self.train
        require(traces_per_user >= 1, "traces_per_user must be at least 1")
        require(seed is None or seed >= 0, "seed must be a non-negative integer")
        chosen = np.arange(train.n_users) if users is None else np.asarray(users, dtype=np.int64)
        require(
            chosen.ndim == 1 and bool(np.all((chosen >= 0) & (chosen < train.n_users))),
            f"users must be indexes from 0 to {train.n_users - 1}",
        )
        instants = train.clock.timeline(length)
        with use_threads(self.threads):
            locations = self._sample(
                chosen,
                traces_per_user,
                instants,
                fresh_seed() if seed is None else seed,
                callback,
            )
        return SyntheticTraces(
            locations=locations.reshape(-1, len(instants)),
            owner=np.repeat(chosen, traces_per_user),
            replicate=np.tile(np.arange(traces_per_user), len(chosen)),
            places=train.places,
            clock=train.clock,
        )

    def log_likelihood(
        self, locations: NDArray[np.int32], users: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln p(y = M(m)), where the synthesizer has one."""
        raise SettingsError(
            f"{type(self).__name__} has no likelihoods, so its traces cannot be tested for "
            "plausible deniability"
        )

    def likelihood(self) -> Likelihood:
        """Return what the deniability tests ask for likelihoods."""
        return FormulaLikelihood(self.log_likelihood)

    @abstractmethod
    def _fit(self, traces: Traces, callback: Callback) -> None:
        """Learn; `self._train` is set afterwards."""

    @abstractmethod
    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        """Return locations (len(users), traces_per_user, len(instants)).

        Draws of user n come from that user's own stream under
        `streams.key(seed, purpose)`, n being the index into the training users.
        """
