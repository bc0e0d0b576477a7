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

from doppeltrace.engine.local import threads, use_threads
from doppeltrace.errors import SettingsError
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.progress import Monitor, readable_time
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import Traces

LONG_SECONDS = 10.0

PROBE_SECONDS = 0.0084  # of the machine on which the models' costs were measured
BASE_MEMORY = 280e6  # Python, its libraries and the compiled kernels
EVENT_BYTES = 90  # of a trace that is made, tested, sorted, written and described


@dataclass(frozen=True)
class Estimate:
    """Seconds of each phase, and bytes at the peak: the model's, and those of the traces made."""

    training: float
    synthesis: float
    test: float
    model_memory: float
    traces_memory: float

    @property
    def memory(self) -> float:
        """Bytes in all, with those of the program."""
        return BASE_MEMORY + self.model_memory + self.traces_memory

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
    model: Synthesizer, traces: Traces, settings: RunSettings, speed: float = 1.0
) -> Estimate | None:
    """Estimate a run, or None if its model is quick.

    `speed` is this machine's, 1 for the one that was measured.
    """
    cost = model.cost(
        traces,
        traces_per_user=settings.traces_per_user,
        n_traces=settings.n_traces,
        length=settings.length,
        k=settings.k,
        eta=settings.eta,
        verifiers=settings.verifiers,
        count_all=settings.count_all,
    )
    if cost is None:
        return None
    with use_threads(model.threads):
        unit = 1.0 / (speed * threads())
    length = traces.clock.n_instants if settings.length is None else settings.length
    drawn = settings.n_traces or traces.n_users * settings.traces_per_user
    return Estimate(
        training=cost.training * unit,
        synthesis=cost.synthesis * unit,
        test=cost.test * unit,
        model_memory=cost.memory,
        traces_memory=EVENT_BYTES * drawn * length,
    )


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
    """Say what a long run will take; the other models are quick and need no estimate.

    Raises
    ------
    SettingsError : it needs more memory than is free, and `settings.anyway` does not allow that.
    """
    guess = estimate(model, traces, settings, probe())
    if guess is None:
        return None
    free = available_memory()
    if guess.memory > free:
        words = (
            f"this run may need {guess.memory / 1e6:,.0f} MB of memory, and {free / 1e6:,.0f} MB "
            f"are free: {_advice(guess)}"
        )
        if not settings.anyway:
            raise SettingsError(
                f"{words}; to start it all the same, add anyway=True",
                "traces_per_user",
                "n_traces",
                "top_places",
                "factors",
                "anyway",
            )
        monitor.warn(words)
    if guess.seconds >= LONG_SECONDS:
        megabytes = max(guess.memory / 1e6, peak_memory_mb())  # reading may have needed more
        monitor.say(
            f"estimate, within a factor of two: {readable_time(guess.seconds)} (training "
            f"{readable_time(guess.training)}, synthesis {readable_time(guess.synthesis)}, test "
            f"{readable_time(guess.test)}) and about {megabytes:,.0f} MB of memory"
        )
    return guess


def _advice(guess: Estimate) -> str:
    """Return what to change, by what takes the most memory."""
    if guess.memory <= (_told("/proc/meminfo", "MemTotal:") or 0.0):
        return "close other programs"
    if guess.traces_memory > guess.model_memory:
        return "make fewer traces (traces_per_user, n_traces)"
    return "take fewer places (larger cells, or top_places) or lower factors"
