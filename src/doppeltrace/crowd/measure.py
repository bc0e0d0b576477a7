"""From traces to noisy statistics: the only place where the model meets anybody's data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd import statistics
from doppeltrace.crowd.clipping import FirstLook, release_first_look
from doppeltrace.crowd.ledger import Entry, Ledger
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.statistics import Noisy, Style, Table
from doppeltrace.traces import Traces


@dataclass(frozen=True, eq=False)
class NoisyStatistics:
    """Everything that is known of the data from here on.

    Attributes
    ----------
    first : the answers of the first look.
    tables : the tables with their noise, by name.
    entries : the books of the ledger: each statistic with its bound, share and σ.
    """

    first: FirstLook
    tables: Mapping[str, Noisy]
    entries: tuple[Entry, ...]


def measure(
    traces: Traces,
    public: PublicInputs,
    ledger: Ledger,
    *,
    style: Style | None = None,
    min_users: int = 1,
) -> NoisyStatistics:
    """Count all users in two passes and add noise.

    style : what kind of data these are, if that is public; else a noisy number decides.
    min_users : without noise, cells of fewer users are pooled; with noise it does nothing.
    """
    first = release_first_look(ledger, statistics.first_look(traces, public), public, style)
    found = statistics.layout(public, first.style, first.clips)
    exact = math.isinf(ledger.rho) and min_users > 1
    sums, heads = statistics.tables(traces, public, first.style, first.clips, heads=exact)
    if exact:
        sums = pool_rare(sums, heads, found, min_users, public.levels[-1])
    tables = statistics.release_tables(ledger, sums, first.style, found, first.clips)
    if exact:
        for name, users in statistics.split(heads, found).items():
            tables[name] = replace(tables[name], rare=users < min_users)
    return NoisyStatistics(first, tables, tuple(ledger.entries))


def pool_rare(
    sums: NDArray[np.int64],
    heads: NDArray[np.int64],
    found: list[Table],
    min_users: int,
    group: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the sums with cells of fewer than `min_users` users levelled.

    The rare cells of a table (of each row, if it has two axes) share their sum evenly, so totals
    hold and no cell tells of a few users; if all of them together have too few, they become 0.
    Visits of places are levelled within their group (X,) first, where it has enough users.
    """
    values, users = statistics.split(sums, found), statistics.split(heads, found)
    out = []
    for table in found:
        rows = (table.shape[0], -1) if len(table.shape) == 2 else (1, -1)
        value, count = values[table.name].reshape(rows).copy(), users[table.name].reshape(rows)
        for row, number in zip(value, count, strict=True):
            rare = number < min_users
            if table.name == "visits of places":
                rare &= ~_level_groups(row, number, rare, group, min_users)
            if rare.any():
                enough = number[rare].sum() >= min_users
                row[rare] = row[rare].sum() // rare.sum() if enough else 0
        out.append(value.ravel())
    return np.concatenate(out)


def _level_groups(
    row: NDArray[np.int64],
    number: NDArray[np.int64],
    rare: NDArray[np.bool_],
    group: NDArray[np.int64],
    min_users: int,
) -> NDArray[np.bool_]:
    """Level the rare cells of groups that have enough users in them; return which are done."""
    size = int(group.max()) + 1
    weight = rare.astype(np.int64)
    users, total, cells = (np.zeros(size, dtype=np.int64) for _ in range(3))
    for sum_, what in ((users, number), (total, row), (cells, np.ones_like(row))):
        np.add.at(sum_, group, what * weight)
    done: NDArray[np.bool_] = rare & (users >= min_users)[group]
    row[done] = (total // np.maximum(cells, 1))[group[done]]
    return done
