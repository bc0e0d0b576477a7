"""Run on this machine: kernels in threads, the users split into blocks.

Kernels release Python's lock and write to places of their own, so blocks run side by side.
What a block computes never depends on how many there are: the number of threads changes no
result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

BLOCKS_PER_THREAD = 8
"""More blocks than threads even out blocks that take longer."""

_threads: int | None = None


def cores() -> int:
    """Return how many cores this process may use."""
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


def threads() -> int:
    """Return how many threads kernels use now."""
    return cores() if _threads is None else _threads


@contextmanager
def use_threads(number: int | None) -> Iterator[None]:
    """Let kernels use this many threads (None: as many as there are cores)."""
    global _threads
    before = _threads
    _threads = number
    try:
        yield
    finally:
        _threads = before


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="doppeltrace")


def run(job: Callable[[int], None], n_jobs: int) -> None:
    """Run job(0) … job(n_jobs − 1), side by side."""
    if n_jobs <= 1 or threads() == 1:
        for i in range(n_jobs):
            job(i)
        return
    waiting = iter(range(n_jobs))  # each worker takes the next job: next() holds Python's lock

    def worker(_: int) -> None:
        for i in waiting:
            job(i)

    list(_pool(threads()).map(worker, range(min(threads(), n_jobs))))


def run_blocks(kernel: Callable[[int, int], None], n: int) -> None:
    """Run kernel(first, last) over blocks that together make 0 … n − 1."""
    n_blocks = min(n, threads() * BLOCKS_PER_THREAD)
    run(lambda i: kernel(n * i // n_blocks, n * (i + 1) // n_blocks), n_blocks)
