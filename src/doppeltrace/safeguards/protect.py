"""All safeguards in their order: users are bounded first, then rare places are merged.

In that order a place that is kept has enough users among the events that the model sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.safeguards.rare_places import MIN_USERS, SuppressionRecord, suppress
from doppeltrace.safeguards.user_caps import MAX_EVENTS_PER_INSTANT, CapRecord, cap_users
from doppeltrace.traces import Traces


@dataclass(frozen=True, eq=False)
class Protected:
    """The input of a run after the safeguards. All traces are over the same, merged places.

    Attributes
    ----------
    fitted : what a model may see: bounded users.
    train : the same users with all their events, for attacks and scores.
    test : the testing users with all their events, or None.
    place_of : (n_places of the input,) int64, the new number of each place.
    merged : (n_places of the input,) bool, whether the place was merged into another.
    caps, places : the records.
    """

    fitted: Traces
    train: Traces
    test: Traces | None
    place_of: NDArray[np.int64]
    merged: NDArray[np.bool_]
    caps: CapRecord
    places: SuppressionRecord

    def to_dict(self) -> dict[str, Any]:
        """Return both records for JSON."""
        return {"rare_places": self.places.to_dict(), "user_caps": self.caps.to_dict()}

    @property
    def words(self) -> tuple[str, ...]:
        """Return a sentence per safeguard, with exact counts, for internal files."""
        return self.places.words, self.caps.words

    @property
    def public_words(self) -> tuple[str, ...]:
        """Return a sentence per safeguard for anybody."""
        return self.places.public_words, self.caps.public_words


def protect(
    train: Traces,
    test: Traces | None = None,
    *,
    min_users: int = MIN_USERS,
    max_events_per_instant: int = MAX_EVENTS_PER_INSTANT,
    max_events: int | None = None,
    seed: int,
) -> Protected:
    """Bound every user (`cap_users`), then merge the places of few users (`suppress`).

    Parameters
    ----------
    train, test : traces over the same places.
    min_users : training users that a place needs; 1 turns the merging off.
    max_events_per_instant, max_events : caps of every training user; see `cap_users`.
    seed : of the choice of events beyond a cap.
    """
    capped = cap_users(
        train,
        max_events_per_instant=max_events_per_instant,
        max_events=max_events,
        seed=seed,
    )
    done = suppress(capped.traces, test, min_users=min_users)
    whole = done.train if capped.traces is train else done.move(train)
    return Protected(
        fitted=done.train,
        train=whole,
        test=done.test,
        place_of=done.place_of,
        merged=done.merged,
        caps=capped.record,
        places=done.record,
    )
