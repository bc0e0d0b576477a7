"""What a search went through, and what it found best."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doppeltrace.synthesizers import Synthesizer
from doppeltrace.utility.metric import GROUPS

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Trial:
    """One choice of settings, cross-validated.

    Attributes
    ----------
    changed : settings that differ from the model's own.
    summary : name → share of the summary (see `Scorecard.summary`), mean over the folds; None
        where no fold says anything.
    error : standard error of its mean over the folds; NaN for a single one.
    pass_rate : share of the traces that pass the deniability test; 1 without a test.
    seconds : of all folds.
    enough : whether enough traces pass in every fold, so that it may be chosen.
    """

    changed: Mapping[str, Any]
    summary: Mapping[str, float | None]
    error: float
    pass_rate: float
    seconds: float
    enough: bool

    @property
    def mean(self) -> float:
        """Mean of the summary; −∞ where it has none, or where too few traces pass."""
        mean = self.summary.get("mean")
        return -math.inf if mean is None or not self.enough else mean

    @property
    def words(self) -> str:
        """The settings in words."""
        return ", ".join(f"{n}={v}" for n, v in self.changed.items()) or "as given"


@dataclass(frozen=True, repr=False)
class Tuning:
    """Every trial in its order, and the best.

    Attributes
    ----------
    model : the model with the best settings, not fitted.
    trials : what was tried.
    folds : of the cross-validation.
    privacy : at what privacy, in words.
    notes : what a reader must know beside the numbers.
    """

    model: Synthesizer
    trials: tuple[Trial, ...]
    folds: int
    privacy: str
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Trial:
        """The trial with the largest mean of the summary; the first of equals."""
        return max(self.trials, key=lambda trial: trial.mean)

    @property
    def changed(self) -> dict[str, Any]:
        """The best settings, as far as they differ from the given ones."""
        return dict(self.best.changed)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "model": self.model.name,
            "changed": self.changed,
            "folds": self.folds,
            "privacy": self.privacy,
            "notes": list(self.notes),
            "trials": [
                {
                    "changed": dict(trial.changed),
                    "summary": dict(trial.summary),
                    "error": None if math.isnan(trial.error) else trial.error,
                    "pass_rate": trial.pass_rate,
                    "seconds": trial.seconds,
                    "enough": trial.enough,
                }
                for trial in self.trials
            ],
        }

    def to_json(self) -> str:
        """Return `to_dict()` as a JSON object."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_table(self) -> Table:
        """Return a table for a rich console, the best trial first."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        names = ("mean", "±", "worst", *GROUPS)
        for title in (*names[:3], *(group[:4] for group in GROUPS), "pass", "s"):
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("settings", overflow="fold")
        for trial in sorted(self.trials, key=lambda trial: -trial.mean):
            shares = {**trial.summary, "±": trial.error}
            table.add_row(
                *(_percent(shares.get(name)) for name in names),
                _percent(trial.pass_rate) + ("" if trial.enough else "!"),
                f"{trial.seconds:.0f}",
                trial.words,
                style="bold" if trial is self.best else None,
            )
        table.caption = (
            "Summary in per cent of what real users get, and its groups: "
            f"{', '.join(GROUPS)}. ! too few traces pass."
        )
        table.caption_justify = "left"
        return table

    def __repr__(self) -> str:
        return f"Tuning({len(self.trials)} trials of {self.model.name}, best: {self.best.words})"


def _percent(share: float | None) -> str:
    return "–" if share is None or math.isnan(share) else f"{100 * share:.0f}"
