"""What is lost: every utility score between the training traces and trivial ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from doppeltrace.evaluation.measure import ERRORS, KEPT, LOST, NO_YARDSTICK, Measure
from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.report.figures.words import percent
from doppeltrace.report.internal.flows import Histogram

MUCH_LESS = 0.5
"""With less than this part of the synthetic events per day, real traces have gaps."""

WORDS = ("kept", "partly lost", "lost", NO_YARDSTICK)
"""All verdicts, the best first."""

RULES = (
    "Frozen and Independent are trivial: a frozen person stays all day at one place that a "
    "training user visited; an independent one is drawn anew at every instant from where "
    "everybody is at that time. Uniform gives every place the same probability.",
    "The share of a property is how much of the way from the better of Frozen and Independent "
    f"(0\N{NO-BREAK SPACE}%) to the training users (100\N{NO-BREAK SPACE}%) the synthetic traces "
    f"go, and never less than 0 or more than 100\N{NO-BREAK SPACE}%. From {percent(KEPT)} on the "
    f"property is kept, up to {percent(LOST)} it is lost.",
    f"There is {NO_YARDSTICK} where the training users do not lead both by more than {ERRORS:g} "
    "standard errors: then the figure says nothing about a model on these data, and is left out "
    "of the summary.",
    "The summary is the mean share in each of four groups, the mean of the groups, and the worst "
    "of them.",
    f"Real traces have gaps where they have an event in less than {percent(MUCH_LESS)} as many "
    "instants of a day as the synthetic ones. What depends on how often people are seen is then "
    "lost whatever the model does, and it is lost for whoever uses the traces.",
)


@dataclass(frozen=True)
class Loss:
    """One score: a distance from the real traces.

    Attributes
    ----------
    name, label, plain, meaning, unit, group : how it is called, in short and in plain words.
    synthetic : of the released traces; `spread` is its standard deviation between replicates.
    training, frozen, independent, uniform : of the yardsticks.
    share : 1 where the synthetic traces are as near as the training users, 0 where they are no
        nearer than the better trivial generator; None where that is no yardstick.
    real_mean, synthetic_mean : of a score that compares distributions of one number.
    verdict : one of `WORDS`.
    gaps : whether it depends on how often people are seen, and real traces have gaps.
    why_left_out : why there is no share, in one sentence; empty if there is one.
    """

    name: str
    label: str
    plain: str
    meaning: str
    unit: str
    group: str
    synthetic: float | None
    spread: float | None
    training: float | None
    frozen: float | None
    independent: float | None
    uniform: float | None
    share: float | None
    real_mean: float | None
    synthetic_mean: float | None
    verdict: str
    gaps: bool
    why_left_out: str


def losses(
    score: Scorecard,
    histograms: Iterable[Histogram],
    *,
    reference: str = "testing",
    comparable: bool = True,
) -> list[Loss]:
    """Return the scorecard's measures in this form.

    Parameters
    ----------
    histograms : those behind the scores that compare distributions of one number.
    reference : "testing" or "training", the users that the traces were compared with.
    comparable : whether the real traces are without gaps.
    """
    means = {h.name: (h.real_mean, h.synthetic_mean) for h in histograms}
    return [
        _loss(m, *means.get(m.name, (None, None)), reference, comparable) for m in score.measures
    ]


def _loss(
    m: Measure,
    real_mean: float | None,
    synthetic_mean: float | None,
    users: str,
    comparable: bool,
) -> Loss:
    return Loss(
        name=m.name,
        label=m.label,
        plain=m.plain,
        meaning=m.meaning.replace("testing", users),
        unit=m.unit,
        group=m.group,
        synthetic=_finite(m.mean),
        spread=_finite(m.spread),
        training=_finite(m.training),
        frozen=_finite(m.frozen),
        independent=_finite(m.independent),
        uniform=_finite(m.uniform),
        share=m.share,
        real_mean=real_mean,
        synthetic_mean=synthetic_mean,
        verdict=m.word,
        gaps=m.metric.needs_coverage and not comparable,
        why_left_out=m.why_left_out if m.metric.in_summary else "",
    )


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None
