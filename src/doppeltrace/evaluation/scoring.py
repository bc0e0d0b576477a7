"""Score synthetic traces: utility against the testing traces, and the attacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.attacks import (
    Membership,
    Reidentification,
    copy_check,
    membership_attacks,
    reidentification,
)
from doppeltrace.attacks.knowledge import BUDGET
from doppeltrace.errors import InputError, require
from doppeltrace.evaluation.measure import Measure
from doppeltrace.evaluation.scorecard import Counts, Scorecard
from doppeltrace.evaluation.yardsticks import Yardsticks
from doppeltrace.streams import generator
from doppeltrace.traces import SyntheticTraces, Traces
from doppeltrace.utility import (
    METRICS,
    Summary,
    cluster_members,
    cluster_tv,
    jensen_shannon_per_slot,
    tp_tv_per_slot,
)
from doppeltrace.utility.clusters import uniform_cluster_tv
from doppeltrace.utility.metrics import CLUSTER_TV

COPY_BASELINE = 20_000
"""Testing traces in the copy check at most: enough to show what is ordinary."""


def evaluate(
    *,
    train: Traces,
    test: Traces,
    synthetic: SyntheticTraces,
    clusters: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    attacks: bool = True,
    seed: int = 0,
    budget: int = BUDGET,
    yardsticks: Yardsticks | None = None,
) -> Scorecard:
    """Score synthetic traces against testing traces, with four yardsticks beside.

    Every utility score is computed per replicate (one trace per user) and then averaged.
    Beside it stand Training, Frozen, Independent and Uniform; see `evaluation.yardsticks`.

    Parameters
    ----------
    train, test : original traces of different users, with the same places and clock.
    synthetic : traces made from the training users. Owners may be unknown (−1, as in a
        released file): then there is no re-identification rate.
    clusters : factor matrix A (n_users, z) for the cluster-specific distributions, or None.
    groups : (n_users,) the true group of each training user, where it is known, as in a
        simulated city; by default groups of similar users are found.
    attacks : False leaves out the attacks and the copy check.
    seed : of subsets, bootstrap and shuffles; nothing secret hangs on it.
    budget : additions that each attack may spend before it turns to a random subset.
    yardsticks : of the same traces, where several synthetic sets are scored; then `groups` is
        theirs.
    """
    _check(train, test, synthetic)
    require(budget >= 1, "budget must be at least 1")
    if yardsticks is None:
        yardsticks = Yardsticks(train, test, groups=groups, seed=seed)
    trained, tested = yardsticks.trained, yardsticks.tested
    made, slots = [], []
    for part in synthetic.by_replicate():
        summary = yardsticks.summary(part)
        made.append(yardsticks.score(summary))
        slots.append(summary.slots)
    length = synthetic.locations.shape[1]
    rows = yardsticks.rows(round(len(synthetic) / len(made)), length)
    measures = [
        Measure(
            metric,
            tuple(m[name] for m in made),
            rows.training[name],
            rows.uniform[name],
            rows.frozen[name],
            rows.independent[name],
            rows.error(name, len(made)),
        )
        for name, metric in METRICS.items()
    ]
    per_cluster: tuple[float, ...] = ()
    if clusters is not None:
        measure, per_cluster = _clusters(train, synthetic, clusters)
        measures.append(measure)
    counts = _counts(trained, synthetic, np.sum(slots, axis=0), len(made))
    reidentified = members = file_members = copied = test_copied = None
    if attacks:
        reidentified = reidentification(train, synthetic, seed=seed, budget=budget)
        members, file_members = membership_attacks(
            train, test, synthetic, seed=seed, budget=budget
        )
        copied = copy_check(train, synthetic)
        test_copied = copy_check(train, _baseline(test, seed), least_events=length)
    return Scorecard(
        measures=tuple(measures),
        reidentification=reidentified,
        membership=members,
        membership_file=file_members,
        copies=copied,
        test_copies=test_copied,
        per_slot={
            "tp_tv": _mean([tp_tv_per_slot(tested.slots, s) for s in slots]),
            "tp_js": _mean([jensen_shannon_per_slot(tested.slots, s) for s in slots]),
        },
        per_cluster=per_cluster,
        counts=counts,
        notes=_notes(counts, measures, attacks, reidentified, members, test.n_users),
    )


def _check(train: Traces, test: Traces, synthetic: SyntheticTraces) -> None:
    """Refuse what cannot be compared."""
    for name, traces in (("training", train), ("testing", test)):
        if traces.n_events == 0:
            raise InputError(f"the {name} traces hold no events: there is nothing to compare")
    if not np.any(synthetic.locations >= 0):
        raise InputError("the synthetic set is empty: give at least one trace with an event")
    for name, other in (("testing", test), ("synthetic", synthetic)):
        if not train.places.same_as(other.places):
            raise InputError(
                f"the {name} traces number other places than the training traces "
                f"({len(other.places)} against {len(train.places)}): read both with the same "
                "list of places (a run merges places of few people: its scores are in run.score)"
            )
        if not train.clock.same_as(other.clock):
            raise InputError(
                f"the {name} traces have another clock than the training traces: use the same "
                "instants, slots and cycle for both"
            )
    if synthetic.owner.max() >= train.n_users:
        raise InputError(
            f"a synthetic trace has owner {synthetic.owner.max()}, but there are only "
            f"{train.n_users} training users: owners are indexes of training users, or −1"
        )


def _baseline(test: Traces, seed: int) -> Traces:
    if test.n_users <= COPY_BASELINE:
        return test
    draws = generator(seed, "copy check baseline")
    return test.select(np.sort(draws.choice(test.n_users, COPY_BASELINE, replace=False)))


def _counts(
    trained: Summary, synthetic: SyntheticTraces, slots: NDArray[np.int64], replicates: int
) -> Counts:
    visits = slots.sum(axis=0)
    unseen = (visits > 0) & (trained.slots.sum(axis=0) == 0)
    return Counts(
        traces=len(synthetic),
        replicates=replicates,
        events=int(visits.sum()),
        unseen_places=int(unseen.sum()),
        unseen_events=int(visits[unseen].sum()),
    )


def _mean(rows: list[NDArray[np.float64]]) -> tuple[float, ...]:
    return tuple(float(x) for x in np.mean(rows, axis=0))


def _clusters(
    train: Traces, synthetic: SyntheticTraces, factors: ArrayLike
) -> tuple[Measure, tuple[float, ...]]:
    if np.any(synthetic.owner < 0):
        raise InputError("clusters need the owner of every synthetic trace: leave clusters out")
    members = cluster_members(factors, train.n_users)
    rows = [cluster_tv(train, part, members) for part in synthetic.by_replicate()]
    measure = Measure(
        CLUSTER_TV,
        tuple(float(row.mean()) for row in rows),
        training=0.0,
        uniform=float(uniform_cluster_tv(train, members).mean()),
    )
    return measure, _mean(rows)


def _notes(
    counts: Counts,
    measures: Sequence[Measure],
    attacks: bool,
    reidentified: Reidentification | None,
    members: Membership | None,
    n_test: int,
) -> tuple[str, ...]:
    several = counts.replicates > 1
    means = "scores are means over replicates, ± is the standard deviation between them, "
    notes = [
        f"{counts.traces:,} traces in {counts.replicates} replicate{'s' * several}; "
        f"{means * several}0 is best. Frozen and Independent have as many traces as a "
        "replicate; TP-TV and Top50 of them are exact expectations, Uniform is exact for TP, TM, "
        "VF and when people move, the rest of the three is sampled with a fixed seed.",
        "A share is the way from the better of Frozen and Independent (0 %) to Training "
        "(100 %); a group has the mean share of its scores.",
    ]
    void = [m.label for m in measures if m.metric.in_summary and not m.says_something]
    if void:
        notes.append(
            "Left out, because Training does not lead the other yardsticks by two standard errors "
            f"on these data: {', '.join(void)}."
        )
    if counts.unseen_places:
        notes.append(
            f"{counts.unseen_events:,} of {counts.events:,} synthetic events are at places "
            f"({counts.unseen_places:,}) that the training traces never visit; they are scored "
            "like all others."
        )
    if not attacks:
        notes.append("Attacks and copy check were left out on request.")
        return tuple(notes)
    if reidentified is None:
        notes.append("Re-identification is not available: the traces do not name their owners.")
    else:
        notes.append(
            "The re-identification interval counts alike replicates of one user as fewer "
            "trials; chance is one in the number of training users."
        )
        if reidentified.n_attacked < reidentified.n_traces:
            notes.append(
                f"Re-identification ran on {reidentified.n_attacked} of "
                f"{reidentified.n_traces} traces (a seeded random subset, or those with a "
                "known owner)."
            )
    if members is not None:
        notes.append(
            "Membership advantage is the best over 1000 thresholds, so it is above 0 even "
            "without a leak: its chance level (mean to 95 % quantile) comes from shuffled "
            f"labels (p = {members.p_value:.3f}), its interval from a bootstrap over users."
        )
        attacked = members.n_members + members.n_nonmembers
        if attacked < members.n_users:
            notes.append(
                f"Membership inference ran on {members.n_members} training and "
                f"{members.n_nonmembers} testing users, seeded random subsets of "
                f"{members.n_users} in all."
            )
    some = f"{COPY_BASELINE} of the {n_test} " if n_test > COPY_BASELINE else ""
    notes.append(
        "A shared run is a stretch of consecutive events at the same places and the same "
        f"time of day as in one training trace; {some}testing traces show what is ordinary."
    )
    return tuple(notes)
