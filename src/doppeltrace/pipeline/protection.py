"""What is done to the input before anything is learned, and looked for before anything leaves."""

from __future__ import annotations

from doppeltrace.audit.level0 import MIN_USERS, Level0, level0
from doppeltrace.errors import ReleaseBlockedError
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.progress import Monitor
from doppeltrace.safeguards.protect import Protected, protect
from doppeltrace.traces import SyntheticTraces, Traces


def protect_input(
    train: Traces, test: Traces | None, settings: RunSettings, monitor: Monitor
) -> Protected:
    """Bound what a user contributes, merge places of few people, and say what that changed."""
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
    return done


def check_release(
    train: Traces, released: SyntheticTraces, settings: RunSettings, monitor: Monitor
) -> Level0:
    """Return what a release shows of few people.

    Raises
    ------
    ReleaseBlockedError : it shows a place with some, but fewer than `min_users`, training users,
        and that is not allowed.
    """
    found = level0(train, released, settings.min_users if settings.min_users > 1 else MIN_USERS)
    if not found.blocks:
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
