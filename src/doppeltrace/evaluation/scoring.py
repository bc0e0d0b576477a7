"""Score synthetic traces: utility against the testing traces, and the attacks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.attacks import (
    Membership,
    Reidentification,
    copy_check,
    membership_inference,
    reidentification,
)
from doppeltrace.attacks.knowledge import BUDGET
from doppeltrace.errors import InputError, require
from doppeltrace.evaluation.scorecard import Counts, Measure, Scorecard
from doppeltrace.streams import generator
from doppeltrace.traces import SyntheticTraces, Traces
from doppeltrace.utility import (
    Summary,
    cluster_members,
    cluster_tv,
    compare,
    jensen_shannon_per_slot,
    tp_tv_per_slot,
)
from doppeltrace.utility.clusters import uniform_cluster_tv

COPY_BASELINE = 20_000
"""Testing traces in the copy check at most: enough to show what is ordinary."""

MEASURES = {
    "tp_tv": ("TP-TV", "", "total variation of the population per time slot, mean over slots"),
    "tp_tv_top50": ("TP-TV-Top50", "", "TP-TV at each slot's 50 most frequent testing places"),
    "tm_emd_x": ("TM-EMD-X", "cells", "earth mover's distance of transitions, west to east"),
    "tm_emd_y": ("TM-EMD-Y", "cells", "earth mover's distance of transitions, south to north"),
    "vf_tv": ("VF-TV", "", "total variation of visit-fractions per place, mean over places"),
    "tp_js": ("TP-JS", "bits", "Jensen–Shannon divergence per time slot, mean over slots"),
    "trip_length_emd": ("trip length", "km", "earth mover's distance of trip lengths"),
    "gyration_emd": ("daily radius of gyration", "km", "earth mover's distance of radii"),
    "stay_emd": ("stay", "h", "earth mover's distance of lengths of stay at one place"),
    "places_per_day_emd": ("places per day", "places", "earth mover's distance of their number"),
}


def evaluate(
    *,
    train: Traces,
    test: Traces,
    synthetic: SyntheticTraces,
    clusters: ArrayLike | None = None,
    attacks: bool = True,
    seed: int = 0,
    budget: int = BUDGET,
) -> Scorecard:
    """Score synthetic traces against testing traces, with Training and Uniform beside.

    Every utility score is computed per replicate (one trace per user) and then averaged.

    Parameters
    ----------
    train, test : original traces of different users, with the same places and clock.
    synthetic : traces made from the training users. Owners may be unknown (−1, as in a
        released file): then there is no re-identification rate.
    clusters : factor matrix A (n_users, z) for the cluster-specific distributions, or None.
    attacks : False leaves out the attacks and the copy check.
    seed : of subsets, bootstrap and shuffles; nothing secret hangs on it.
    budget : additions that each attack may spend before it turns to a random subset.
    """
    _check(train, test, synthetic)
    require(budget >= 1, "budget must be at least 1")
    trained, tested = Summary.of(train), Summary.of(test)
    made, slots = [], []
    for part in synthetic.by_replicate():
        summary = Summary.of(part)
        made.append(compare(tested, summary, trained))
        slots.append(summary.slots)
    training = compare(tested, trained, trained)
    uniform = compare(tested, Summary.uniform(train.places, train.clock, seed), trained)
    measures = [
        Measure(name, *words, tuple(m[name] for m in made), training[name], uniform[name])
        for name, words in MEASURES.items()
    ]
    per_cluster: tuple[float, ...] = ()
    if clusters is not None:
        measure, per_cluster = _clusters(train, synthetic, clusters)
        measures.append(measure)
    counts = _counts(trained, synthetic, np.sum(slots, axis=0), len(made))
    reidentified = members = copied = test_copied = None
    if attacks:
        reidentified = reidentification(train, synthetic, seed=seed, budget=budget)
        members = membership_inference(train, test, synthetic, seed=seed, budget=budget)
        copied = copy_check(train, synthetic)
        length = synthetic.locations.shape[1]
        test_copied = copy_check(train, _baseline(test, seed), least_events=length)
    return Scorecard(
        measures=tuple(measures),
        reidentification=reidentified,
        membership=members,
        copies=copied,
        test_copies=test_copied,
        per_slot={
            "tp_tv": _mean([tp_tv_per_slot(tested.slots, s) for s in slots]),
            "tp_js": _mean([jensen_shannon_per_slot(tested.slots, s) for s in slots]),
        },
        per_cluster=per_cluster,
        counts=counts,
        notes=_notes(counts, attacks, reidentified, members, test.n_users),
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
                "list of places"
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
        "cluster_tv",
        "cluster TV",
        "",
        "total variation between the training and synthetic events of a cluster's users, "
        "mean over clusters",
        tuple(float(row.mean()) for row in rows),
        training=0.0,
        uniform=float(uniform_cluster_tv(train, members).mean()),
    )
    return measure, _mean(rows)


def _notes(
    counts: Counts,
    attacks: bool,
    reidentified: Reidentification | None,
    members: Membership | None,
    n_test: int,
) -> tuple[str, ...]:
    several = counts.replicates > 1
    means = "scores are means over replicates, ± is the standard deviation between them, "
    notes = [
        f"{counts.traces:,} traces in {counts.replicates} replicate{'s' * several}; "
        f"{means * several}0 is best. Uniform is exact "
        "for TP, TM and VF, and sampled for trips, radii, stays and places per day."
    ]
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
