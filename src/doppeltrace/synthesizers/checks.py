"""Checks that synthesizers share."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from doppeltrace.errors import InputError, require
from doppeltrace.io.dataset import Dataset
from doppeltrace.traces import Places, SyntheticTraces, Traces


class Population(Protocol):
    """Whatever has places and a number of users: traces, or a fitted model."""

    @property
    def places(self) -> Places:
        """The locations 𝒳."""

    @property
    def n_users(self) -> int:
        """|𝒰|."""


def likelihood_arguments(
    known: Population, locations: ArrayLike, users: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return complete traces (n_traces, length) and user indexes, or say what is wrong."""
    traces = np.ascontiguousarray(locations, dtype=np.int32)
    n_places = len(known.places)
    require(
        traces.ndim == 2 and bool(np.all((traces >= 0) & (traces < n_places))),
        f"locations must have shape (traces, length) and be from 0 to {n_places - 1}",
    )
    return traces, user_indexes(known, users)


def user_indexes(known: Population, users: ArrayLike) -> NDArray[np.int64]:
    """Return (n,) indexes of users, or say what is wrong."""
    chosen = np.asarray(users)
    if chosen.size == 0:
        return np.empty(0, np.int64)
    require(
        chosen.ndim == 1
        and chosen.dtype.kind in "iu"
        and bool(np.all((chosen >= 0) & (chosen < known.n_users))),
        f"users must be indexes from 0 to {known.n_users - 1}",
    )
    return chosen.astype(np.int64)


def training_traces(data: object, name: str = "fit") -> Traces:
    """Return the traces to learn from, or say how to come by some.

    `name` is that of the function or argument, for the message.
    """
    if isinstance(data, Dataset):
        return data.train
    if isinstance(data, Traces):
        return data
    if isinstance(data, SyntheticTraces):
        raise InputError(
            f"{name} takes the traces of people, and these are synthetic: pass "
            "synthetic.as_traces(), if that is meant"
        )
    kind = type(data)
    whose = "" if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]} "
    given = "None" if data is None else f"a {whose}{kind.__name__}"
    raise InputError(
        f"{name} takes Traces or a Dataset, not {given}: read a file with dt.read(path) or "
        "dt.read_table(path), and a frame with dt.read_table(frame)"
    )
