"""What is done to the input before anything is learned, and looked for before anything leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from doppeltrace.audit.level0 import MIN_USERS, Level0, level0
from doppeltrace.errors import ReleaseBlockedError
from doppeltrace.pipeline.privacy import is_private
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.progress import Monitor
from doppeltrace.safeguards.protect import protect
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import SyntheticTraces, Traces


@dataclass(frozen=True, eq=False)
class ProtectedInput:
    """What a run learns from, and what it is held against; all over the same places.

    Attributes
    ----------
    fitted : what the model may see.
    train, test : all events of the training users, and of the testing users if there are any.
    record : what was done, in figures.
    words, public_words : the same in sentences: for internal files, and for anybody.
    """

    fitted: Traces
    train: Traces
    test: Traces | None
    record: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    public_words: tuple[str, ...] = ()


def protect_input(
    train: Traces,
    test: Traces | None,
    model: Synthesizer,
    settings: RunSettings,
    monitor: Monitor,
) -> ProtectedInput:
    """Bound what a user contributes, merge places of few people, and say what that changed.

    Not for a model with differential privacy: its noise covers every user, and merging by exact
    counts would be a choice made by looking at the data, which its promise does not cover.
    """
    if is_private(model):
        return ProtectedInput(train, train, test)
    done = protect(
        train,
        test,
        min_users=settings.min_users,
        max_events=settings.max_events,
        seed=settings.seed,
    )
    for words in done.words:
        monitor.say(f"  {words}")
    if settings.min_users == 1:
        monitor.warn(
            "places of few people are not merged: whoever is alone at a place can be recognised "
            "by it, whatever the deniability test says"
        )
    return ProtectedInput(
        done.fitted, done.train, done.test, done.to_dict(), done.words, done.public_words
    )


def check_release(
    train: Traces,
    released: SyntheticTraces,
    model: Synthesizer,
    settings: RunSettings,
    monitor: Monitor,
) -> Level0:
    """Return what a release shows of few people.

    Raises
    ------
    ReleaseBlockedError : it shows a place with some, but fewer than `min_users`, training users,
        and that is not allowed. With differential privacy such a place says nothing about
        anybody, so it may leave.
    """
    found = level0(train, released, settings.min_users if settings.min_users > 1 else MIN_USERS)
    if not found.blocks or is_private(model):
        return found
    words = (
        f"{found.rare_places - found.places_of_nobody:,} places in the traces had fewer than "
        f"{found.min_users} training users ({found.places_of_one:,} of them a single one), in "
        f"{found.traces_with_rare_share:.1%} of the traces"
    )
    if not settings.allow_rare_places:
        raise ReleaseBlockedError(
            f"nothing was released: {words}; merge such places (min_users={MIN_USERS}), or "
            "release them all the same with allow_rare_places=True",
            "min_users",
            "allow_rare_places",
        )
    monitor.warn(f"{words}: whoever is alone at a place can be recognised by it")
    return found
