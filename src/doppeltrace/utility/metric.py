"""The record of one metric: name, words, unit, group and function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from doppeltrace.utility.summary import Summary

Group = Literal["population", "movement", "days", "clusters"]
GROUPS: tuple[Group, ...] = ("population", "movement", "days", "clusters")

Distance = Callable[[Summary, Summary, Summary], float]
"""(testing, other, training) → distance; training only decides what takes part (VF-TV)."""


@dataclass(frozen=True)
class Metric:
    """One way to compare traces with the testing traces.

    Attributes
    ----------
    name, label : the key in Python and JSON, and the name in tables.
    unit : what the number counts; "" for a number between 0 and 1.
    plain : what it is about, for a reader who does not know it.
    meaning : the definition in one sentence.
    group : which of the summary's groups it counts in.
    distance : the function; NaN where it is not defined.
    of_paper : whether the paper defines it.
    needs_coverage : whether it depends on how often people are seen, so that traces with and
        without gaps cannot agree in it.
    in_summary : False for what has no trivial rows beside it.
    """

    name: str
    label: str
    unit: str
    plain: str
    meaning: str
    group: Group
    distance: Distance
    of_paper: bool = False
    needs_coverage: bool = False
    in_summary: bool = True

    def __call__(self, test: Summary, other: Summary, train: Summary) -> float:
        """Return the distance of `other` from the testing traces."""
        return self.distance(test, other, train)
