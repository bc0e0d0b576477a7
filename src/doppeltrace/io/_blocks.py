"""Text files in blocks of whole lines: any size, plain or gz, any encoding, row numbers kept."""

from __future__ import annotations

import gzip
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from doppeltrace.errors import InputError
from doppeltrace.io._frames import ROW, SURPLUS, shortened
from doppeltrace.io.sniff import as_utf8, ends_lines_with_cr, open_text

BLOCK_BYTES = 1 << 24
"""What is in memory of a file at a time, times a small constant."""

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
    skip : lines at the top that are not rows (a header).
    quoted : whether fields may stand in double quotes.
    """

    names: tuple[str, ...]
    separator: str = "\t"
    skip: int = 0
    quoted: bool = False


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


def _blocks(path: Path, skip: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number of the first row, how many, whole lines), each about `BLOCK_BYTES` long."""
    row, rest = 1, b""
    try:
        bare = ends_lines_with_cr(path)
        with open_text(path) as file:
            while chunk := file.read(BLOCK_BYTES):
                if bare:
                    chunk = chunk.replace(b"\r", b"\n")
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
        _refuse_stray_quotes(path, first_row, data)
        reason = shortened(str(error))
        raise InputError(
            f"{path}, after row {first_row}: not readable: {reason}: check the quotes there"
        ) from error
    if len(frame) != lines:
        _refuse_stray_quotes(path, first_row, data)
        raise InputError(
            f"{path}, after row {first_row}: quoted fields do not end on their lines: check the "
            "quotes there"
        )
    return frame.with_row_index(ROW, offset=first_row)


def _refuse_stray_quotes(path: Path, first_row: int, data: bytes) -> None:
    """Raise `InputError` naming the first line with an odd number of quotes, if there is one."""
    for number, line in enumerate(data.split(b"\n"), first_row):
        if line.count(b'"') % 2:
            raise InputError(
                f"{path}, row {number}: a quoted field does not end on its line: "
                'remove the stray "'
            )
