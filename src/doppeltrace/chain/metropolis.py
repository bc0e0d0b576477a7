"""Draw synthetic traces from a fitted chain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace import streams
from doppeltrace.chain import _base_kernels as _base_kernels  # gives the protocol its bodies
from doppeltrace.chain import _factor_kernels as _factor_kernels  # likewise
from doppeltrace.chain import _kernels as kernels
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
    for first in range(0, len(users), BLOCK_USERS):
        block = slice(first, first + BLOCK_USERS)
        kernels.sample_traces(chain, users[block], slots, key, out[block])
        callback(Step("synthesis", min(first + BLOCK_USERS, len(users)), len(users)))
    return out
