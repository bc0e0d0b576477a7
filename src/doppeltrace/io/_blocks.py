"""Text files in blocks of whole lines: any size, plain or gz, any encoding, row numbers kept."""

from __future__ import annotations

import gzip
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io._frames import ROW

BLOCK_BYTES = 1 << 24
"""What is in memory of a file at a time, times a small constant."""

SURPLUS = "__surplus__"
"""Column with what stands in a row beyond its last field."""

BLOCKS_AHEAD = 2
NEWLINE = ord("\n")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Layout:
    """How the rows of a text file are written.

    Attributes
    ----------
    names : of the fields, in their order.
    separator : between the fields.
    skip : lines at the top that are no rows (a header).
    quoted : whether fields may stand in double quotes.
    """

    names: tuple[str, ...]
    separator: str = "\t"
    skip: int = 0
    quoted: bool = False


def is_compressed(path: Path) -> bool:
    """Tell whether the file is gz, from its first two bytes."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def first_lines(path: Path, limit: int = 1 << 16) -> list[str]:
    """Return the first lines of a file, at most `limit` bytes; none if it cannot be read."""
    try:
        with _opened(path) as file:
            text = as_utf8(file.read(limit)).decode().removeprefix("\ufeff")
    except (OSError, EOFError, zlib.error):
        return []
    return text.splitlines()


def map_rows(
    path: Path,
    layout: Layout,
    work: Callable[[pl.DataFrame], Result],
    columns: tuple[str, ...] | None = None,
) -> Iterator[Result]:
    """Yield `work` of each block of rows, in the order of the file.

    The next blocks are read and worked on in threads meanwhile, so `work` must be pure.

    Parameters
    ----------
    work : takes a frame of `ROW` (line number, from 1), the fields as text (empty ones null) and
        `SURPLUS`; blank lines are rows of nulls.
    columns : the fields that `work` needs; by default all and `SURPLUS`.
    """

    def parse_and_work(first_row: int, lines: int, data: bytes) -> Result:
        return work(_parse(path, layout, columns, first_row, lines, data))

    with ThreadPoolExecutor(BLOCKS_AHEAD) as pool:
        waiting: deque[Future[Result]] = deque()
        for block in _blocks(path, layout.skip):
            waiting.append(pool.submit(parse_and_work, *block))
            if len(waiting) > BLOCKS_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def as_utf8(data: bytes) -> bytes:
    """Return text as UTF-8: lines that are not are taken as Windows-1252 (and so ISO-8859-1)."""
    if data.isascii():
        return data
    try:
        data.decode("utf-8")
        return data
    except UnicodeDecodeError:
        return b"\n".join(_line_as_utf8(line) for line in data.split(b"\n"))


def _line_as_utf8(line: bytes) -> bytes:
    for encoding in ("utf-8", "cp1252"):
        try:
            return line.decode(encoding).encode("utf-8")
        except UnicodeDecodeError:
            continue
    return line.decode("iso-8859-1").encode("utf-8")  # knows every byte


def _opened(path: Path) -> BufferedReader | gzip.GzipFile:
    if is_compressed(path):
        return gzip.open(path, "rb")
    return path.open("rb")


def _blocks(path: Path, skip: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number of the first row, how many, whole lines), each about `BLOCK_BYTES` long."""
    row, rest = 1, b""
    try:
        with _opened(path) as file:
            while chunk := file.read(BLOCK_BYTES):
                if row == 1 and not rest:
                    chunk = chunk.removeprefix(b"\xef\xbb\xbf")
                end = chunk.rfind(b"\n") + 1
                if end == 0:
                    rest += chunk
                    if len(rest) > BLOCK_BYTES:
                        raise InputError(
                            f"{path}, row {row}: a line of more than {BLOCK_BYTES:,} bytes: "
                            "this is not a text file with one event per line"
                        )
                    continue
                data, rest = rest + chunk[:end], chunk[end:]
                lines = int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE))
                while skip and data:
                    _, _, data = data.partition(b"\n")
                    skip, row, lines = skip - 1, row + 1, lines - 1
                if data:
                    yield row, lines, data
                row += lines
            if rest and not skip:
                yield row, 1, rest
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path}, near row {row}: the gz file is damaged or ends too early ({error}): "
            "get the file again"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: not readable: {error.strerror or error}") from error


def _parse(
    path: Path,
    layout: Layout,
    columns: tuple[str, ...] | None,
    first_row: int,
    lines: int,
    data: bytes,
) -> pl.DataFrame:
    # Our own header fixes the number of columns, whatever the first row of the block looks like.
    names = (*layout.names, SURPLUS)
    header = layout.separator.join(names).encode() + b"\n"
    try:
        frame = pl.read_csv(
            header + as_utf8(data),
            separator=layout.separator,
            columns=None if columns is None else list(columns),
            infer_schema=False,
            truncate_ragged_lines=True,
            quote_char='"' if layout.quoted and b'"' in data else None,
        )
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}, after row {first_row}: not readable: {reason}") from error
    if len(frame) != lines:
        raise InputError(
            f"{path}, after row {first_row}: a quoted field does not end on its line: "
            'remove the stray "'
        )
    return frame.with_row_index(ROW, offset=first_row)
