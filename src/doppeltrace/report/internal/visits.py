"""How much of their time people give to a place, for places that the reader picks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doppeltrace.report.figures.encoding import plain
from doppeltrace.report.internal.suppression import MIN_USERS
from doppeltrace.utility.summary import Summary
from doppeltrace.utility.visit_fractions import BINS, vf_tv

MAX_PLACES = 200


@dataclass(frozen=True)
class VisitFractions:
    """One place: the share of its visitors per bin (0, 1/24], … of their visit-fraction.

    Attributes
    ----------
    place : its number.
    real_users, traces : how many stand behind the two histograms: those with enough events
        who are not always there. At most `suppression.MIN_USERS` − 1 where too few to show.
    real, synthetic : (24,) shares; empty if there is nobody, or too few real users to show.
    tv : total variation between both, None where VF-TV leaves the place out.
    """

    place: int
    real_users: int
    traces: int
    real: list[float | None]
    synthetic: list[float | None]
    tv: float | None


def visit_fractions(
    real: Summary, made: Summary, train: Summary, most: int = MAX_PLACES
) -> list[VisitFractions]:
    """Return the histograms of the places that the real traces visit most."""
    busiest = np.argsort(-real.slots.sum(axis=0), kind="stable")[:most]
    found = []
    for place in busiest.tolist():
        only = slice(place, place + 1)
        p, q, t = real.fractions[only], made.fractions[only], train.fractions[only]
        users = int(p.sum())
        if 0 < users < MIN_USERS:
            users, p = MIN_USERS - 1, np.zeros_like(p)
        (tv,) = plain([vf_tv(p, q, t)])
        found.append(VisitFractions(place, users, int(q.sum()), _shares(p[0]), _shares(q[0]), tv))
    return found


def _shares(counts: NDArray[np.int64]) -> list[float | None]:
    assert len(counts) == BINS
    total = counts.sum()
    return plain(counts / total, 3) if total else []
