"""What a run did, told without its secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RunSummary:
    """What a run did, in the words and figures of the pages. The seed has no place here.

    Attributes
    ----------
    title : what the run was made from.
    settings, input, effort : name → value, shown as written.
    made, released : traces sampled, and traces in the release.
    k, eta : parameters of the deniability test, or None if it was not made.
    counted_all : whether plausible users were counted beyond k.
    randomized : whether the test was the randomized one.
    verifiers : how many users, drawn at random, could vouch for a trace; None means all.
    """

    title: str
    settings: Mapping[str, str]
    input: Mapping[str, str]
    effort: Mapping[str, str]
    made: int
    released: int
    k: int | None
    eta: float | None
    counted_all: bool = False
    randomized: bool = False
    verifiers: int | None = None
