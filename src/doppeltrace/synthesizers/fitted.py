"""What a model knows of its input besides what it learned, and its way to a file and back."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from doppeltrace.engine.local import use_threads
from doppeltrace.errors import NotFittedError, require
from doppeltrace.synthesizers.configurable import Configurable
from doppeltrace.synthesizers.model_file import fingerprint, write_model
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


class FittedModel(Configurable):
    """A model that knows what it was fitted to, and can be written to a file.

    Attributes
    ----------
    seed : of its training. threads : how many it may use, or None for all cores.
    """

    seed: int
    threads: int | None

    name: ClassVar[str]
    """The name on the command line and in tables."""
    savable: ClassVar[bool] = False
    """Whether `save` can write it to a file."""
    keeps_traces: ClassVar[bool] = True
    """Whether the training traces stay at hand after `fit`, as `train`."""

    _fitted: Fitted | None = None
    _train: Traces | None = None
    _data: str | None = None  # fingerprint of the training traces of a model that was loaded

    @property
    def train(self) -> Traces:
        """The traces this model was fitted to."""
        self._known()
        if self._train is None:
            raise NotFittedError(
                f"this {type(self).__name__} does not have its training traces at hand: pass them "
                "to dt.load(path, train=…)"
                if self.keeps_traces
                else f"{type(self).__name__} keeps no traces of its input"
            )
        return self._train

    @property
    def places(self) -> Places:
        """The locations of its traces."""
        return self._known().places

    @property
    def clock(self) -> Clock:
        """The instants and slots of its traces."""
        return self._known().clock

    @property
    def n_users(self) -> int:
        """Number of input users from whom traces can be drawn."""
        return self._known().n_users

    def _known(self) -> Fitted:
        if self._fitted is None:
            raise NotFittedError(f"this {type(self).__name__} has no data yet: call fit first")
        return self._fitted

    def _fitted_to(self, traces: Traces) -> None:
        """Remember what it was fitted to."""
        self._fitted = Fitted.to(traces)
        self._train = traces if self.keeps_traces else None

    def _forget(self) -> None:
        """Be fitted to nothing."""
        self._fitted = self._train = self._data = None

    def save(self, path: str | Path) -> None:
        """Write the model to a file, from which `dt.load` gives it back.

        The file holds all that drawing and testing traces needs, and the seed. For most models
        that means a profile of every input user: it is as secret as the input, and must not
        leave your hands.
        """
        known = self._known()
        require(self.savable, f"a {type(self).__name__} cannot be saved")
        arrays, state = self._saved()
        about = {
            "model": self.name,
            "settings": self.settings,
            "seed": str(self.seed),
            "data": self._data if self._train is None else fingerprint(self._train),
            "fitted": known.about(),
            "state": state,
        }
        write_model(Path(path), {**known.arrays(), **arrays}, about)

    def _set_saved(
        self, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], train: Traces | None
    ) -> None:
        """Take over a model file."""
        self._fitted = Fitted.of_file(arrays, about["fitted"])
        self._train = train if self.keeps_traces else None
        self._data = about["data"]
        with use_threads(self.threads):
            self._restore(arrays, about["state"])

    def _saved(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return what `_fit` learned: arrays, and what JSON can hold."""
        return {}, {}

    def _restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Take over what `_saved` gave; `places`, `clock` and `n_users` are set already."""


def _as_bytes(labels: NDArray[Any]) -> NDArray[np.uint8]:
    """Return texts or whole numbers as the bytes of a JSON list."""
    plain = labels if labels.dtype.kind in "iuU" else labels.astype(str)
    content = {"dtype": plain.dtype.str, "labels": plain.tolist()}
    return np.frombuffer(json.dumps(content).encode("ascii"), np.uint8)


def _of_bytes(content: NDArray[np.uint8]) -> NDArray[Any]:
    found = json.loads(content.tobytes())
    return np.array(found["labels"], dtype=np.dtype(found["dtype"]))
