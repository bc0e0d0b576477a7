"""Two models as a newcomer writes them: each one class, and a line in `MODELS`."""

import numpy as np

from doppeltrace import streams
from doppeltrace.errors import require
from doppeltrace.guarantee import Guarantee
from doppeltrace.progress import Step
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.synthesizers.checks import likelihood_arguments


class Favourites(Synthesizer):
    """Each event is at a place in proportion to the user's visits there, plus `smoothing`."""

    name = "favourites"
    description = "Favourites: a user's places, more or less blurred"
    public_settings = {"smoothing": "smoothing"}
    testable = True
    savable = True

    def __init__(
        self, *, smoothing: float = 1.0, seed: int | None = None, threads: int | None = None
    ) -> None:
        super().__init__(seed=seed, threads=threads)
        require(smoothing > 0, "smoothing must be positive")
        self.smoothing = smoothing

    def log_likelihood(self, locations, users):
        traces, chosen = likelihood_arguments(self, locations, users)
        return np.log(self._shares[chosen])[:, traces].sum(axis=2).T

    def _fit(self, traces, callback):
        visits = np.full((traces.n_users, len(traces.places)), self.smoothing)
        np.add.at(visits, (traces.user, traces.location), 1)
        self._shares = visits / visits.sum(axis=1, keepdims=True)
        callback(Step("training", 1, 1))

    def _sample(self, users, traces_per_user, instants, seed, callback):
        shape = (traces_per_user, len(instants))
        out = np.empty((len(users), *shape), np.int32)
        for row, user in enumerate(users):
            rng = streams.generator(seed, "favourites", int(user))
            out[row] = rng.choice(len(self.places), size=shape, p=self._shares[user])
        callback(Step("synthesis", len(users), len(users)))
        return out

    def _saved(self):
        return {"shares": self._shares}, {}

    def _restore(self, arrays, state):
        self._shares = arrays["shares"]


class Strangers(Synthesizer):
    """New people who are anywhere: no owners, nothing kept of the input, and a guarantee."""

    name = "strangers"
    description = "Strangers: people who are anywhere"
    savable = True
    has_owners = False
    keeps_traces = False

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.differential_privacy(1.0, 0.0)

    def _fit(self, traces, callback):
        callback(Step("training", 1, 1))

    def _sample(self, users, traces_per_user, instants, seed, callback):
        shape = (traces_per_user, len(instants))
        out = np.empty((len(users), *shape), np.int32)
        for row, number in enumerate(users):
            rng = streams.generator(seed, "strangers", int(number))
            out[row] = rng.integers(len(self.places), size=shape)
        callback(Step("synthesis", len(users), len(users)))
        return out


TOYS = {model.name: model for model in (Favourites, Strangers)}
