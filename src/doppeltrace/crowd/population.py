"""How many people are where, when: from coarse to fine in space and time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from doppeltrace.crowd.public import PublicInputs, bands
from doppeltrace.crowd.shrink import correction
from doppeltrace.crowd.statistics import Noisy

Floats = NDArray[np.float64]

TIMES = (1, 6, 12)
"""Bands of the cycle in which a map is looked at before its slots."""
_SAME_PLACE = 0.5  # chance that a user seen in a cell is seen there in the band's next slot, too


def population(tables: Mapping[str, Noisy], public: PublicInputs, repeats: float) -> Floats:
    """Return (L, X) expected visits, positive everywhere.

    repeats : variance over mean of one user's visits to a cell; see `clipping.FirstLook`.
    """
    n_slots, n_places = public.n_slots, public.n_places
    maps = [(v, lab) for v, lab in zip(_visits(tables), _labels(public), strict=True)]
    total = max(maps[0][0].value.sum(), 1.0)
    model = np.full((n_slots, n_places), total / (n_slots * n_places))
    for visits, label in maps:
        for times in sorted({min(t, n_slots) for t in (*TIMES, n_slots)}):
            band = bands(n_slots, times)
            width = n_slots / times
            fac = correction(
                _add_rows(visits.value, band),
                _add_rows(_add_columns(model, label), band),
                visits.sigma * np.sqrt(width),
                repeats * (1 + _SAME_PLACE * (width - 1)),
            )
            model *= fac[band][:, label]
    return np.maximum(model, 1e-9 * model.mean())


def _visits(tables: Mapping[str, Noisy]) -> list[Noisy]:
    return [table for name, table in tables.items() if name.startswith("visits")]


def _labels(public: PublicInputs) -> list[NDArray[np.int64]]:
    return [*public.levels, np.arange(public.n_places)]


def _add_rows(table: Floats, band: NDArray[np.int64]) -> Floats:
    return np.add.reduceat(table, np.flatnonzero(np.diff(band, prepend=-1)), axis=0)


def _add_columns(table: Floats, label: NDArray[np.int64]) -> Floats:
    """Return (L, G) sums over the places of each group."""
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return np.add.reduceat(table[:, order], starts, axis=1)
