"""How long work says where it stands: one callback for every phase of every room."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One unit of a phase is done.

    Attributes
    ----------
    phase : what is going on, in words a user knows ("training", "synthesis", …).
    done, total : units finished and in all.
    figures : numbers worth showing or keeping, such as {"rmse": 0.31}.
    """

    phase: str
    done: int
    total: int
    figures: Mapping[str, float] = field(default_factory=dict)


Callback = Callable[[Step], None]


def silent(step: Step) -> None:
    """Ignore progress: the default callback."""
