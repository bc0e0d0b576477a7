"""Draw synthetic traces from a fitted chain."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.chain import _base_kernels as _base_kernels  # gives the protocol its bodies
from doppeltrace.chain import _factor_kernels as _factor_kernels  # likewise
from doppeltrace.chain import _kernels as kernels
from doppeltrace.engine.local import run_blocks
from doppeltrace.progress import Callback, Step, silent

BLOCK_USERS = 2048
"""Users per call of the kernel: how often progress is told; no draw depends on it."""


def sample(
    chain: Any,
    users: NDArray[np.int64],
    traces_per_user: int,
    slots: NDArray[np.int32],
    seed: int,
    callback: Callback = silent,
) -> NDArray[np.int32]:
    """Return locations (len(users), traces_per_user, len(slots)) drawn from a chain.

    The first place comes from π_{n,slots[0]}, every further one from Q_{n,slots[t]}.
    """
    key = streams.key(seed, "traces")
    out = np.empty((len(users), traces_per_user, len(slots)), np.int32)
    for start in range(0, len(users), BLOCK_USERS):
        block, part = users[start : start + BLOCK_USERS], out[start : start + BLOCK_USERS]
        run_blocks(partial(_draw, chain, block, slots, key, part), len(block))
        callback(Step("synthesis", start + len(block), len(users)))
    return out


def _draw(
    chain: Any,
    users: NDArray[np.int64],
    slots: NDArray[np.int32],
    key: NDArray[np.uint64],
    out: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    kernels.sample_traces(first, last, chain, users, slots, key, out)
