"""Differential privacy of the parameters Θ: ε of the paper's Proposition 1, for any settings.

Read this before quoting a number. These ε hold for releasing Θ = (A, B, C, D) if Θ is a draw
from the *exact* posterior; a Gibbs sampler stopped after finitely many iterations is only
near it. They are **not** what plausible deniability gives: a trace that passes the
(k, η)-test carries no ε, and the test does not make ε smaller. At settings that give useful
traces ε is in the thousands, which protects nobody; it is computed here so that this can be
seen rather than guessed.
"""

from dataclasses import dataclass
from typing import Literal

from doppeltrace.errors import require

Neighbours = Literal["trace", "location"]


@dataclass(frozen=True)
class Trimming:
    """How one tensor is trimmed, per user.

    Attributes
    ----------
    positives : λ, the most positive elements kept.
    zeros : ρ, zero elements drawn as observed.
    max_count : r_max, the largest count.
    """

    positives: int = 100
    zeros: int = 1000
    max_count: float = 10

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(self.positives >= 0, "positives (λ) must be at least 0")
        require(self.zeros >= 0, "zeros (ρ) must be at least 0")
        require(self.max_count >= 1, "max_count (r_max) must be at least 1")

    @property
    def changed(self) -> int:
        """min{3λ, λ + ρ}: elements in which two users' tensors can differ."""
        return min(3 * self.positives, self.positives + self.zeros)


DEFAULT = Trimming()


def trace_epsilon(
    alpha: float,
    *,
    transitions: Trimming = DEFAULT,
    visits: Trimming = DEFAULT,
    kappa: float = 0.0,
) -> float:
    """Return ε of Proposition 1: data sets that differ in one user's whole trace.

    ε = α (min{3λᴵ, λᴵ + ρᴵ} (r_maxᴵ + κ)² + min{3λᴵᴵ, λᴵᴵ + ρᴵᴵ} (r_maxᴵᴵ + κ)²)

    For Θ drawn from the exact posterior; nothing that plausible deniability provides.

    Parameters
    ----------
    alpha : precision of the Gaussian likelihood, > 0.
    transitions, visits : trimming of the tensors I and II.
    kappa : how far a reconstructed count may leave [0, r_max]; 0 is the best case.
    """
    _check(alpha, kappa)
    return alpha * sum(
        tensor.changed * (tensor.max_count + kappa) ** 2 for tensor in (transitions, visits)
    )


def location_epsilon(
    alpha: float,
    *,
    transitions: Trimming = DEFAULT,
    visits: Trimming = DEFAULT,
    kappa: float = 0.0,
) -> float:
    """Return ε for data sets that differ in a single location of one trace, with ρ = 0.

    ε = α (8 r_maxᴵ + 4 r_maxᴵᴵ + 12κ − 6)

    Changing one location changes up to four transition counts and two visit counts by one.
    The paper has the two tensors swapped (4 and 8); both agree where r_maxᴵ = r_maxᴵᴵ. With
    sampled zeros (ρ > 0) the true ε is larger. For Θ drawn from the exact posterior; nothing
    that plausible deniability provides.
    """
    _check(alpha, kappa)
    return alpha * (8 * transitions.max_count + 4 * visits.max_count + 12 * kappa - 6)


def largest_alpha(
    epsilon: float,
    *,
    neighbours: Neighbours = "trace",
    transitions: Trimming = DEFAULT,
    visits: Trimming = DEFAULT,
    kappa: float = 0.0,
) -> float:
    """Return the largest α whose ε is at most `epsilon` (ε is proportional to α).

    `neighbours` says in what data sets may differ: a whole "trace" (Proposition 1) or one
    "location".
    """
    require(epsilon > 0, "epsilon must be positive")
    require(neighbours in ("trace", "location"), "neighbours must be 'trace' or 'location'")
    cost = trace_epsilon if neighbours == "trace" else location_epsilon
    per_alpha = cost(1.0, transitions=transitions, visits=visits, kappa=kappa)
    require(per_alpha > 0, "with λ = 0 in both tensors ε is 0 for every alpha")
    return epsilon / per_alpha


def _check(alpha: float, kappa: float) -> None:
    require(alpha > 0, "alpha must be positive")
    require(kappa >= 0, "kappa must be at least 0")
