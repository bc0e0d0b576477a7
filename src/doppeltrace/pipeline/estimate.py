"""How long a run will take and how much memory, roughly, before it starts."""

from __future__ import annotations

import contextlib
import math
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from doppeltrace.chain._protocol import GROUP
from doppeltrace.engine.local import threads, use_threads
from doppeltrace.factorize.cells import ENOUGH
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.progress import Monitor, readable_time
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.synthesizers.doppel import WARM_SHARE, Doppel
from doppeltrace.synthesizers.ppmtf import PPMTF
from doppeltrace.traces import Traces

LONG_SECONDS = 10.0

# Thread-seconds per unit of work, measured on the machine whose probe took PROBE_SECONDS with
# people flow, New York's check-ins and simulated cities of 500 to 219,793 users. Time is right
# within a factor of two there.
PROBE_SECONDS = 0.0084
GAUSSIAN_ELEMENT = 7.3e-11  # per observed element, iteration and z (z + 24)
GAUSSIAN_IN_CELLS = 4.6e-11  # the same where many users share a cell
POISSON_ELEMENT = 7e-9  # per positive element, iteration and factor
POISSON_ROW = 1e-7  # per row of A, B and C, iteration and factor
FACTOR_DRAW = 5.5e-10  # per event made, place and factor
BASE_DRAW = 4e-7  # per event made
FACTOR_SUMS = 1.3e-10  # per user, place² and factor: the row sums of the proposals
FACTOR_STAYS = 1.7e-9  # per verifier, place² and slot
BASE_OWN = 3.7e-6  # per event made
BASE_TABLES = 3e-8  # per verifier, place and slot
FACTOR_PAIR_EVENT = 3.6e-9  # per trace, verifier and event
BASE_PAIR_EVENT = 7.5e-9  # likewise
PASSING = 40  # verifiers looked at until one more is found plausible, at η = 1 with Doppel

BASE_MEMORY = 280e6  # Python, its libraries and the compiled kernels
GAUSSIAN_BYTES = 6  # per observed element
CELL_BYTES = 2.5  # more where many users share a cell
POISSON_BYTES = 40  # per positive element, while they are counted
EVENT_BYTES = 90  # of a trace that is made, tested, sorted, written and described


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

    def to_dict(self) -> dict[str, float]:
        """Return the figures for the manifest, to be held against what the run took."""
        return {
            "training": round(self.training, 1),
            "synthesis": round(self.synthesis, 1),
            "deniability test": round(self.test, 1),
            "memory_mb": round(self.memory / 1e6),
        }


def estimate(
    model: PPMTF | Doppel, traces: Traces, settings: RunSettings, speed: float = 1.0
) -> Estimate:
    """Estimate a run; `speed` is this machine's, 1 for the one that was measured."""
    users, places, z = traces.n_users, len(traces.places), model.n_factors
    length = traces.clock.n_instants if settings.length is None else settings.length
    events = users * settings.traces_per_user * length
    if isinstance(model, PPMTF):
        elements = _observed_elements(model, traces)
        in_cells = elements >= ENOUGH * places * (places + traces.clock.n_slots)
        per_element = GAUSSIAN_IN_CELLS if in_cells else GAUSSIAN_ELEMENT
        training = per_element * elements * z * (z + 24)
        synthesis = FACTOR_DRAW * events * places * z
        held = (GAUSSIAN_BYTES + CELL_BYTES * in_cells) * elements
    else:
        elements = traces.n_events + len(traces.transitions()[0])
        share = min(1.0, model.warm_users / users)  # of the users, in the warm sweeps
        share = WARM_SHARE * share + (1 - WARM_SHARE)
        training = POISSON_ELEMENT * elements + POISSON_ROW * users
        training = (share * training + POISSON_ROW * 2 * places) * z
        synthesis = BASE_DRAW * events
        held = POISSON_BYTES * elements
    with use_threads(model.threads):
        lanes = threads()
    unit = 1.0 / (speed * lanes)
    return Estimate(
        training=training * model.iterations * unit,
        synthesis=synthesis * unit,
        test=_test(model, traces, settings, events) * unit,
        memory=BASE_MEMORY
        + held
        + lanes * 4 * places * z * (z + 1)
        + 8 * z * (users + 2 * places)
        + lanes * GROUP * 8 * places * (5 * traces.clock.n_slots + 2)  # tables of the test
        + EVENT_BYTES * events,
    )


def _observed_elements(model: PPMTF, traces: Traces) -> float:
    """Return how many positive and zero elements of both tensors PPMTF looks at."""
    places, slots = len(traces.places), traces.clock.n_slots
    events = traces.n_events / traces.n_users
    cells = (places * places, places * slots)
    return traces.n_users * sum(
        min(zeros, cell) + min(trim, events)
        for zeros, trim, cell in zip(model.zeros, model.trim, cells, strict=True)
    )


def _test(model: PPMTF | Doppel, traces: Traces, settings: RunSettings, events: int) -> float:
    """Return thread-seconds of the deniability test of so many events made."""
    if settings.k is None:
        return 0.0
    users, places, slots = traces.n_users, len(traces.places), traces.clock.n_slots
    verifiers = settings.verifiers or users
    if isinstance(model, PPMTF):  # few traces pass, so nearly all pairs are looked at
        sums, stays = FACTOR_SUMS * model.n_factors, FACTOR_STAYS * slots
        alone = places**2 * (users * sums + verifiers * (sums + stays))
        pairs = FACTOR_PAIR_EVENT * verifiers
    else:
        alone = BASE_OWN * events + verifiers * BASE_TABLES * places * slots
        enough = np.inf if settings.count_all else PASSING * settings.k / settings.eta
        pairs = BASE_PAIR_EVENT * min(verifiers, enough)
    return alone + pairs * events


def probe() -> float:
    """Return this machine's speed, relative to the one that was measured."""
    numbers = np.random.default_rng(0).random(100_000)
    best = min(_seconds_to_sort(numbers) for _ in range(3))
    return PROBE_SECONDS / best


def _seconds_to_sort(numbers: NDArray[np.float64]) -> float:
    began = time.thread_time()  # what other processes do meanwhile does not count
    np.sort(numbers, kind="stable")
    return time.thread_time() - began


def peak_memory_mb() -> float:
    """Return the most memory this process has held so far, in MB."""
    told = _told("/proc/self/status", "VmHWM:")
    if told is not None:
        return told / 1e6
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def available_memory() -> float:
    """Return the bytes that are free for this process, or infinity where nobody tells."""
    free = _told("/proc/meminfo", "MemAvailable:")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit] if limit != resource.RLIM_INFINITY else []
    return min([math.inf if free is None else free, *limits])


def _told(file: str, name: str) -> float | None:
    """Return what the system tells of its memory under a name, in bytes; None elsewhere."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(file).read_text(encoding="ascii").splitlines():
            if line.startswith(name):
                return float(line.split()[1]) * 1024
    return None


def announce(
    model: Synthesizer, traces: Traces, settings: RunSettings, monitor: Monitor
) -> Estimate | None:
    """Say what a long run will take; the other models are quick and need no estimate."""
    if not isinstance(model, PPMTF | Doppel):
        return None
    guess = estimate(model, traces, settings, probe())
    if guess.memory > available_memory():
        monitor.warn(
            f"this run may need {guess.memory / 1e6:,.0f} MB of memory, and "
            f"{available_memory() / 1e6:,.0f} MB are free: close other programs, or take fewer "
            "places, factors or traces"
        )
    if guess.seconds >= LONG_SECONDS:
        megabytes = max(guess.memory / 1e6, peak_memory_mb())  # reading may have needed more
        monitor.say(
            f"estimate, within a factor of two: {readable_time(guess.seconds)} (training "
            f"{readable_time(guess.training)}, synthesis {readable_time(guess.synthesis)}, test "
            f"{readable_time(guess.test)}) and about {megabytes:,.0f} MB of memory"
        )
    return guess
