"""Sources of rows as Polars frames: files and frames in, text columns and row numbers out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from doppeltrace.errors import InputError

ROW = "__row__"
"""Column with the number under which a user finds the row again (see `Validation`)."""

COLUMNS_SHOWN = 20
TAB_SUFFIXES = (".tsv", ".tsv.gz", ".tab", ".tab.gz")


@dataclass(frozen=True)
class Rows:
    """The rows of one source.

    Attributes
    ----------
    name : the path, or `frame`: how messages call the source.
    frame : its columns and `ROW`; text files have only String columns, blank lines are gone.
    """

    name: str
    frame: pl.DataFrame

    @property
    def columns(self) -> list[str]:
        """Return the names of the source's own columns."""
        return [c for c in self.frame.columns if c != ROW]

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

    def fail_where(self, fault: pl.Expr, column: str, message: str) -> None:
        """Raise `InputError` naming the first row where `fault` holds and its value."""
        faulty = self.frame.filter(fault)
        if len(faulty):
            raise InputError(describe(self.name, faulty, column, message))

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
    first = faulty.sort(ROW).row(0, named=True)
    more = f" (and {len(faulty) - 1:,} more such rows)" if len(faulty) > 1 else ""
    value = "missing" if first[column] is None else shortened(repr(first[column]))
    return f"{name}, row {first[ROW]}: {called or column} {value} {message}{more}"


def shortened(text: str, limit: int = 80) -> str:
    """Return a text from a file for use in a message: without line breaks, and not too long."""
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: limit + 1])
    return plain if len(plain) <= limit else plain[:limit] + "…"


def load(source: Any) -> Rows:
    """Return the rows of a CSV, TSV (plain or gz) or Parquet file, or of a frame.

    pandas frames are taken if pandas and pyarrow are installed, as they must be where the
    frame comes from.
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
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {found}: give a CSV, TSV or Parquet file")
    if path.suffix == ".parquet":
        return _numbered(str(path), _read(path, "Parquet"), first=1)
    rows = _numbered(str(path), _read(path, "text"), first=2)
    blank = pl.all_horizontal(pl.col(rows.columns).is_null())
    return Rows(rows.name, rows.frame.filter(~blank))


def _read(path: Path, kind: str) -> pl.DataFrame:
    try:
        if kind == "Parquet":
            return pl.read_parquet(path, glob=False)
        return pl.read_csv(
            path,
            infer_schema=False,  # everything stays text, so that faults keep their row
            encoding="utf8-lossy",  # mis-encoded names are names all the same
            separator="\t" if path.name.endswith(TAB_SUFFIXES) else ",",
            glob=False,
        )
    except pl.exceptions.NoDataError as error:
        raise InputError(f"{path}: the file is empty; it needs a header and rows") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: not readable as a {kind} table: {reason}") from error


def _numbered(name: str, frame: pl.DataFrame, first: int) -> Rows:
    if ROW in frame.columns:
        raise InputError(f"{name}: the column name {ROW!r} is reserved: rename the column")
    return Rows(name, frame.with_row_index(ROW, offset=first))
