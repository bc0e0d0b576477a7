"""Training: the input users' own traces; the utility that no synthesizer is asked to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doppeltrace.progress import Callback, Step
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.windows import fullest_windows
from doppeltrace.traces import Traces


class Training(Synthesizer):
    """Gives each user's own events back: no privacy at all, and no randomness.

    With one cycle of data, every replicate of a user is the user's trace. With several (check-
    ins over many days), replicate r is the user's r-th fullest day, from the fullest again
    when there are no more. An instant without an event stays −1.
    """

    name = "training"
    description = "Training: the input traces themselves"
    releasable = False

    def _fit(self, traces: Traces, callback: Callback) -> None:
        callback(Step("training", 1, 1))

    def _sample(
        self,
        users: NDArray[np.int64],
        traces_per_user: int,
        instants: NDArray[np.int64],
        seed: int,
        callback: Callback,
    ) -> NDArray[np.int32]:
        out = fullest_windows(self.train, users, instants, traces_per_user)
        callback(Step("synthesis", len(users), len(users)))
        return out
