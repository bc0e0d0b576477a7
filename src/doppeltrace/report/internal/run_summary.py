"""What a run did, told without its secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from doppeltrace.guarantee import Guarantee


@dataclass(frozen=True)
class RunSummary:
    """What a run did, in the words and figures of the pages. The seed has no place here.

    Attributes
    ----------
    title : what the run was made from.
    model : the model's description, such as "Doppel: Poisson tensor factorization, …".
    settings, input, effort : words → value, shown as written.
    made, released : traces sampled, and traces in the release.
    guarantee : what the release promises.
    counted_all : whether plausible users were counted beyond k.
    min_users : training users that a place needs; 1 if that was switched off, None if unknown.
    safeguards : what was done to the input before training, a sentence each.
    """

    title: str
    model: str
    settings: Mapping[str, str]
    input: Mapping[str, str]
    effort: Mapping[str, str]
    made: int
    released: int
    guarantee: Guarantee
    counted_all: bool = False
    min_users: int | None = None
    safeguards: tuple[str, ...] = ()
