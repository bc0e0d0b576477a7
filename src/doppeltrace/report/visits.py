"""How much of their time people give to a place, for places that the reader picks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doppeltrace.report.encoding import plain
from doppeltrace.utility.summary import Summary
from doppeltrace.utility.visit_fractions import BINS, vf_tv

MOST_PLACES = 200


@dataclass(frozen=True)
class VisitFractions:
    """One place: the share of its visitors per bin (0, 1/24], … of their visit-fraction.

    Attributes
    ----------
    place : its number.
    real, synthetic : (24,) shares; empty if nobody with enough events visits.
    tv : total variation between both, None where VF-TV leaves the place out.
    """

    place: int
    real: list[float | None]
    synthetic: list[float | None]
    tv: float | None


def visit_fractions(
    real: Summary, made: Summary, train: Summary, most: int = MOST_PLACES
) -> list[VisitFractions]:
    """Return the histograms of the places that the real traces visit most."""
    busiest = np.argsort(-real.slots.sum(axis=0), kind="stable")[:most]
    found = []
    for place in busiest.tolist():
        only = slice(place, place + 1)
        p, q, t = real.fractions[only], made.fractions[only], train.fractions[only]
        (tv,) = plain([vf_tv(p, q, t)])
        found.append(VisitFractions(place, _shares(p[0]), _shares(q[0]), tv))
    return found


def _shares(counts: np.ndarray) -> list[float | None]:
    assert len(counts) == BINS
    total = counts.sum()
    return plain(counts / total, 3) if total else []
