"""`@kernel`: compile a function with Numba and keep the machine code on the disk.

Numba's own cache looks at the file of a function only, but a kernel contains the code of every
kernel that it calls. Here the cache is stamped with a hash of all kernel files, so that an edit
of any one of them compiles all kernels again. Machine code goes where Numba would put it (the
folder NUMBA_CACHE_DIR, the package's own folder, or the user's cache folder) and, where nothing
of that can be written, to a temporary folder.
"""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import ast
import atexit
import hashlib
import inspect
import logging
import os
import shutil
import stat
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, overload

from numba import njit

from doppeltrace.engine.views import stray_views

Function = Callable[..., Any]

_caching: Any = import_module("numba.core.caching")
_LOCATORS: Any = _caching.CompileResultCacheImpl._locator_classes
_InGivenFolder: Any = _LOCATORS[0]  # in NUMBA_CACHE_DIR

_PACKAGE = Path(__file__).resolve().parents[1]
_NAMES = ("_*kernels.py", "_simd.py", "_protocol.py")
_OTHERS = ("engine/kernel.py", "engine/views.py", "chain/base_chain.py", "chain/factor_chain.py")


@overload
def kernel(function: Function) -> Function: ...


@overload
def kernel(**options: Any) -> Callable[[Function], Function]: ...


def kernel(
    function: Function | None = None, **options: Any
) -> Function | Callable[[Function], Function]:
    """Compile a function when it is first called, to run without Python's lock.

    A function whose name begins with "_" can be called by other kernels only: what Python would
    need to call it is not compiled. Options are those of `numba.njit`.

    Raises TypeError if the function borrows what is not its argument (see `views`).
    """
    if function is None:
        return lambda function: kernel(function, **options)
    if "unsafe_view" in function.__code__.co_names:
        _require_fair_views(function, options)
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": function.__name__[0] == "_"}
    compiled: Any = njit(nogil=True, **options)(function)
    compiled._cache = _Cache(function)  # what njit(cache=True) does, with a cache of our own
    result: Function = compiled
    return result


def _require_fair_views(function: Function, options: dict[str, Any]) -> None:
    if options.get("inline", "never") != "never":
        raise TypeError(f"{function.__name__} is inlined: its arguments may die before it ends")
    first = function.__code__.co_firstlineno
    source = textwrap.dedent(inspect.getsource(function))
    stray = [first + line - 1 for line in stray_views(ast.parse(source))]
    if stray:
        where = f"{function.__code__.co_filename}:{stray[0]}"
        raise TypeError(f"{where}: {function.__name__} borrows what is not its argument")


def kernel_files(package: Path = _PACKAGE) -> Iterator[Path]:
    """Yield the files whose code, types or constants end up in kernels, in a fixed order."""
    found = {path for name in _NAMES for path in package.rglob(name)}
    yield from sorted(found | {package / name for name in _OTHERS})


@cache
def stamp(package: Path = _PACKAGE) -> str:
    """Return a hash of all kernel files."""
    digest = hashlib.sha256()
    for path in kernel_files(package):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def temporary_folder() -> Path:
    """Return a folder for machine code that nobody else can write to; warn, once.

    It is the same in all runs of a user, so that kernels are compiled once, unless somebody
    else has taken its name: machine code from a stranger's folder is never loaded.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"doppeltrace-{user}"
    if not _is_ours(folder):
        folder = Path(tempfile.mkdtemp(prefix="doppeltrace-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    logging.getLogger(__name__).warning(
        "doppeltrace: compiled kernels are kept in %s, since neither the package's folder nor "
        "the user's cache folder can be written: set NUMBA_CACHE_DIR to a folder that can",
        folder,
    )
    return folder


def _is_ours(folder: Path) -> bool:
    """Tell whether the folder, made if need be, is this user's and closed to all others."""
    if not hasattr(os, "getuid"):
        return False
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    closed = stat.S_ISDIR(found.st_mode) and found.st_mode & 0o077 == 0
    return closed and found.st_uid == os.getuid()


def _stamped(locator: Any) -> type:
    """Return a locator of Numba's that gives the hash of all kernel files as its stamp."""
    return type(locator.__name__, (locator,), {"get_source_stamp": lambda self: stamp()})


class _Temporary(_InGivenFolder):
    """A locator in a temporary folder: Numba's locator of a folder the user gives, elsewhere."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str(temporary_folder() / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Temporary:
        """Return the locator of a function."""
        located = cls(function, file)
        located.ensure_cache_path()
        return located


class _Place(_caching.CompileResultCacheImpl):
    _locator_classes = [_stamped(locator) for locator in (*_LOCATORS, _Temporary)]


class _Cache(_caching.FunctionCache):
    _impl_class = _Place
