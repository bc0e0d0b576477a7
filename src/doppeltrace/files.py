"""Files and folders that appear complete or not at all.

Everything is written to a hidden folder beside the destination and moved in place by one
rename at the end. Whatever stops the process before that, the destination is as it was; what
a killed process leaves behind is swept away by the next run to the same destination.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from doppeltrace.errors import OutputError

PUBLIC, INTERNAL = "public", "internal"
"""Folders of a run: what may be handed on, and what must not leave."""

MARKER = f"{INTERNAL}/manifest.json"
"""The file by which a folder is known as an earlier run, which `overwrite` may replace."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def check_destination(destination: str | Path, *, overwrite: bool = False) -> None:
    """Raise `OutputError` if a folder could not be written there; leaves nothing behind."""
    target = Path(destination).resolve()
    _restore(target)
    _check_free(target, overwrite)
    ancestor = target.parent
    while not ancestor.exists():
        ancestor = ancestor.parent
    probe = ancestor / f".{target.name}.{secrets.token_hex(8)}.partial"
    with _explained(target):
        probe.mkdir()
        probe.rmdir()


@contextmanager
def atomic_folder(destination: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder to write into; on success it becomes `destination`, else it is removed.

    Parameters
    ----------
    destination : must not exist, be an empty folder, or, with `overwrite`, an earlier run.
    overwrite : replace an earlier run, all of it.
    """
    target = Path(destination).resolve()
    _restore(target)
    _check_free(target, overwrite)
    with _explained(target):
        made = _make_parents(target.parent)
        try:
            _sweep(target)
            partial = target.parent / f".{target.name}.{secrets.token_hex(8)}.partial"
            partial.mkdir()
            lock = os.open(partial, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield partial
                _sync_tree(partial)
                _check_free(target, overwrite)
                _move_in_place(partial, target)
            finally:
                # after the swap this holds the earlier run; before it, what was half-written
                shutil.rmtree(partial, ignore_errors=True)
                os.close(lock)
        except BaseException:
            _remove_empty(made)
            raise


def check_file(destination: str | Path, *, overwrite: bool = True) -> None:
    """Raise `OutputError` if a file could not be written there; leaves nothing behind."""
    target = Path(destination).resolve()
    if target.is_dir():
        raise OutputError(f"{target} is a folder: give the name of a file")
    if target.exists() and not overwrite:
        raise OutputError(
            f"{target} exists: choose another name, or replace it with overwrite=True", "overwrite"
        )
    with _explained(target):
        probe = target.parent / f".{target.name}.{secrets.token_hex(8)}.partial"
        probe.touch()
        probe.unlink()


@contextmanager
def atomic_file(destination: str | Path) -> Iterator[Path]:
    """Yield a path to write to; on success it becomes `destination`, else it is removed."""
    target = Path(destination).resolve()
    with _explained(target):
        for left in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
            left.unlink(missing_ok=True)  # by a process that was killed
        partial = target.parent / f".{target.name}.{secrets.token_hex(8)}.partial"
        try:
            yield partial
            _sync(partial)
            os.replace(partial, target)
            _sync(target.parent)
        finally:
            partial.unlink(missing_ok=True)


def _check_free(target: Path, overwrite: bool) -> None:
    with _explained(target):
        if not target.exists():
            return
        if not target.is_dir():
            raise OutputError(f"{target} is a file: give a folder for the output")
        content = {entry.name for entry in target.iterdir()}
        if not content:
            return
        if not overwrite:
            raise OutputError(
                f"{target} is not empty: choose another folder, or replace an earlier run "
                "with overwrite=True",
                "overwrite",
            )
        if not _is_run(target / MARKER):
            raise OutputError(
                f"{target} holds something other than an earlier run (no {MARKER} of ours), "
                "so it is not overwritten: choose another folder"
            )


def _is_run(marker: Path) -> bool:
    try:
        content = json.loads(marker.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return isinstance(content, dict) and "doppeltrace" in content


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Turn an error of the operating system into one line that names the destination."""
    try:
        yield
    except OutputError:
        raise
    except pl.exceptions.PolarsError as error:
        system = re.search(r"\(os error (\d+)\)", str(error))  # all it tells of one
        if system is None:
            raise
        raise cannot_write(target, int(system[1])) from error
    except OSError as error:
        raise cannot_write(target, error.errno, str(error)) from error


def cannot_write(target: Path, code: int | None, words: str = "") -> OutputError:
    """Return the error that tells why a destination cannot be written, and what to do."""
    reason = os.strerror(code) if code is not None else words
    remedy = (
        "free some space or choose another disk"
        if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        else "choose a folder that you may write to"
    )
    return OutputError(f"cannot write to {target}: {reason}; {remedy}")


def _make_parents(parent: Path) -> list[Path]:
    """Create the missing folders above the destination and return them, deepest first."""
    missing = []
    while not parent.exists():
        missing.append(parent)
        parent = parent.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
    return missing


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return  # another process uses it by now


def _sweep(target: Path) -> None:
    """Remove what killed runs to this destination left; live ones hold a lock on theirs."""
    for entry in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        try:
            lock = os.open(entry, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(entry, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(lock)


def _restore(target: Path) -> None:
    """Put back the earlier run if a process was killed between the renames of `_replace`."""
    with _explained(target):
        if not target.parent.is_dir():
            return
        for earlier in target.parent.glob(f".{glob.escape(target.name)}.*.earlier"):
            if target.exists():
                shutil.rmtree(earlier, ignore_errors=True)
            else:
                os.rename(earlier, target)


def _sync_tree(folder: Path) -> None:
    """Bring every file below the folder, and the folders, to the disk."""
    for parent, _, files in os.walk(folder):
        for path in [*(Path(parent) / name for name in files), Path(parent)]:
            _sync(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _move_in_place(partial: Path, target: Path) -> None:
    """Rename; where an earlier run stands, swap the two in one step."""
    if target.exists() and any(target.iterdir()):
        if not _exchange(partial, target):
            _replace(partial, target)
    else:
        os.rename(partial, target)
    _sync(target.parent)


def _exchange(one: Path, two: Path) -> bool:
    """Swap two folders in one step; return False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    status = rename(
        _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(two), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    if status == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(code, os.strerror(code), str(two))


def _replace(partial: Path, target: Path) -> None:
    """Replace by two renames, putting the earlier run back if the second does not happen."""
    earlier = target.parent / f".{target.name}.{secrets.token_hex(8)}.earlier"
    os.rename(target, earlier)
    try:
        os.rename(partial, target)
    except BaseException:
        os.rename(earlier, target)
        raise
    os.rename(earlier, partial)
