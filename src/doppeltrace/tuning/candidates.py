"""Which settings are tried: a grid for each model, in random order after the defaults."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from doppeltrace.errors import SettingsError
from doppeltrace.streams import generator
from doppeltrace.synthesizers import Synthesizer

Grid = Mapping[str, tuple[Any, ...]]

GRIDS: Mapping[str, Grid] = MappingProxyType(
    {
        "doppel": {
            "population": (True, False),
            "factors": (4, 8, 16),
            "types": (4, 16),  # of the crowd's chain
            "jump": (0.01, 0.03, 0.1),  # of the factors' chain
        },
        "crowd": {"types": (1, 4, 16), "candidates": (1, 4, 16)},
        "ppmtf": {"alpha": (2.0, 20.0, 200.0), "factors": (8, 16, 32)},
        "itf": {"alpha": (2.0, 20.0, 200.0), "factors": (8, 16, 32)},
        "sgd": {"copied": (0, 1, 2, 4, 8)},
        "sglt": {"clusters": (50, 100, 200), "removal": (0.25, 0.5, 1.0)},
    }
)
"""Name of a model → setting → values worth trying, whatever the data."""


def candidates(
    model: Synthesizer, grid: Grid | None, fixed: tuple[str, ...], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield settings to change: none first, then the points of the grid in random order.

    Parameters
    ----------
    grid : setting → values, or None for the model's own.
    fixed : settings that stay as they are in `model`.
    """
    if grid is None:
        if model.name not in GRIDS:
            raise SettingsError(
                f"model={model.name} has nothing to tune: choose from {', '.join(GRIDS)}, or give "
                "a grid",
                "model",
            )
        grid = {name: values for name, values in GRIDS[model.name].items() if name not in fixed}
    strange = [name for name in grid if name not in model.settings]
    if strange:
        known = ", ".join(model.settings)
        raise SettingsError(f"grid: {model.name} has no setting {strange[0]}: it has {known}")
    yield {}
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    for number in generator(seed, "tuning").permutation(len(points)):
        point = points[number]
        changed = {name: value for name, value in point.items() if model.settings[name] != value}
        if changed:
            yield point
