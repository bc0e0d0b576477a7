"""What a release promises, in one object that the run, the report and the datasheet read.

It comes from the model (differential privacy of everything it gives) or from the test of its
traces (plausible deniability of each). Everything it says may be published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Kind = Literal["differential privacy", "plausible deniability", "none"]


@dataclass(frozen=True)
class Guarantee:
    """A promise, its unit, and its limits.

    Attributes
    ----------
    kind : which promise this is; "none" if there is none.
    title : its name with its parameters, such as "(10, 1)-plausible deniability".
    text : what it promises, in one or two plain sentences.
    unit : what it covers, such as "each trace alone" or "one user with all of their data".
    parameters : name → number, such as {"k": 10, "eta": 1.0}.
    by_construction : whether it follows from how the model is built, with or without a test.
    vacuous : whether it holds for a reason that protects nobody, such as likelihoods that are
        equal for all users whatever the traces give away.
    limits : what it does not promise, a sentence each.
    """

    kind: Kind
    title: str
    text: str
    unit: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    by_construction: bool = False
    vacuous: bool = False
    limits: tuple[str, ...] = ()

    @classmethod
    def none(cls, why: str) -> Guarantee:
        """Return the absence of a promise; `why` is one sentence."""
        return cls("none", "no guarantee", why, "nothing")

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Guarantee:
        """Return the guarantee of a manifest."""
        return cls(**{**told, "limits": tuple(told.get("limits", ()))})

    def __bool__(self) -> bool:
        """Tell whether anything is promised that protects somebody."""
        return self.kind != "none" and not self.vacuous

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {**asdict(self), "parameters": dict(self.parameters), "limits": list(self.limits)}
