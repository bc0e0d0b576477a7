"""What is lost: every utility score between the input itself and no information at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from doppeltrace.evaluation.scorecard import Measure, Scorecard
from doppeltrace.report.figures.words import percent
from doppeltrace.report.internal.flows import Histogram
from doppeltrace.report.internal.move_rates import MoveRates

PLAIN: Mapping[str, str] = {
    "tp_tv": "Where people are, slot by slot",
    "tp_tv_top50": "The 50 busiest places of each slot",
    "tm_emd_x": "Where people go next, west to east",
    "tm_emd_y": "Where people go next, south to north",
    "vf_tv": "How much of their time people give a place",
    "tp_js": "Where people are, weighing rare places more",
    "trip_length_emd": "How far people travel",
    "gyration_emd": "How far a day takes people",
    "stay_emd": "How long people stay",
    "places_per_day_emd": "How many places people see in a day",
}
"""Score → what it is about, for a reader who does not know it."""

KEPT, LOST = 0.25, 0.75
"""Up to here on the way from Training to Uniform a property counts as kept, from here as lost."""
MIN_GAP = 0.05
"""Part of Uniform's distance by which Training must be nearer, else both tell nothing."""
MEANS_ALIKE, MEANS_APART = 1.25, 2.0
"""Larger mean through smaller: above the first nothing is kept, from the second on it is lost."""
MOVING_KEPT, MOVING_LOST = 0.25, 0.5
"""Bounds of the difference in when people move, as parts of the real mean."""
MUCH_LESS = 0.5
"""With less than this part of the synthetic events per day, some things cannot be compared."""
NEED_COVERAGE = ("move_rates", "stay_emd", "places_per_day_emd")
"""What traces with gaps cannot show: it depends on how often people are seen."""

WORDS = ("kept", "partly lost", "lost")
NO_YARDSTICK, NOT_COMPARABLE = "no yardstick", "not comparable"

RULES = (
    f"Up to {percent(KEPT)} of the way from training to uniform counts as kept, from "
    f"{percent(LOST)} on as lost.",
    "Trips, reach, stays and places per day are distributions of one number, so their means must "
    f"agree, too: if the larger mean exceeds the smaller by more than {percent(MEANS_ALIKE - 1)}, "
    f"the property is at best partly lost; from {MEANS_APART:g} times on it is lost.",
    "When people move is judged by the mean absolute difference between the shares of the slots: "
    f"kept up to {percent(MOVING_KEPT)} of the real mean, lost from {percent(MOVING_LOST)} on.",
    f"There is {NO_YARDSTICK} where training is not nearer than uniform by at least "
    f"{percent(MIN_GAP)} of uniform’s distance (for when people move: where training itself "
    "would not count as kept).",
    "When people move, stays and places per day are not comparable where the real traces have an "
    f"event in less than {percent(MUCH_LESS)} as many instants as the synthetic ones.",
)


@dataclass(frozen=True)
class Loss:
    """One score: a distance from the real traces.

    Attributes
    ----------
    name, label, plain, meaning, unit : how it is called, in short and in plain words.
    synthetic, training, uniform : the released traces, the input itself, and nothing known.
    spread : standard deviation between replicates.
    lost : 0 where the synthetic traces are as near as the input, 1 where they are as far as
        the uniform distribution; may lie outside. None where that is no yardstick.
    real_mean, synthetic_mean : of a score that compares distributions of one number.
    verdict : "kept", "partly lost", "lost", "no yardstick" or "not comparable".
    """

    name: str
    label: str
    plain: str
    meaning: str
    unit: str
    synthetic: float | None
    training: float | None
    uniform: float | None
    spread: float | None
    lost: float | None
    real_mean: float | None
    synthetic_mean: float | None
    verdict: str


def losses(
    score: Scorecard,
    histograms: Iterable[Histogram],
    rates: MoveRates,
    *,
    reference: str = "testing",
    comparable: bool = True,
) -> list[Loss]:
    """Return the scorecard's measures, and when people move, in this form.

    Parameters
    ----------
    histograms : those behind the scores that compare distributions of one number.
    reference : "testing" or "training", the users that the traces were compared with.
    comparable : whether the real traces hold enough events for `NEED_COVERAGE`.
    """
    means = {h.name: (h.real_mean, h.synthetic_mean) for h in histograms}
    found = [_loss(m, *means.get(m.name, (None, None)), reference) for m in score.measures]
    first = next((i for i, one in enumerate(found) if one.name in means), len(found))
    found.insert(first, _move_rates(rates))
    return [
        one
        if comparable or one.name not in NEED_COVERAGE
        else Loss(**{**vars(one), "lost": None, "verdict": NOT_COMPARABLE})
        for one in found
    ]


def _loss(m: Measure, real_mean: float | None, synthetic_mean: float | None, users: str) -> Loss:
    lost = lost_share(m.mean, m.training, m.uniform)
    return Loss(
        name=m.name,
        label=m.label,
        plain=PLAIN.get(m.name, m.meaning),
        meaning=m.meaning.replace("testing", users),
        unit=m.unit,
        synthetic=_finite(m.mean),
        training=_finite(m.training),
        uniform=_finite(m.uniform),
        spread=_finite(m.spread),
        lost=lost,
        real_mean=real_mean,
        synthetic_mean=synthetic_mean,
        verdict=verdict(lost, real_mean, synthetic_mean),
    )


def _move_rates(found: MoveRates) -> Loss:
    return Loss(
        name="move_rates",
        label="moves by slot",
        plain="When people move",
        meaning="mean absolute difference of the share of events that are elsewhere than one "
        "instant before",
        unit="%",
        synthetic=found.difference,
        training=found.training,
        uniform=found.uniform,
        spread=None,
        lost=None,
        real_mean=found.real_mean,
        synthetic_mean=found.synthetic_mean,
        verdict=move_rates_verdict(found),
    )


def lost_share(synthetic: float, training: float, uniform: float) -> float | None:
    """Return (synthetic − training) / (uniform − training), None if that has no meaning.

    With few testing users the input itself can be hardly nearer to them than a uniform guess.
    """
    if not all(map(math.isfinite, (synthetic, training, uniform))):
        return None
    if uniform <= 0 or uniform - training < MIN_GAP * uniform:
        return None
    return (synthetic - training) / (uniform - training)


def verdict(
    lost: float | None, real_mean: float | None = None, synthetic_mean: float | None = None
) -> str:
    """Return the word for a share that is lost, no better than the means allow."""
    word = NO_YARDSTICK if lost is None else _word(lost, KEPT, LOST)
    if real_mean is None or synthetic_mean is None:
        return word
    small, large = sorted((real_mean, synthetic_mean))
    if large >= MEANS_APART * small and large > 0:
        return "lost"
    if large > MEANS_ALIKE * small and word != "lost":
        return "partly lost"
    return word


def move_rates_verdict(found: MoveRates) -> str:
    """Return the word for the difference in when people move."""
    if found.difference is None or found.training is None or not found.real_mean:
        return NO_YARDSTICK
    if found.training > MOVING_KEPT * found.real_mean:
        return NO_YARDSTICK
    return _word(found.difference / found.real_mean, MOVING_KEPT, MOVING_LOST)


def _word(share: float, kept: float, lost: float) -> str:
    return WORDS[0] if share <= kept else WORDS[2] if share >= lost else WORDS[1]


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None
