"""What a model knows of its input besides what it learned: places, clock, number of users."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.traces import Bounds, Clock, Places, Traces


@dataclass(frozen=True, eq=False)
class Fitted:
    """What sampling needs of the input, without any of its events.

    Attributes
    ----------
    n_users : users that traces may be drawn from, numbered from 0.
    """

    places: Places
    clock: Clock
    n_users: int

    @classmethod
    def to(cls, traces: Traces) -> Fitted:
        """Return what a model that was fitted to these traces knows."""
        return cls(traces.places, traces.clock, traces.n_users)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file."""
        places = self.places
        found: dict[str, NDArray[Any]] = {
            "places.labels": _as_bytes(places.labels),
            "places.lat": places.lat,
            "places.lng": places.lng,
            "clock.slot_of": self.clock.slot_of,
        }
        if places.category is not None:
            found["places.category"] = _as_bytes(places.category)
        return found

    def about(self) -> dict[str, Any]:
        """Return the rest, as JSON can hold it."""
        return {
            "n_users": self.n_users,
            "bounds": list(astuple(self.places.bounds)),
            "instant_seconds": self.clock.instant_seconds,
            "start": self.clock.start.isoformat(),
            "cycle": self.clock.cycle,
        }

    @classmethod
    def of_file(cls, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Fitted:
        """Return what `arrays` and `about` gave."""
        category = arrays.get("places.category")
        places = Places(
            _of_bytes(arrays["places.labels"]),
            arrays["places.lat"],
            arrays["places.lng"],
            Bounds(*about["bounds"]),
            None if category is None else _of_bytes(category),
        )
        clock = Clock(
            arrays["clock.slot_of"],
            about["instant_seconds"],
            dt.datetime.fromisoformat(about["start"]),
            about["cycle"],
        )
        return cls(places, clock, about["n_users"])


def _as_bytes(labels: NDArray[Any]) -> NDArray[np.uint8]:
    """Return texts or whole numbers as the bytes of a JSON list."""
    plain = labels if labels.dtype.kind in "iuU" else labels.astype(str)
    content = {"dtype": plain.dtype.str, "labels": plain.tolist()}
    return np.frombuffer(json.dumps(content).encode("ascii"), np.uint8)


def _of_bytes(content: NDArray[np.uint8]) -> NDArray[Any]:
    found = json.loads(content.tobytes())
    return np.array(found["labels"], dtype=np.dtype(found["dtype"]))
