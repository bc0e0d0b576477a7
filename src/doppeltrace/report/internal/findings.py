"""Everything the internal page shows, as one frozen result: aggregates only, never a user."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.evaluation import evaluate
from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.factorize.state import Factors
from doppeltrace.report.figures.slots import slot_labels
from doppeltrace.report.internal.clusters import Cluster, clusters, count_clusters, named_places
from doppeltrace.report.internal.flows import (
    Flow,
    Histogram,
    coverage,
    histograms,
    strongest_flows,
)
from doppeltrace.report.internal.losses import MUCH_LESS, Loss, losses
from doppeltrace.report.internal.move_rates import MoveRates, compare_move_rates
from doppeltrace.report.internal.population import (
    Population,
    ShownPlaces,
    choose_places,
    describe_places,
    population,
)
from doppeltrace.report.internal.privacy import Privacy, privacy
from doppeltrace.report.internal.run_summary import RunSummary
from doppeltrace.report.internal.suppression import users_per_slot_and_place
from doppeltrace.report.internal.visits import VisitFractions, visit_fractions
from doppeltrace.traces import SyntheticTraces, Traces
from doppeltrace.utility.summary import Summary

FORMAT = 4
"""Raised when the page can no longer be made from older findings."""


@dataclass(frozen=True)
class Findings:
    """What a run gave, in figures that do not grow with the number of users.

    Attributes
    ----------
    version, run : who made it, and how.
    reference : "testing" or "training": the real traces of the page, `reference_users` many.
    replicates : sets of one released trace per user over which scores are averaged.
    slots : (n_slots,) the time of each in words.
    coverage, synthetic_coverage : share of the instants of a day that hold an event.
    places : those on the page; all other parts number places as they stand there.
    comparable : whether real traces have about as many events in a day as synthetic ones.
    move_rates : when people move.
    losses : utility beside the yardsticks; empty if nothing was released.
    summary : `Scorecard.summary`; empty if nothing was released.
    clusters : None if the model has no factors.
    audit : what the audit found, as far as it was run: see `audit_section`.
    notes : what must be known beside the scores.
    """

    version: str
    run: RunSummary
    reference: str
    reference_users: int
    replicates: int
    slots: list[str]
    coverage: float
    synthetic_coverage: float
    comparable: bool
    places: ShownPlaces
    population: Population | None
    flows: list[Flow]
    histograms: list[Histogram]
    move_rates: MoveRates
    visits: list[VisitFractions]
    clusters: list[Cluster] | None
    privacy: Privacy
    losses: list[Loss]
    summary: dict[str, float | None]
    audit: Mapping[str, Any] | None
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold; `page.render` needs nothing else."""
        return {"format": FORMAT, **asdict(self)}

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON object."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


def collect_findings(
    *,
    train: Traces,
    test: Traces | None,
    released: SyntheticTraces,
    run: RunSummary,
    score: Scorecard | None = None,
    factors: Factors | None = None,
    plausible: NDArray[np.int64] | None = None,
    audit: Mapping[str, Any] | None = None,
) -> Findings:
    """Look at released traces from all sides.

    Parameters
    ----------
    train, test : the input; without testing users the page compares with the training users.
    released : the traces that leave, with their owners.
    score : of the released traces against the testing users, or None to compute it here.
    factors : Θ of the model, or None if it has none.
    plausible : (made,) k′ of every trace made, or None if there was no test.
    audit : what the audit found, as plain values; None if it was not run.
    """
    real = train if test is None else test
    some = bool(np.any(released.locations >= 0))
    attacked = score
    if score is None and some:
        score = evaluate(train=train, test=real, synthetic=released, attacks=test is not None)
        attacked = score if test is not None else None
    trained = Summary.of(train)
    seen = trained if test is None else Summary.of(test)
    made = Summary.of(released)
    seen_share, made_share = coverage(seen), coverage(made)
    comparable = seen_share > MUCH_LESS * made_share
    charts = histograms(seen, made)
    reference = "training" if test is None else "testing"
    flows = strongest_flows(real, released, len(train.places))
    visits = visit_fractions(seen, made, trained)
    counts = None if factors is None else count_clusters(train, released, factors)
    needed = {f.origin for f in flows} | {f.destination for f in flows}
    needed |= {v.place for v in visits} | (set() if counts is None else named_places(counts))
    shown, on_map = choose_places(seen.slots, made.slots, needed)
    number = {int(place): i for i, place in enumerate(shown)}.__getitem__
    return Findings(
        version=version("doppeltrace"),
        run=run,
        reference=reference,
        reference_users=real.n_users,
        replicates=0 if score is None else score.counts.replicates,
        slots=slot_labels(train.clock),
        coverage=seen_share,
        synthetic_coverage=made_share,
        comparable=comparable,
        places=describe_places(train.places, shown, on_map, seen.slots, made.slots),
        population=None
        if score is None
        else population(
            seen.slots,
            made.slots,
            trained.slots,
            users_per_slot_and_place(real),
            shown[:on_map],
            list(score.per_slot["tp_tv"]),
        ),
        flows=[
            replace(f, origin=number(f.origin), destination=number(f.destination)) for f in flows
        ],
        histograms=charts,
        move_rates=compare_move_rates(seen, made),
        visits=[replace(v, place=number(v.place)) for v in visits],
        clusters=None
        if counts is None
        else [_renumbered(c, number) for c in clusters(counts, train, shown)],
        privacy=privacy(train, released, attacked, run, plausible),
        losses=[]
        if score is None
        else losses(score, charts, reference=reference, comparable=comparable),
        summary={} if score is None else score.summary,
        audit=audit,
        notes=[] if score is None else list(score.notes),
    )


def _renumbered(cluster: Cluster, number: Callable[[int], int]) -> Cluster:
    return replace(
        cluster,
        places=[(number(p), share) for p, share in cluster.places],
        next_places=[(number(p), share) for p, share in cluster.next_places],
    )
