"""What a run of a model costs, before it is started: numbers that stand beside its kernels."""

from __future__ import annotations

from dataclasses import dataclass

from doppeltrace.chain._protocol import GROUP
from doppeltrace.engine.local import threads
from doppeltrace.traces import Traces


@dataclass(frozen=True)
class Cost:
    """Time on one thread of the machine that was measured, and memory.

    Time is right within a factor of two, for people flow, New York's check-ins and simulated
    cities of 500 to 219,793 users.

    Attributes
    ----------
    training, synthesis, test : thread-seconds.
    memory : bytes that the model needs at its peak, traces and program left out.
    """

    training: float
    synthesis: float
    test: float
    memory: float


@dataclass(frozen=True)
class Work:
    """What a model is asked to do.

    Attributes
    ----------
    events : events to draw.
    k, eta : of the deniability test; k None for no test.
    verifiers : users compared in the test.
    count_all : whether the test counts beyond k.
    """

    events: int
    k: int | None
    eta: float
    verifiers: int
    count_all: bool


def chain_memory(traces: Traces, factors: int) -> float:
    """Return the bytes that Θ, its training and the tables of the test take, on all threads."""
    users, places, slots = traces.n_users, len(traces.places), traces.clock.n_slots
    theta = 8 * factors * (users + 2 * places)
    sums = threads() * 4 * places * factors * (factors + 1)
    tables = threads() * GROUP * 8 * places * (5 * slots + 2)
    return float(theta + sums + tables)
