"""Groups of users who are alike: they share one row, so no trace tells one from the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from doppeltrace.factorize.state import Factors

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]

TURNS = 30
"""Steps of the power iteration that finds the principal direction; a rough one will do."""


def alike(rows: Rows, size: int) -> Labels:
    """Return (n,) the group of each row: `size` to 2 `size` − 1 rows each, or all in one.

    Halves the rows along their principal direction, at the widest gap of the middle third, until
    a group is too small to be halved. Groups are numbered from 0 in the order of their first
    member.
    """
    label = np.zeros(len(rows), dtype=np.int64)
    waiting, n = [np.arange(len(rows))], 0
    while waiting:
        members = waiting.pop()
        if len(members) < 2 * size:
            label[members] = n
            n += 1
            continue
        along = _principal(rows[members])
        order = np.argsort(along, kind="stable")
        low = max(size, len(members) // 3)
        high = min(len(members) - size, len(members) - len(members) // 3)
        gaps = np.diff(along[order])[low - 1 : high]
        cut = low + int(np.argmax(gaps))
        waiting += [members[order[:cut]], members[order[cut:]]]
    first, number = np.unique(label, return_index=True)[1], np.empty(n, dtype=np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(n)
    return number[label]


def _principal(rows: Rows) -> Rows:
    """Return (n,) the rows along the direction in which they differ most.

    einsum, not @: products of matrices run in BLAS's own threads, whose number shows in the sum.
    """
    centred = rows - rows.mean(axis=0)
    spread = np.einsum("ni,nj->ij", centred, centred)
    direction = spread[int(np.argmax(np.diag(spread)))]
    for _ in range(TURNS):
        length = np.sqrt(np.einsum("i,i->", direction, direction))
        if length == 0:  # all rows are the same
            return np.zeros(len(rows))
        direction = np.einsum("ij,j->i", spread, direction / length)
    result: Rows = np.einsum("ni,i->n", centred, direction)
    return result


def group_means(rows: Rows, label: Labels) -> Rows:
    """Return (groups, columns) the mean of each group's rows."""
    count = np.bincount(label)
    return np.stack([np.bincount(label, column) / count for column in rows.T], axis=1)


def shares(theta: Factors) -> Rows:
    """Return (users, z) each user's visits by factor, sum 1; the usual ones without any visit."""
    visits = theta.A * _visits_per_unit(theta)
    total = visits.sum(axis=1, keepdims=True)
    usual = visits.sum(axis=0) / max(visits.sum(), 1e-300)
    return np.where(total > 0, visits / np.where(total > 0, total, 1.0), usual)


def share_rows(theta: Factors, label: Labels) -> Factors:
    """Return Θ in which users of one group have one row of A: the mean of their shares."""
    size = _visits_per_unit(theta)
    rows = group_means(shares(theta), label)[label]
    return replace(theta, A=np.divide(rows, size, out=np.zeros_like(rows), where=size > 0))


def everybody(theta: Factors) -> Rows:
    """Return (slots, places) where people are when; every user counts the same."""
    size = _visits_per_unit(theta)
    level = shares(theta).sum(axis=0) / np.where(size > 0, size, 1.0)
    result: Rows = np.einsum("lz,xz->lx", theta.D * level, theta.B)
    return result


def _visits_per_unit(theta: Factors) -> Rows:
    """Return (z,) the visits that one unit of A stands for."""
    found: Rows = theta.B.sum(axis=0) * theta.D.sum(axis=0)
    return found
