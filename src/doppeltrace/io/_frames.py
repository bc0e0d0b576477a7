"""Sources of rows as Polars frames: files and frames in, text columns and row numbers out."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io.sniff import (
    as_utf8,
    check_readable,
    ends_lines_with_cr,
    first_lines,
    is_parquet,
    open_text,
)

ROW = "__row__"
"""Column with the number under which a user finds the row again (see `Validation`)."""

SURPLUS = "__surplus__"
"""Column with what stands in a row beyond its last field."""

COLUMNS_SHOWN = 20
TAB_SUFFIXES = (".tsv", ".tsv.gz", ".tab", ".tab.gz")
SEPARATORS = (",", "\t", ";")
TOO_MANY = "is beyond the columns of the header: quote fields that hold the separator"


@dataclass(frozen=True)
class Rows:
    """The rows of one source.

    Attributes
    ----------
    name : the path, or `frame`: how messages call the source.
    frame : its columns and `ROW`; text files have only String columns, blank lines are gone. If
        rows have more fields than the header, `SURPLUS` holds what is too much.
    """

    name: str
    frame: pl.DataFrame

    @property
    def columns(self) -> list[str]:
        """Return the names of the source's own columns."""
        return [c for c in self.frame.columns if c not in (ROW, SURPLUS)]

    def require_columns(self, names: list[str]) -> None:
        """Raise `InputError` unless the source has these columns."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise InputError(
                f"{self.name}: no column {', '.join(map(repr, missing))}; "
                f"the columns are {self.listed_columns}"
            )

    @property
    def listed_columns(self) -> str:
        """Return the columns' names for a message: one line, however odd the file."""
        more = [f"… ({len(self.columns):,} in all)"] if len(self.columns) > COLUMNS_SHOWN else []
        return ", ".join([shortened(name) for name in self.columns[:COLUMNS_SHOWN]] + more)

    def fail_where(
        self, fault: pl.Expr, column: str, message: str, called: str | None = None
    ) -> None:
        """Raise `InputError` naming the first row where `fault` holds and its value."""
        faulty = self.frame.filter(fault)
        if len(faulty):
            raise InputError(describe(self.name, faulty, column, message, called))

    def integers(self, column: str) -> pl.Series:
        """Return the column as Int64; `InputError` names the first row that has no integer."""
        number = pl.col(column).cast(pl.Int64, strict=False)
        self.fail_where(number.is_null(), column, "is not an integer")
        return self.frame.select(number).to_series()

    def floats(self, column: str) -> pl.Series:
        """Return the column as Float64; `InputError` names the first that is not finite."""
        number = pl.col(column).cast(pl.Float64, strict=False)
        self.fail_where(~number.is_finite().fill_null(False), column, "is not a finite number")
        return self.frame.select(number).to_series()


def describe(
    name: str, faulty: pl.DataFrame, column: str, message: str, called: str | None = None
) -> str:
    """Return one line on the first of the faulty rows, and how many more there are.

    `called` is the column's name in the source, if it differs from that in the frame.
    """
    first = faulty.select(ROW, column).sort(ROW).head(1)
    more = f" (and {len(faulty) - 1:,} more such rows)" if len(faulty) > 1 else ""
    value = "missing" if first[column].null_count() else shortened(_shown(first[column]))
    return f"{name}, row {first[ROW].item()}: {called or column} {value} {message}{more}"


def _shown(value: pl.Series) -> str:
    if isinstance(value.dtype, pl.Datetime):  # may be too far away for Python's own
        return str(np.datetime64(value.to_physical().item(), value.dtype.time_unit))
    return repr(value.to_list()[0])


def shortened(text: str, limit: int = 80) -> str:
    """Return a text from a file for use in a message: without line breaks, and not too long."""
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    return plain if len(plain) <= limit else plain[:limit] + "…"


def load(source: Any, *, keep_surplus: bool = False) -> Rows:
    """Return the rows of a CSV, TSV (plain or gz) or Parquet file, or of a frame.

    pandas frames are taken if pandas and pyarrow are installed, as they must be where the
    frame comes from. Rows with more fields than the header raise `InputError` unless
    `keep_surplus`.
    """
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return _numbered("frame", source, first=1)
    if type(source).__module__.partition(".")[0] == "pandas":
        return _numbered("frame", pl.from_pandas(source), first=1)
    if not isinstance(source, str | Path):
        raise InputError(
            f"cannot read rows from a {type(source).__name__}: give a path to a CSV, TSV or "
            "Parquet file, or a Polars or pandas frame"
        )
    path = Path(source)
    check_readable(path)
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "is not a file"
        raise InputError(f"{path} {found}: give a CSV, TSV or Parquet file")
    if is_parquet(path):
        return _numbered(str(path), _read_parquet(path), first=1)
    rows = _numbered(str(path), _read_text(path), first=2)
    if SURPLUS in rows.frame.columns and not keep_surplus:
        rows.fail_where(pl.col(SURPLUS).is_not_null(), SURPLUS, TOO_MANY, "surplus field")
    blank = pl.all_horizontal(pl.col(rows.columns).is_null())
    return Rows(rows.name, rows.frame.filter(~blank))


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: not readable as a Parquet table: {shortened(str(error))}: get or write the "
            "file again"
        ) from error


def _read_text(path: Path) -> pl.DataFrame:
    separator = _separator(path)
    try:
        try:
            return _parse(_with_newlines(path), separator)
        except pl.exceptions.NoDataError as error:
            raise InputError(f"{path}: the file is empty; it needs a header and rows") from error
        except (pl.exceptions.ComputeError, OSError):  # not UTF-8, too many fields, damaged gz
            with open_text(path) as file:
                data = as_utf8(file.read())
            if ends_lines_with_cr(path):
                data = data.replace(b"\r", b"\n")
            header, _, rows = data.partition(b"\n")
            header = header.rstrip(b"\r") + f"{separator}{SURPLUS}\n".encode()
            return _parse(header + rows, separator, surplus=True)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path}: the gz file is damaged or ends too early ({error}): get the file again"
        ) from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: not readable as a text table: {shortened(str(error))}: check its quotes and "
            "separators"
        ) from error


def _with_newlines(path: Path) -> Path | bytes:
    """Return the file, or what is in it if its lines must be ended anew first."""
    if not ends_lines_with_cr(path):
        return path
    with open_text(path) as file:
        return file.read().replace(b"\r", b"\n")


def _parse(source: Path | bytes, separator: str, *, surplus: bool = False) -> pl.DataFrame:
    return pl.read_csv(
        source,
        infer_schema=False,  # everything stays text, so that faults keep their row
        separator=separator,
        truncate_ragged_lines=surplus,  # there is a column for what is too much
        glob=False,
    )


def _separator(path: Path) -> str:
    """Return what the name of the file says, unless the header has only another one."""
    usual = "\t" if path.name.lower().endswith(TAB_SUFFIXES) else ","
    header = first_lines(path)[:1] or [usual]
    return usual if usual in header[0] else next((s for s in SEPARATORS if s in header[0]), usual)


def _numbered(name: str, frame: pl.DataFrame, first: int) -> Rows:
    if ROW in frame.columns:
        raise InputError(f"{name}: the column name {ROW!r} is reserved: rename the column")
    return Rows(name, frame.with_row_index(ROW, offset=first))
