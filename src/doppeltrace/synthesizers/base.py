"""The contract that every synthesizer keeps; `tests/synthesizers` runs it over all of them.

A new model is one file with a subclass (settings in the constructor, `_fit`, `_sample`, and what
it says of itself) and one line in `synthesizers.MODELS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace import streams
from doppeltrace.arguments import checked
from doppeltrace.deniability.likelihood import FormulaLikelihood, Likelihood
from doppeltrace.display import html_table
from doppeltrace.engine.local import use_threads
from doppeltrace.errors import InputError, SettingsError, require
from doppeltrace.factorize.state import Factors
from doppeltrace.guarantee import Guarantee
from doppeltrace.io.dataset import Dataset
from doppeltrace.progress import Callback, silent
from doppeltrace.synthesizers.checks import training_traces, user_indexes
from doppeltrace.synthesizers.cost import Cost, Work
from doppeltrace.synthesizers.draws import sample_people
from doppeltrace.synthesizers.fitted import FittedModel
from doppeltrace.traces import Places, SyntheticTraces, Traces


class Synthesizer(FittedModel, ABC):
    """Settings in the constructor; `fit` learns from traces; `sample` draws synthetic ones.

    Each setting is an attribute of the same name. Settings of a type other than their annotation
    are refused by name.

    Parameters
    ----------
    seed : seed of the training, or None to draw one from the operating system.
    threads : number of threads, or None for all cores; never changes a result.
    """

    description: ClassVar[str] = ""
    """What the model is, in the words of the public page."""
    public_settings: ClassVar[Mapping[str, str]] = {}
    """Setting → its words on the public page: those chosen before the run, never fitted to it."""
    testable: ClassVar[bool] = False
    """Whether it has likelihoods of traces under each input user: the deniability test applies."""
    releasable: ClassVar[bool] = True
    """Whether its traces may be released at all."""
    resumable: ClassVar[bool] = False
    """Whether `fit` takes a checkpoint to go on from."""
    has_owners: ClassVar[bool] = True
    """Whether each trace is made from one input user; else owners are −1."""

    def __init__(self, *, seed: int | None = None, threads: int | None = None) -> None:
        require(seed is None or seed >= 0, "seed must be a non-negative integer")
        require(threads is None or threads >= 1, "threads must be at least 1")
        self.seed = streams.fresh_seed() if seed is None else seed
        self.threads = threads
        self._checkpoint: Path | None = None
        self._checkpoint_seconds = 0.0

    # ---- what it is -------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee | None:
        """What the fitted model itself promises for all it gives; None if it promises nothing."""
        return None

    def prepare_for_test(self, k: int | None) -> None:
        """Change what a deniability test with this k asks of the model, before `fit`."""
        return None

    def caution_before(self, n_users: int, places: Places) -> str | None:
        """Return one sentence if so few users will give traces that are worth little."""
        return None

    @property
    def caution(self) -> str | None:
        """One sentence if the fitted model's traces are worth little, else None."""
        return None

    @property
    def same_for_all_users(self) -> bool:
        """Whether every input user gives every trace the same likelihood.

        The deniability test then passes every trace, and says nothing.
        """
        return False

    @property
    def alike(self) -> NDArray[np.int64] | None:
        """(n_users,) who stands for each user; None if the model tells all users apart.

        Users for whom the same user stands have the same likelihood for every trace.
        """
        return None

    @property
    def clusters_(self) -> Factors | None:
        """Θ, where one Θ tells which users are alike and how; None where there is none."""
        return None

    @property
    def user_factors(self) -> NDArray[np.float64] | None:
        """(n_users, z) how much of each factor a user has; None without factors."""
        return None if self.clusters_ is None else self.clusters_.A

    def cost(
        self,
        traces: Traces,
        *,
        traces_per_user: int = 1,
        n_traces: int | None = None,
        length: int | None = None,
        k: int | None = None,
        eta: float = 1.0,
        verifiers: int | None = None,
        count_all: bool = False,
    ) -> Cost | None:
        """Return what it costs to fit these traces, draw and test; None if that is little.

        Parameters as of `sample` and `deniability_test`; k None for no test.
        """
        drawn = traces.n_users * traces_per_user if n_traces is None else n_traces
        events = drawn * (traces.clock.n_instants if length is None else length)
        compared = traces.n_users if verifiers is None else verifiers
        with use_threads(self.threads):
            return self._cost(traces, Work(events, k, eta, compared, count_all))

    def for_warm_up(self) -> Self | None:
        """Return a cheap copy, whose `fit`, `sample` and test compile the kernels.

        None where there is nothing worth compiling ahead.
        """
        return None

    def __repr__(self) -> str:
        """Show the settings that are not the defaults; never the seed."""
        return f"{type(self).__name__}({self._changed()}), {self._state_in_words()}"

    def _repr_html_(self) -> str:
        rows = [("settings", self._changed() or "defaults"), ("state", self._state_in_words())]
        if self.guarantee is not None:
            rows.append(("guarantee", self.guarantee.title))
        return html_table(rows, caption=self.description or type(self).__name__)

    def _state_in_words(self) -> str:
        if self._fitted is None:
            return "not fitted"
        return f"fitted to {self.n_users:,} users and {len(self.places):,} places"

    # ---- fit and sample ---------------------------------------------------------------------

    @checked
    def fit(
        self,
        traces: Traces | Dataset,
        *,
        callback: Callback = silent,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 30.0,
    ) -> Self:
        """Learn from traces, or from the training traces of a data set.

        Parameters
        ----------
        callback : hears of every step.
        checkpoint : for models that are `resumable`: file to save the state in after a step, at
            most every `checkpoint_seconds`, and at the end of a training that takes longer than
            that. If it exists already and belongs to the same data, settings and seed, training
            goes on from it, with the same result as without the interruption. It is as secret as
            the input; remove it afterwards.
        """
        train = training_traces(traces)
        require(checkpoint_seconds >= 0, "checkpoint_seconds must not be negative")
        require(
            checkpoint is None or self.resumable,
            f"{type(self).__name__} keeps no checkpoints: leave checkpoint out",
        )
        if train.n_events == 0:
            raise InputError("there are no events to learn from")
        self.check_against(train)
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self._checkpoint_seconds = checkpoint_seconds
        self._forget()  # an interrupted fit leaves no model, not a half-trained one
        with use_threads(self.threads):
            self._fit(train, callback)
        self._fitted_to(train)
        return self

    @checked
    def sample(
        self,
        traces_per_user: int | None = None,
        *,
        n_traces: int | None = None,
        length: int | None = None,
        users: ArrayLike | None = None,
        seed: int | None = None,
        callback: Callback = silent,
    ) -> SyntheticTraces:
        """Draw traces: so many from each input user's model, or so many in all.

        Parameters
        ----------
        traces_per_user : traces from each user; 1 if neither number is given.
        n_traces : traces in all, each from a user drawn uniformly at random; not together with
            `traces_per_user`. A user's r-th trace is the same either way.
        length : events per trace; by default the clock's number of instants.
        users : indexes of the input users, by default all; a user's traces do not depend on
            which others are asked for.
        seed : seed of the draws, or None to draw one from the operating system.

        Returns
        -------
        SyntheticTraces ordered by user, then replicate. The owner of a trace is the position of
        its user in the training traces, also for a model that was loaded from a file. A model
        without owners draws n_traces, or traces_per_user for each user that it counts; their
        owners are −1 and their replicates 0.
        """
        known = self._known()
        require(
            traces_per_user is None or n_traces is None,
            "give traces_per_user or n_traces, not both",
        )
        per_user = 1 if traces_per_user is None else traces_per_user
        require(per_user >= 1, "traces_per_user must be at least 1")
        require(n_traces is None or n_traces >= 1, "n_traces must be at least 1")
        require(seed is None or seed >= 0, "seed must be a non-negative integer")
        instants = known.clock.timeline(length)
        seed = streams.fresh_seed() if seed is None else seed
        with use_threads(self.threads):
            if not self.has_owners:
                require(users is None, f"traces of {type(self).__name__} have no users to choose")
                n = known.n_users * per_user if n_traces is None else n_traces
                locations = self._sample(np.arange(n), 1, instants, seed, callback)
                owner, replicate = np.full(n, -1), np.zeros(n, np.int64)
            else:
                every = np.arange(known.n_users)
                chosen = every if users is None else user_indexes(known, users)
                if n_traces is None:
                    locations = self._sample(chosen, per_user, instants, seed, callback)
                    owner = np.repeat(chosen, per_user)
                    replicate = np.tile(np.arange(per_user), len(chosen))
                else:
                    locations, owner, replicate = sample_people(
                        self._sample, chosen, n_traces, instants, seed, callback
                    )
        return SyntheticTraces(
            locations=locations.reshape(-1, len(instants)),
            owner=owner,
            replicate=replicate,
            places=known.places,
            clock=known.clock,
        )

    def log_likelihood(self, locations: ArrayLike, users: ArrayLike) -> NDArray[np.float64]:
        """Return (n_traces, len(users)) ln p(y = M(m)), where the synthesizer has one."""
        raise SettingsError(
            f"{type(self).__name__} has no likelihoods, so its traces cannot be tested for "
            "plausible deniability"
        )

    def likelihood(self) -> Likelihood:
        """Return what the deniability tests ask for likelihoods."""
        return FormulaLikelihood(self.log_likelihood)

    def check_checkpoint(self, path: str | Path) -> int:
        """Return how many steps of training a checkpoint has done.

        Raises
        ------
        InputError : it was made by another model, or with other settings or another seed.
        """
        raise SettingsError(f"{type(self).__name__} keeps no checkpoints")

    def check_against(self, traces: Traces) -> None:  # noqa: B027
        """Raise `SettingsError` if these settings cannot work with these traces."""

    # ---- what a model implements ------------------------------------------------------------

    @abstractmethod
    def _fit(self, traces: Traces, callback: Callback) -> None:
        """Learn everything that sampling needs; `train` and `places` are set afterwards."""

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

        Draws of user n come from that user's own stream under `streams.key(seed, purpose)`, n
        being the index into the training users. For a model without owners, `users` are the
        numbers of the traces, and there is one trace of each.
        """

    def _cost(self, traces: Traces, work: Work) -> Cost | None:
        """Return the cost of a fit and of the work; None if it is little."""
        return None
