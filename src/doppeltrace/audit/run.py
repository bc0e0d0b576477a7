"""`audit`: what somebody could learn about one person from a release, levels 0 to 3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from doppeltrace.audit.canaries import Canary, plant
from doppeltrace.audit.epsilon import judged_epsilon
from doppeltrace.audit.level0 import MIN_USERS, Level0, level0
from doppeltrace.audit.linked import LINKED, LinkedNaming, linked_naming
from doppeltrace.audit.lira import Lira, lira
from doppeltrace.audit.process import Process, ReleaseProcess
from doppeltrace.audit.result import Audit, CanaryResult
from doppeltrace.audit.runs import Outcome, run_all
from doppeltrace.errors import InputError, require
from doppeltrace.progress import Callback, Step, silent
from doppeltrace.streams import generator
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.synthesizers.doppel import Doppel
from doppeltrace.traces import Traces

LEVELS = (0, 1, 2, 3)
MAX_POOL = 4000
"""Users that take part; of more, so many are drawn at random."""


def audit(
    train: Traces,
    model: Synthesizer | None = None,
    *,
    runs: int = 64,
    traces_per_user: int = 1,
    seed: int = 0,
    min_users: int = MIN_USERS,
    levels: Sequence[int] = LEVELS,
    k: int | None = 10,
    eta: float = 1.0,
    protect: bool = True,
    process: Process | None = None,
    resume: str | Path | None = None,
    derived: Iterable[str] = (),
    threads: int | None = None,
    callback: Callback = silent,
) -> Audit:
    """Attack releases made from copies of the input, before one is published.

    Level 0 looks for places and moves of few people in a release from all users. Levels 1 and 2
    train `runs` times with every user, and every canary, in by a coin of its own, and tell from
    the release who was in. Level 3 names the owners of linked traces.

    Parameters
    ----------
    train : the input; each training of levels 1 and 2 sees about half of its users. Of more than
        4,000 users so many are drawn at random.
    model : gives kind and settings of what is audited; by default `Doppel()`.
    runs : trainings of levels 1 and 2. With few of them nothing much can be proved: 64 runs reach
        ε ≈ 3.2.
    traces_per_user : as in the release that is planned.
    seed : of all draws; nothing that is published hangs on it.
    min_users : users below whom a place is rare.
    levels : those to run.
    k, eta : of the deniability test in the process.
    protect : whether the process protects the input as `synthesize` does (rare places, caps).
    process : what is audited, if it is something else than all that.
    resume : a folder that keeps finished runs, and from which they are taken up again. What is in
        it is as secret as the input.
    derived : what the reader derived from the data (see `level0`).
    threads : of every training, None for all cores; never changes a result.
    callback : hears of every run.
    """
    require(runs >= 4, "runs must be at least 4")
    require(traces_per_user >= 1, "traces_per_user must be at least 1")
    require(min_users >= 1, "min_users must be at least 1")
    require(seed >= 0, "seed must be a non-negative integer")
    require(set(levels) <= set(LEVELS) and len(levels) > 0, "levels must be among 0, 1, 2 and 3")
    if train.n_users < 4 or train.n_events == 0:
        raise InputError("an audit needs the traces of at least four users")
    if process is None:
        process = ReleaseProcess(
            Doppel() if model is None else model, k, eta, min_users if protect else None, threads
        )
    pool = _pool(train, seed)
    notes = []
    if pool.n_users < train.n_users:
        notes.append(f"{pool.n_users:,} of {train.n_users:,} users took part, drawn at random")
    zero: Level0 | None = None
    linked: tuple[LinkedNaming, ...] = ()
    if 0 in levels or 3 in levels:
        zero, linked, said = _whole(
            pool, process, levels, traces_per_user, seed, min_users, derived, callback
        )
        notes += said
    canaries: dict[str, CanaryResult] = {}
    membership: Lira | None = None
    if 1 in levels or 2 in levels:
        planted = plant(pool, seed, min_users)
        outcome = run_all(
            pool,
            planted,
            process,
            runs=runs,
            traces_per_user=traces_per_user,
            seed=seed,
            folder=None if resume is None else Path(resume),
            callback=callback,
        )
        if 1 in levels:
            canaries = _canaries(planted, outcome)
        if 2 in levels:
            membership = lira(outcome.scores, outcome.member, seed)
    settings = process.settings
    return Audit(
        level0=zero if 0 in levels else None,
        canaries=canaries,
        lira=membership,
        linked=linked,
        levels_done=tuple(sorted(set(levels))),
        model=str(settings.get("model", "process")),
        settings=settings,
        traces_per_user=traces_per_user,
        runs=runs,
        users=pool.n_users,
        notes=tuple(notes),
    )


def _pool(train: Traces, seed: int) -> Traces:
    if train.n_users <= MAX_POOL:
        return train
    draws = generator(seed, "audit pool")
    return train.select(np.sort(draws.choice(train.n_users, MAX_POOL, replace=False)))


def _whole(
    pool: Traces,
    process: Process,
    levels: Sequence[int],
    traces_per_user: int,
    seed: int,
    min_users: int,
    derived: Iterable[str],
    callback: Callback,
) -> tuple[Level0, tuple[LinkedNaming, ...], list[str]]:
    """Return levels 0 and 3 of a release from everybody, and what could not be measured."""
    callback(Step("release from all users", 0, 1))
    per_user = max(traces_per_user, LINKED[-1]) if 3 in levels else traces_per_user
    found = process(pool, int(generator(seed, "audit release").integers(2**62)), per_user)
    published = found.released.select(found.released.replicate < traces_per_user)
    if np.all(published.owner < 0):  # such models make any number of traces, all alike
        published = published.select(slice(pool.n_users * traces_per_user))
    zero = level0(found.train, published, min_users, derived=derived)
    linked: tuple[LinkedNaming, ...] = ()
    notes = []
    if 3 in levels:
        linked = linked_naming(found, seed)
        if not linked:
            notes.append("linked naming is not measurable: the traces have no owners")
        elif linked[0].known is None:
            notes.append(
                "linked naming with the model is not measurable: it has no likelihoods, or the "
                "same for all users"
            )
    callback(Step("release from all users", 1, 1))
    return zero, linked, notes


def _canaries(planted: list[Canary], outcome: Outcome) -> dict[str, CanaryResult]:
    """Return what was found of each kind."""
    found = {}
    for kind in dict.fromkeys(canary.kind for canary in planted):
        these = [number for number, canary in enumerate(planted) if canary.kind == kind]
        counts, coin = outcome.counts[:, these], outcome.coin[:, these]
        shown = outcome.shown[:, these]
        epsilon, tpr, fpr = judged_epsilon(counts, coin)
        found[kind] = CanaryResult(
            shown_in=_mean(shown[coin] > 0),
            shown_out=_mean(shown[~coin] > 0),
            count_in=_mean(counts[coin]),
            count_out=_mean(counts[~coin]),
            epsilon=epsilon,
            epsilon_own=judged_epsilon(shown, coin)[0],
            true_positive_rate=tpr,
            false_positive_rate=fpr,
            instances=len(these),
            runs=len(coin),
        )
    return found


def _mean(values: NDArray[np.bool_] | NDArray[np.int64]) -> float:
    return float(values.mean()) if len(values) else 0.0
