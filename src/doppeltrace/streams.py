"""Reproducible random streams: one per (seed, purpose, path, user).

NumPy's `SeedSequence` hashes a seed of any size, a purpose and a path (such as the iteration)
into a 256-bit key; kernels derive each user's own SFC64 generator from key and user index
(`_stream_kernels.seed_stream`). A user's draws therefore never depend on other users, on the
number of threads, or on how users are spread over shards.

A seed is a secret like the model: who knows it knows every user's random numbers.
"""

import secrets
import zlib

import numpy as np
from numpy.typing import NDArray


def fresh_seed() -> int:
    """Return a 128-bit seed drawn from the operating system."""
    return secrets.randbits(128)


def _sequence(seed: int, purpose: str, path: tuple[int, ...]) -> np.random.SeedSequence:
    return np.random.SeedSequence(entropy=seed, spawn_key=(zlib.crc32(purpose.encode()), *path))


def key(seed: int, purpose: str, *path: int) -> NDArray[np.uint64]:
    """Return the (4,) key from which kernels derive the streams of this purpose."""
    return _sequence(seed, purpose, path).generate_state(4, np.uint64).astype(np.uint64)


def generator(seed: int, purpose: str, *path: int) -> np.random.Generator:
    """Return a NumPy generator for draws that are not per user (hyper-parameters, subsets)."""
    return np.random.Generator(np.random.SFC64(_sequence(seed, purpose, path)))
