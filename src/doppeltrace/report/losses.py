"""What is lost: every utility score between the input itself and no information at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from doppeltrace.scorecard import Scorecard

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
NO_YARDSTICK = "no yardstick"


@dataclass(frozen=True)
class Loss:
    """One score: a distance from the real traces.

    Attributes
    ----------
    name, label, plain, meaning, unit : how it is called, in short and in plain words.
    synthetic, training, uniform : the released traces, the input itself, and nothing known.
    spread : standard deviation between replicates.
    lost : 0 where the synthetic traces are as near as the input, 1 where they are as far as
        the uniform distribution; may lie outside. None where the input is no nearer than that.
    verdict : "kept", "partly lost", "lost", or "no yardstick".
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
    verdict: str


def losses(score: Scorecard) -> list[Loss]:
    """Return the scorecard's measures in this form."""
    found = []
    for m in score.measures:
        lost = lost_share(m.mean, m.training, m.uniform)
        found.append(
            Loss(
                name=m.name,
                label=m.label,
                plain=PLAIN.get(m.name, m.meaning),
                meaning=m.meaning,
                unit=m.unit,
                synthetic=_finite(m.mean),
                training=_finite(m.training),
                uniform=_finite(m.uniform),
                spread=_finite(m.spread),
                lost=lost,
                verdict=verdict(lost),
            )
        )
    return found


def lost_share(synthetic: float, training: float, uniform: float) -> float | None:
    """Return (synthetic − training) / (uniform − training), None if that has no meaning.

    With few testing users the input itself can be no nearer to them than a uniform guess.
    """
    if not all(map(math.isfinite, (synthetic, training, uniform))) or uniform <= training:
        return None
    return (synthetic - training) / (uniform - training)


def verdict(lost: float | None) -> str:
    """Return the word for a share that is lost."""
    if lost is None:
        return NO_YARDSTICK
    if lost <= KEPT:
        return "kept"
    return "partly lost" if lost < LOST else "lost"


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None
