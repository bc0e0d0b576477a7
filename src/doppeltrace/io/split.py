"""Splitting users into training and testing users."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from doppeltrace.errors import InputError, require
from doppeltrace.io._frames import load, shortened
from doppeltrace.io.columns import as_labels, find_columns, require_role
from doppeltrace.streams import fresh_seed, generator
from doppeltrace.traces import Traces

PARTS = ("train", "test")


def split_users(traces: Traces, split: Any, *, seed: int | None = None) -> tuple[Traces, Traces]:
    """Return the traces of the training and of the testing users.

    Parameters
    ----------
    split : the fraction of users, drawn at random, that are testing users; or a table (path
        or frame) with a user column and a column `part` that says train or test. Users whom
        the table does not name are in neither.
    seed : of the draw, by default fresh. Who knows it, and the users, knows who was held out.
    """
    if isinstance(split, int | float):
        test = _draw(traces.n_users, float(split), fresh_seed() if seed is None else seed)
        return traces.select(np.flatnonzero(~test)), traces.select(np.flatnonzero(test))
    parts = _parts(traces, split)
    chosen = [np.flatnonzero(parts == part) for part in PARTS]
    for part, index in zip(PARTS, chosen, strict=True):
        if len(index) == 0:
            raise InputError(f"split: no user of the traces is in the part {part!r}")
    return traces.select(chosen[0]), traces.select(chosen[1])


def _draw(n_users: int, fraction: float, seed: int) -> NDArray[np.bool_]:
    require(0 < fraction < 1, f"split {fraction} must be a fraction between 0 and 1")
    n_test = round(fraction * n_users)
    require(
        0 < n_test < n_users,
        f"split {fraction} of {n_users} users leaves one of the two parts empty",
    )
    test = np.zeros(n_users, dtype=bool)
    test[generator(seed, "split users").choice(n_users, size=n_test, replace=False)] = True
    return test


def _parts(traces: Traces, table: Any) -> NDArray[np.str_]:
    """Return (n_users,) each user's part, empty for users whom the table does not name."""
    rows = load(table)
    found = find_columns(rows, ("user", "part"))
    user = rows.frame[require_role(rows, found, "user", "rename it in the table of parts")]
    part = rows.frame[require_role(rows, found, "part", "rename it in the table of parts")]
    user = as_labels(user, rows.name).cast(pl.String)
    part = as_labels(part, rows.name).cast(pl.String)
    both = pl.DataFrame([user.alias("user"), part.alias("part")]).unique()
    twice = both.filter(pl.col("user").is_duplicated())["user"]
    if len(twice):
        raise InputError(
            f"{rows.name}: the user {shortened(str(twice.min()))} is in several parts: name one"
        )
    known = dict(both.iter_rows())
    strange = sorted({str(name) for name in known.values()} - set(PARTS))
    if strange:
        raise InputError(f"{rows.name}: part {strange[0]!r} is neither 'train' nor 'test'")
    return np.array([known.get(str(label), "") for label in traces.users.tolist()])
