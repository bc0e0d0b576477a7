"""The reading options, which every command with an input takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doppeltrace.cli import options
from doppeltrace.cli.options import reader_options
from doppeltrace.errors import InputError
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.readers import read


@dataclass(frozen=True)
class Reading:
    """How to read an input.

    Attributes
    ----------
    format : its name, or `auto`.
    options : those of the reader that were given.
    """

    format: str
    options: dict[str, Any]

    @property
    def words(self) -> dict[str, str]:
        """The options as text, for the manifest."""
        return {name: str(value) for name, value in self.options.items()}

    def read(self, path: Path, seed: int | None = None) -> Dataset:
        """Read an input; the seed decides who is held out where --split gives a share."""
        given = dict(self.options)
        if isinstance(given.get("split"), float):
            given["split_seed"] = seed
        return read(path, self.format, **given)

    def read_split(self, path: Path, seed: int | None = None) -> Dataset:
        """Read an input that must have testing traces."""
        data = self.read(path, seed)
        if data.test is None:
            raise InputError(
                f"{path}: there are no testing traces to score against: keep some users out of "
                "the training with --split"
            )
        return data


def takes_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of `_reading`; what they say becomes its argument `reading`."""
    own, shared = (inspect.signature(f, eval_str=True).parameters for f in (command, _reading))

    @functools.wraps(command)
    def outer(**arguments: Any) -> None:
        said = {name: arguments.pop(name) for name in shared}
        command(**arguments, reading=_reading(**said))

    parameters = [p for p in (*own.values(), *shared.values()) if p.name != "reading"]
    outer.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    )
    outer.__annotations__ = {p.name: p.annotation for p in parameters}
    return outer


def _reading(
    format: options.Format = "auto",
    columns: options.Columns = None,
    places: options.Places = None,
    grid: options.Grid = None,
    h3: options.Hexagons = None,
    city: options.City = None,
    per_instant: options.PerInstant = None,
    bounds: options.BoundsText = None,
    top_places: options.TopPlaces = None,
    timezone: options.Timezone = None,
    time_format: options.TimeFormat = None,
    instant_minutes: options.InstantMinutes = None,
    instants_per_slot: options.InstantsPerSlot = None,
    first_hour: options.FirstHour = None,
    last_hour: options.LastHour = None,
    daily: options.Daily = None,
    split: options.Split = None,
    drop_invalid: options.DropInvalid = False,
) -> Reading:
    given = dict(locals())
    return Reading(given.pop("format"), reader_options(**given))
