"""A guarantee in the rows and words that both pages show."""

from __future__ import annotations

from doppeltrace.guarantee import Guarantee

PARAMETERS = {
    "k": "users who must be plausible, k",
    "eta": "likelihoods alike within a factor of e^η, η",
    "verifiers": "users compared, drawn at random",
    "epsilon0": "noise on k is Laplace with scale 1/ε₀, ε₀",
    "epsilon": "privacy loss, ε",
    "delta": "probability that ε does not hold, δ",
}
"""Parameter of a guarantee → its words."""


def promise_rows(guarantee: Guarantee) -> list[tuple[str, str]]:
    """Return (words, value) of what is promised, for whom, and with which parameters."""
    return [
        ("promise", guarantee.title),
        ("covers", guarantee.unit),
        *(
            (PARAMETERS.get(name, name), number(value))
            for name, value in guarantee.parameters.items()
        ),
    ]


def number(value: float) -> str:
    """Return a whole number with its thousands apart, any other with the digits it needs."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}"
