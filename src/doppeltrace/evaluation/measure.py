"""One utility score beside its yardsticks, and what all of them say together.

The *share* of a figure is how much of the way from the better trivial generator (0) to the
training traces (1) the synthetic traces go:

    share = (trivial − synthetic) / (trivial − training), clipped to [0, 1].

A figure on which Training does not lead Frozen, Independent and Uniform by more than two standard
errors says nothing about a model on these data: it has no share, and is left out of the summary.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from doppeltrace.utility.metric import GROUPS, Group, Metric

ERRORS = 2.0
"""Standard errors by which Training must lead."""
KEPT, LOST = 0.75, 0.25
"""From the first share on a property counts as kept, up to the second as lost."""
NO_YARDSTICK = "no yardstick"

Row = Literal["synthetic", "training", "uniform", "frozen", "independent"]
YARDSTICKS: tuple[Row, ...] = ("training", "frozen", "independent", "uniform")


@dataclass(frozen=True)
class Measure:
    """One utility score: a distance from the testing traces, 0 is best.

    Attributes
    ----------
    metric : its name, words, group and definition.
    per_replicate : the score of each replicate of the synthetic traces.
    training, uniform, frozen, independent : the same score of the yardsticks.
    error : standard error of Training's lead over the best of the other three.
    """

    metric: Metric
    per_replicate: tuple[float, ...]
    training: float
    uniform: float
    frozen: float = math.nan
    independent: float = math.nan
    error: float = math.nan

    @property
    def name(self) -> str:
        """The key in Python and JSON."""
        return self.metric.name

    @property
    def label(self) -> str:
        """The name in tables."""
        return self.metric.label

    @property
    def unit(self) -> str:
        """What the number counts."""
        return self.metric.unit

    @property
    def meaning(self) -> str:
        """The definition in one sentence."""
        return self.metric.meaning

    @property
    def plain(self) -> str:
        """What it is about, in plain words."""
        return self.metric.plain

    @property
    def group(self) -> Group:
        """The summary's group that it counts in."""
        return self.metric.group

    @property
    def mean(self) -> float:
        """Mean over replicates; NaN where the score is not defined."""
        return math.fsum(self.per_replicate) / len(self.per_replicate)

    @property
    def spread(self) -> float:
        """Standard deviation over replicates; NaN for a single one."""
        n = len(self.per_replicate)
        if n < 2:
            return math.nan
        return math.sqrt(sum((x - self.mean) ** 2 for x in self.per_replicate) / (n - 1))

    @property
    def trivial(self) -> float:
        """The better of Frozen and Independent; NaN if neither has a score."""
        return better((self.frozen, self.independent))

    @property
    def says_something(self) -> bool:
        """Whether Training leads the other yardsticks clearly."""
        if not (math.isfinite(self.error) and math.isfinite(self.trivial)):
            return False
        lead = better((self.trivial, self.uniform)) - self.training
        return lead > max(ERRORS * self.error, 1e-12)

    def row(self, name: Row) -> float:
        """Return the figure of the synthetic traces or of a yardstick."""
        return self.mean if name == "synthetic" else float(getattr(self, name))

    def share_of(self, name: Row) -> float | None:
        """Return the share of the way from trivial (0) to Training (1), None if it says nothing.

        Traces for which the score is not defined, such as trips where nobody moves, have 0.
        """
        if not self.says_something:
            return None
        value = self.row(name)
        if not math.isfinite(value):
            return 0.0
        return min(1.0, max(0.0, (self.trivial - value) / (self.trivial - self.training)))

    @property
    def share(self) -> float | None:
        """The share of the synthetic traces."""
        return self.share_of("synthetic")

    @property
    def word(self) -> str:
        """The share in words: "kept", "partly lost", "lost", or "no yardstick"."""
        return word(self.share)

    @property
    def why_left_out(self) -> str:
        """Why it has no share, in one sentence; empty if it has one."""
        if self.says_something:
            return ""
        if not (math.isfinite(self.training) and math.isfinite(self.trivial)):
            return f"{self.label} is not defined on these data."
        if not math.isfinite(self.error):
            return f"{self.label}: there are too few users to tell how sure it is."
        others = {"Frozen": self.frozen, "Independent": self.independent, "Uniform": self.uniform}
        name = min((n for n in others if math.isfinite(others[n])), key=others.__getitem__)
        return (
            f"{self.label}: Training ({self.training:.4g}) does not clearly lead {name} "
            f"({others[name]:.4g}; standard error {self.error:.2g})."
        )


def better(figures: Iterable[float]) -> float:
    """Return the smallest figure that is defined, NaN if none is."""
    return min((x for x in figures if math.isfinite(x)), default=math.nan)


def word(share: float | None) -> str:
    """Return what a share means."""
    if share is None:
        return NO_YARDSTICK
    return "kept" if share >= KEPT else "lost" if share <= LOST else "partly lost"


def summarize(measures: Iterable[Measure], row: Row = "synthetic") -> dict[str, float | None]:
    """Return the mean share of each group, and the mean and the worst of the groups.

    A group in which no figure says anything is None, and takes no part.
    """
    counted = [m for m in measures if m.metric.in_summary]
    found: dict[str, float | None] = {}
    for group in GROUPS:
        shares = [m.share_of(row) for m in counted if m.group == group]
        known = [share for share in shares if share is not None]
        found[group] = math.fsum(known) / len(known) if known else None
    means = [share for share in found.values() if share is not None]
    found["mean"] = math.fsum(means) / len(means) if means else None
    found["worst"] = min(means, default=None)
    return found
