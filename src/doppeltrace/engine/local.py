"""Run on this machine: the number of threads, for the time of a block."""

from collections.abc import Iterator
from contextlib import contextmanager

import numba


@contextmanager
def use_threads(threads: int | None) -> Iterator[None]:
    """Let kernels use this many threads (None: all cores; never more than there are)."""
    before = numba.get_num_threads()
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(most if threads is None else min(threads, most))
    try:
        yield
    finally:
        numba.set_num_threads(before)
