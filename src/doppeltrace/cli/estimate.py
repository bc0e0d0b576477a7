"""How long a run will take and how much memory, roughly, before it starts."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numba
import numpy as np

from doppeltrace.cli.console import say
from doppeltrace.cli.progress import readable_time
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.synthesizers.ppmtf import PPMTF
from doppeltrace.traces import Traces

LONG_SECONDS = 10.0

# Thread-seconds per unit of work, measured on the machine whose probe took PROBE_SECONDS.
# Right within a factor of two for people flow and for simulated cities.
PROBE_SECONDS = 0.0084
TRAINING = 1.6e-10  # per observed element, iteration and z (z + 24)
SYNTHESIS = 5e-10  # per event, place and factor
TESTING = 2.5e-8  # per trace, verifier and place: users who stay need whole rows
BASE_MEMORY = 280e6  # Python, its libraries and the compiled kernels


@dataclass(frozen=True)
class Estimate:
    """Seconds of each phase, and bytes at the peak."""

    training: float
    synthesis: float
    test: float
    memory: float

    @property
    def seconds(self) -> float:
        """All phases together."""
        return self.training + self.synthesis + self.test


def estimate(
    model: PPMTF,
    traces: Traces,
    traces_per_user: int,
    length: int | None,
    verifiers: int | None,
    speed: float = 1.0,
) -> Estimate:
    """Estimate a run of PPMTF; `speed` is this machine's, 1 for the one that was measured."""
    users, places, slots = traces.n_users, len(traces.places), traces.clock.n_slots
    z = model.n_factors
    events = traces.n_events / users
    elements = users * sum(
        min(zeros, cells) + min(trim, events)
        for zeros, trim, cells in zip(
            model.zeros, model.trim, (places * places, places * slots), strict=True
        )
    )
    made = users * traces_per_user
    length = traces.clock.n_instants if length is None else length
    cores = numba.get_num_threads()
    threads = min(model.threads or cores, cores)
    unit = 1.0 / (speed * threads)
    return Estimate(
        training=TRAINING * elements * model.iterations * z * (z + 24) * unit,
        synthesis=SYNTHESIS * made * length * places * z * unit,
        test=TESTING * made * (verifiers or users) * places * unit,
        memory=BASE_MEMORY
        + 8 * elements
        + threads * 4 * places * z * (z + 1)
        + 8 * z * (users + 2 * places)
        + made * length * 60,
    )


def probe() -> float:
    """Return this machine's speed, relative to the one that was measured."""
    numbers = np.random.default_rng(0).random(100_000)
    best = min(_seconds_to_sort(numbers) for _ in range(3))
    return PROBE_SECONDS / best


def _seconds_to_sort(numbers: np.ndarray) -> float:
    began = time.thread_time()  # what other processes do meanwhile does not count
    np.sort(numbers, kind="stable")
    return time.thread_time() - began


def announce(
    model: Synthesizer,
    traces: Traces,
    traces_per_user: int,
    length: int | None,
    verifiers: int | None,
) -> None:
    """Say what a long run will take; models that are always quick need no estimate."""
    if not isinstance(model, PPMTF):
        return
    guess = estimate(model, traces, traces_per_user, length, verifiers, probe())
    if guess.seconds < LONG_SECONDS:
        return
    say(
        f"estimate: about {readable_time(guess.seconds)} (training "
        f"{readable_time(guess.training)}, synthesis {readable_time(guess.synthesis)}, test "
        f"{readable_time(guess.test)}) and {guess.memory / 1e6:,.0f} MB of memory"
    )
