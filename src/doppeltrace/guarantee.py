"""What a release promises, in one object that the run, the report and the datasheet read.

It comes from the model (differential privacy of everything it gives) or from the test of its
traces (plausible deniability of each). Everything it says may be published.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from doppeltrace.errors import require

Kind = Literal["differential privacy", "plausible deniability", "none"]

ONE_TRACE_ONLY = (
    "It says nothing about several traces together: each was tested alone, and several may have "
    "been drawn from the profile of the same user."
)
NOT_MEMBERSHIP = "It does not hide whether somebody was in the input at all."
NOT_CONTENT = (
    "It hides from which user a trace was drawn, not what is in the trace: a place that only one "
    "person visits can appear in traces drawn from others."
)
NOT_DIFFERENTIAL = "It is not differential privacy."


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
    def deniability(
        cls,
        k: int,
        eta: float,
        verifiers: int | None = None,
        *,
        vacuous: bool = False,
        by_construction: bool = False,
    ) -> Guarantee:
        """Return (k, η)-plausible deniability of each trace.

        Parameters
        ----------
        verifiers : how many users, drawn at random, were compared; None for all.
        vacuous : every user gives every trace the same likelihood.
        by_construction : at least k users are the same to the model: η is 0, the promise holds
            for any number of traces, and the test only confirms it.

        Examples
        --------
        >>> from doppeltrace.guarantee import Guarantee
        >>> Guarantee.deniability(10, 1.0).title
        '(10, 1)-plausible deniability'
        >>> bool(Guarantee.deniability(10, 1.0, vacuous=True))
        False
        """
        _check_deniability(k, eta)
        require(verifiers is None or verifiers >= 1, "verifiers must be at least 1")
        if by_construction and not vacuous:
            return cls(
                "plausible deniability",
                f"({k}, 0)-plausible deniability by construction",
                f"Every trace is exactly as likely to have been drawn from any of at least {k:,} "
                "users of the input, who are the same to the model. Any number of traces known "
                "to have been drawn from one user, and the model without its seed, name that user "
                f"with a probability of at most 1 in {k:,}.",
                "whom a trace was drawn from, for all traces together",
                {"k": k, "eta": 0.0},
                by_construction=True,
                limits=(NOT_MEMBERSHIP, NOT_CONTENT, NOT_DIFFERENTIAL),
            )
        parameters: dict[str, float] = {"k": k, "eta": eta}
        if verifiers is not None:
            parameters["verifiers"] = verifiers
        limits: tuple[str, ...] = (ONE_TRACE_ONLY, NOT_MEMBERSHIP, NOT_CONTENT, NOT_DIFFERENTIAL)
        if vacuous:
            limits = (
                "It protects nobody here: this model gives every trace the same probability "
                "under all users, so every trace passes, whatever it gives away.",
                *limits,
            )
        return cls(
            "plausible deniability",
            f"({k}, {eta:g})-plausible deniability",
            _in_words(k, eta),
            "each trace alone",
            parameters,
            by_construction=by_construction,
            vacuous=vacuous,
            limits=limits,
        )

    @classmethod
    def one_trace(
        cls,
        k: int,
        eta: float,
        *,
        epsilon0: float,
        epsilon: float,
        delta: float,
        vacuous: bool = False,
    ) -> Guarantee:
        """Return what the randomized test promises for a single trace.

        Parameters
        ----------
        epsilon0 : the noise on k is Laplace with scale 1 / ε₀.
        epsilon, delta : of one trace; see `deniability.randomized.one_trace_privacy`.
        vacuous : every user gives every trace the same likelihood.
        """
        _check_deniability(k, eta)
        require(epsilon0 > 0, "epsilon0 must be positive")
        _check_privacy(epsilon, delta)
        return cls(
            "plausible deniability",
            f"randomized ({k}, {eta:g})-plausible deniability, ε = {epsilon:.3g} and "
            f"δ = {delta:.2g} for one trace",
            f"{_in_words(k, eta)} Noise was added to {k:,} before each trace was judged, and its "
            f"input user was drawn at random: one trace alone, of a model that does not depend on "
            f"the input, has ({epsilon:.3g}, {delta:.2g})-differential privacy.",
            "one trace alone",
            {"k": k, "eta": eta, "epsilon0": epsilon0, "epsilon": epsilon, "delta": delta},
            vacuous=vacuous,
            limits=(
                "It is not differential privacy of the release: ε and δ hold for one trace alone, "
                "and only if the model does not depend on the input. A model trained on the same "
                "users does.",
                ONE_TRACE_ONLY,
                NOT_MEMBERSHIP,
                NOT_CONTENT,
            ),
        )

    @classmethod
    def differential_privacy(
        cls, epsilon: float, delta: float, *, limits: tuple[str, ...] = ()
    ) -> Guarantee:
        """Return user-level (ε, δ)-differential privacy of all traces and the model together.

        `limits` adds sentences, such as which inputs were taken as public.
        """
        _check_privacy(epsilon, delta)
        return cls(
            "differential privacy",
            f"({epsilon:g}, {delta:g})-differential privacy",
            "Adding or removing one user, with all of their data, changes the probability of any "
            f"outcome by a factor of at most e^{epsilon:g} ≈ {math.exp(min(epsilon, 700)):.3g}, "
            f"except for a probability of at most {delta:g}. However many traces are drawn.",
            "one user with all of their data, for all traces and the model together",
            {"epsilon": epsilon, "delta": delta},
            by_construction=True,
            limits=(
                "Every further training on the same data adds its own ε and δ.",
                "It does not hide what is true of the crowd as a whole.",
                *limits,
            ),
        )

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


def _in_words(k: int, eta: float) -> str:
    return (
        f"A trace was published only if at least {k:,} users of the input, the one it was drawn "
        "from among them, could have given rise to it with about the same probability: within a "
        f"factor of e^{eta:g} ≈ {math.exp(min(eta, 700)):.3g}."
    )


def _check_deniability(k: int, eta: float) -> None:
    require(k >= 1, "k must be at least 1")
    require(0 < eta < math.inf, "eta must be positive")


def _check_privacy(epsilon: float, delta: float) -> None:
    require(0 < epsilon < math.inf, "epsilon must be positive")
    require(0 <= delta < 1, "delta must be from 0 to below 1")
