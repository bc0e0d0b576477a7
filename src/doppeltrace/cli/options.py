"""Options that commands share, and how their texts are read."""

from __future__ import annotations

import ast
import inspect
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from doppeltrace.errors import SettingsError
from doppeltrace.io.readers import FORMATS
from doppeltrace.synthesizers import MODELS, Synthesizer

READING = "Reading the input"
MODEL = "Model"
TEST = "Deniability test"
OUTPUT = "Output"


class OutputFormat(StrEnum):
    """How released traces are written."""

    csv = "csv"
    parquet = "parquet"


Input = Annotated[
    Path,
    typer.Argument(metavar="INPUT", help="File or folder with the traces.", show_default=False),
]
Model = Annotated[
    str,
    typer.Option(
        help=f"One of {', '.join(MODELS)}. Doppel is our own, ppmtf the paper's.",
        rich_help_panel=MODEL,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        help="Input format, by default recognised: "
        f"{', '.join(f.name for f in FORMATS[:-1])}, or table (CSV, TSV or Parquet).",
        rich_help_panel=READING,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ROLE=NAME",
        help="Column of a role (user, time, lat, lng, location, offset), if it has none of "
        "the usual names. Repeat for more.",
        rich_help_panel=READING,
    ),
]
Places = Annotated[
    Path | None,
    typer.Option(help="Table of places: location, lat, lng.", rich_help_panel=READING),
]
Grid = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Divide the bounds into a grid of 20x20 (rows x columns) or into cells of 500m, "
        "instead of using places.",
        rich_help_panel=READING,
    ),
]
Hexagons = Annotated[
    int | None,
    typer.Option(
        "--h3",
        help="Use H3 cells of this resolution (0 to 15) instead of places.",
        rich_help_panel=READING,
    ),
]
PerInstant = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Keep one event per user and instant: majority (where most points are) or stay "
        "(where most time was spent).",
        rich_help_panel=READING,
    ),
]
City = Annotated[
    str | None,
    typer.Option(
        help="foursquare: one of the paper's six cities, such as Istanbul; people-flow: the "
        "suffix of the files.",
        rich_help_panel=READING,
    ),
]
BoundsText = Annotated[
    str | None,
    typer.Option(
        "--bounds",
        metavar="S,W,N,E",
        help="Box in degrees; events outside are dropped and counted.",
        rich_help_panel=READING,
    ),
]
TopPlaces = Annotated[
    int | None,
    typer.Option(
        help="Keep only this many places, those with the most users.", rich_help_panel=READING
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(help="Local time zone, such as Asia/Tokyo.", rich_help_panel=READING),
]
TimeFormat = Annotated[
    str | None,
    typer.Option(help="strptime format of unusual times.", rich_help_panel=READING),
]
InstantMinutes = Annotated[
    int | None,
    typer.Option(help="Length of a time instant (60).", rich_help_panel=READING),
]
InstantsPerSlot = Annotated[
    int | None,
    typer.Option(help="Instants in a time slot (1).", rich_help_panel=READING),
]
FirstHour = Annotated[
    float | None,
    typer.Option(help="First hour of the day that counts (0).", rich_help_panel=READING),
]
LastHour = Annotated[
    float | None,
    typer.Option(help="Hour of the day at which counting ends (24).", rich_help_panel=READING),
]
Daily = Annotated[
    bool | None,
    typer.Option(
        "--daily/--no-daily",
        help="Whether time slots repeat every day (yes) or each day has its own.",
        rich_help_panel=READING,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Keep users out of the training, to score against: a share of them, such as 0.2, or "
        "a table with the columns user and part (train or test).",
        rich_help_panel=READING,
    ),
]
DropInvalid = Annotated[
    bool,
    typer.Option(
        "--drop-invalid",
        help="Leave rows with impossible values out, and count them, instead of stopping.",
        rich_help_panel=READING,
    ),
]


def reader_options(
    *,
    columns: list[str] | None,
    places: Path | None,
    grid: str | None,
    bounds: str | None,
    split: str | None,
    drop_invalid: bool,
    **plain: Any,
) -> dict[str, Any]:
    """Return the options that were given, as `doppeltrace.io.readers.read` takes them."""
    options = {
        "columns": _pairs(columns) if columns else None,
        "places": places,
        "grid": None if grid is None else _grid(grid),
        "bounds": None if bounds is None else _numbers(bounds.split(","), 4, float, "bounds"),
        "split": None if split is None else _split(split),
        "drop_invalid": drop_invalid or None,
        **plain,
    }
    return {name: value for name, value in options.items() if value is not None}


_WORDS = {"true": "True", "false": "False", "none": "None"}
"""How Python spells what people may write in any case."""


def build_model(name: str, given: dict[str, Any], extra: list[str] | None) -> Synthesizer:
    """Return the named model with these settings; its constructor checks their ranges.

    Parameters
    ----------
    given : settings that have options of their own; None counts as not given.
    extra : `NAME=VALUE` texts for all others.
    """
    name = name.lower()
    if name not in MODELS:
        raise SettingsError(f"--model {name} is not known: choose from {', '.join(MODELS)}")
    model = MODELS[name]
    settings = {key: value for key, value in given.items() if value is not None}
    for key, text in _pairs(extra or [], "--set").items():
        try:
            settings[key] = ast.literal_eval(_WORDS.get(text.lower(), text))
        except (ValueError, SyntaxError):
            settings[key] = text
    known = inspect.signature(model).parameters
    strange = [key for key in settings if key not in known]
    if strange:
        others = [m for m in MODELS if strange[0] in inspect.signature(MODELS[m]).parameters]
        hint = f"; --model {' or '.join(others)} has it" if others else ""
        raise SettingsError(
            f"setting {strange[0]} does not apply to the model {name}, which takes "
            f"{', '.join(known)}{hint}"
        )
    try:
        return model(**settings)
    except TypeError as error:
        raise SettingsError(f"--model {name}: {error}") from error


def named_settings(extra: list[str] | None) -> tuple[str, ...]:
    """Return the names in `NAME=VALUE` texts."""
    return tuple(_pairs(extra or [], "--set"))


def _pairs(texts: list[str], option: str = "--columns") -> dict[str, str]:
    pairs = {}
    for text in _one_by_one(texts):
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise SettingsError(f"{option} {text!r} must have the form NAME=VALUE")
        pairs[name.strip().replace("-", "_")] = value.strip()
    return pairs


def _one_by_one(texts: list[str]) -> list[str]:
    """Return `a=b` and `c=d` from `a=b,c=d`, but `a=b,c`, whose value has a comma, as it is."""
    parts = []
    for text in texts:
        several = text.split(",")
        parts += several if all("=" in part for part in several) else [text]
    return parts


def _grid(text: str) -> Any:
    """Return (rows, columns) from `20x20`, or metres from `500m` or `1.5km`."""
    for unit, metres in (("km", 1000.0), ("m", 1.0)):
        number = text.lower().removesuffix(unit)
        if number != text.lower():
            return metres * _numbers([number], 1, float, "grid", text)[0]
    return _numbers(text.lower().split("x"), 2, int, "grid", text)


def _split(text: str) -> float | Path:
    """Return a share of the users, or the path of a table that names them."""
    try:
        return float(text)
    except ValueError:
        path = Path(text)
    if not path.exists():
        raise SettingsError(f"--split {text} is neither a number such as 0.2 nor a file")
    return path


def _numbers(
    texts: list[str], count: int, kind: type, option: str, said: str | None = None
) -> tuple[Any, ...]:
    """Return so many numbers, or raise an error that quotes what was `said`."""
    try:
        numbers = tuple(kind(text) for text in texts)
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        example = {"grid": "20x20 or 500m", "bounds": "35.65,139.68,35.75,139.80"}[option]
        said = ",".join(texts) if said is None else said
        raise SettingsError(f"--{option} {said!r} must look like {example}")
    return numbers
