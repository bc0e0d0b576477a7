"""What a file holds, told from its first bytes: text, gz, Parquet, or what we do not read."""

from __future__ import annotations

import gzip
import os
import zlib
from io import BufferedReader
from pathlib import Path

from doppeltrace.errors import InputError

GZ = b"\x1f\x8b"
PARQUET = b"PAR1"
SNIFFED = 1 << 16
"""Bytes of a file that are looked at to tell what it is."""

OTHERS = {
    b"PK\x03\x04": "is a zip archive: unpack it and give what was in it",
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive: unpack it and give what was in it",
    b"BZh": "is compressed with bzip2: unpack it, or compress it as gz",
    b"\xfd7zXZ\x00": "is compressed with xz: unpack it, or compress it as gz",
    b"\xff\xfe": "is text in UTF-16: save it as UTF-8",
    b"\xfe\xff": "is text in UTF-16: save it as UTF-8",
}
"""First bytes of files that look like noise when they are read as a table."""


def check_readable(path: Path) -> None:
    """Raise `InputError` unless there is a file or folder here that may be read."""
    try:
        path.stat()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the path of the input") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{str(path)[:200]}: not readable: {reason}: check the path") from error
    if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        raise InputError(f"{path}: not readable: permission denied: ask for the right to read it")


def is_compressed(path: Path) -> bool:
    """Tell whether the file is gz, from its first two bytes."""
    return _begins(path, GZ)


def is_parquet(path: Path) -> bool:
    """Tell whether the file is called Parquet, or is Parquet."""
    return path.suffix.lower() == ".parquet" or _begins(path, PARQUET)


def ends_lines_with_cr(path: Path) -> bool:
    """Tell whether a text file, plain or gz, ends its lines with CR alone, as old Macs did."""
    try:
        with open_text(path) as file:
            start = file.read1(SNIFFED)
    except (OSError, EOFError, zlib.error):
        return False
    return b"\r" in start.rstrip(b"\r") and b"\n" not in start


def open_text(path: Path) -> BufferedReader | gzip.GzipFile:
    """Open a text file, plain or gz; `InputError` if it is one of `OTHERS`."""
    file: BufferedReader | gzip.GzipFile = path.open("rb")
    if is_compressed(path):
        file.close()
        file = gzip.open(path, "rb")
    try:
        _refuse_others(path, file.peek(8))
    except BaseException:
        file.close()
        raise
    return file


def first_lines(path: Path, limit: int = SNIFFED) -> list[str]:
    """Return the first lines of a file, at most `limit` bytes; none if it cannot be read."""
    data = b""
    try:
        with open_text(path) as file:
            while len(data) < limit and (piece := file.read1(limit - len(data))):
                data += piece
    except (OSError, EOFError, zlib.error):
        pass  # what could be read of a damaged file tells its format all the same
    return as_utf8(data).decode().removeprefix("\ufeff").splitlines()


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


def _refuse_others(path: Path, first: bytes) -> None:
    for magic, message in OTHERS.items():
        if first.startswith(magic):
            raise InputError(f"{path} {message}")


def _begins(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic
