"""The one front door of all readers: a format is one file and one line of `FORMATS`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from doppeltrace.errors import InputError, SettingsError
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.finish import Finishing
from doppeltrace.io.foursquare import is_foursquare, read_foursquare
from doppeltrace.io.geolife import is_geolife, read_geolife
from doppeltrace.io.gowalla import is_gowalla, read_gowalla
from doppeltrace.io.nyc_checkins import is_nyc_checkins, read_nyc_checkins
from doppeltrace.io.people_flow import is_people_flow, read_people_flow
from doppeltrace.io.sniff import check_readable
from doppeltrace.io.table import read_table
from doppeltrace.io.tsmc2014 import is_tsmc2014, read_tsmc2014
from doppeltrace.io.yjmob import is_yjmob, read_yjmob


@dataclass(frozen=True)
class Format:
    """An input format.

    Attributes
    ----------
    name : on the command line.
    recognises : tells whether an existing path looks like this format.
    read : path and keyword options → `Dataset`.
    """

    name: str
    recognises: Callable[[Path], bool]
    read: Callable[..., Dataset]

    @property
    def options(self) -> tuple[str, ...]:
        """Return the names of the options that `read` takes."""
        own = list(inspect.signature(self.read).parameters.values())[1:]
        shared = [field.name for field in fields(Finishing)]
        names = [[p.name] if p.kind is not p.VAR_KEYWORD else shared for p in own]
        return tuple(name for several in names for name in several)


FORMATS = (
    Format("people-flow", is_people_flow, read_people_flow),
    Format("nyc-checkins", is_nyc_checkins, read_nyc_checkins),
    Format("foursquare", is_foursquare, read_foursquare),
    Format("tsmc2014", is_tsmc2014, read_tsmc2014),
    Format("gowalla", is_gowalla, read_gowalla),
    Format("geolife", is_geolife, read_geolife),
    Format("yjmob", is_yjmob, read_yjmob),
    Format("table", Path.is_file, read_table),
)
"""In the order in which a path is tried; the most general last."""

PYTHON_ONLY = ("clock", "naive_is_utc", "rank_by", "split_seed")
"""Options of readers that the command line does not have."""


def read(path: str | Path, format: str = "auto", **options: Any) -> Dataset:
    """Read traces in any known format.

    Parameters
    ----------
    path : file or folder.
    format : `auto` to recognise it, or a name in `FORMATS`.
    options : of that format's reader (`read_people_flow`, `read_table`, …); None counts as not
        given.
    """
    path = Path(path)
    check_readable(path)
    chosen = _recognise(path) if format == "auto" else _by_name(format)
    given = {name: value for name, value in options.items() if value is not None}
    strange = [name for name in given if name not in chosen.options]
    if strange:
        raise _misfit(strange[0], chosen, path)
    return chosen.read(path, **given)


def _misfit(option: str, chosen: Format, path: Path) -> SettingsError:
    """Return why an option does not fit the format, what does, and how to have it all the same."""
    known = [name for name in chosen.options if name not in PYTHON_ONLY]
    takes = f"which takes {', '.join(known)}" if known else "which takes no options"
    remedy = "leave it out"
    general = FORMATS[-1]
    if option in general.options and chosen is not general and path.is_file():
        remedy += f", or read the file as any other {general.name} (format={general.name!r})"
    return SettingsError(
        f"{option} does not apply to the format {chosen.name}, {takes}: {remedy}",
        *(name for name in (option, *known) if name not in PYTHON_ONLY),
    )


def _recognise(path: Path) -> Format:
    for candidate in FORMATS:
        if candidate.recognises(path):
            return candidate
    raise InputError(
        f"{path}: no known format: give a CSV, TSV or Parquet file, or a folder of one of "
        "the formats people-flow, foursquare or geolife"
    )


def _by_name(name: str) -> Format:
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    known = ", ".join(["auto", *(f.name for f in FORMATS)])
    raise SettingsError(f"format {name!r} is not known: choose from {known}")
