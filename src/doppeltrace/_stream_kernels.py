"""SFC64 and the draws that kernels need, on a caller-owned state of shape (4,) uint64.

The generator is NumPy's `SFC64` bit for bit (tests prove it); it is written out here because
a kernel needs one independent stream per user, not a Python object.
"""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace.engine.kernel import kernel

_WARM_UP = 12  # rounds that mix the words of a fresh state, as in NumPy's seeding


@kernel
def next_uint64(state):
    """Return the next 64 random bits; `state` (4,) uint64 is three words and a counter."""
    out = state[0] + state[1] + state[3]
    state[3] += np.uint64(1)
    state[0] = state[1] ^ (state[1] >> np.uint64(11))
    state[1] = state[2] + (state[2] << np.uint64(3))
    state[2] = ((state[2] << np.uint64(24)) | (state[2] >> np.uint64(40))) + out
    return out


@kernel
def seed_stream(key, user, state):
    """Set `state` (4,) uint64 to the start of this user's stream under `key` (4,) uint64.

    The user index goes through the SplitMix64 finaliser, a bijection, so that neighbouring
    users start from unrelated words.
    """
    x = np.uint64(user) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    state[0] = key[0] ^ x
    state[1] = key[1]
    state[2] = key[2] + x
    state[3] = np.uint64(1)
    for _ in range(_WARM_UP):
        next_uint64(state)


@kernel
def uniform(state):
    """Return a float64 uniform on [0, 1) with 53 random bits."""
    return (next_uint64(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(state, bound):
    """Return an integer uniform on 0 … bound − 1.

    The 53-bit product is biased by less than bound / 2**53, far below anything measurable.
    """
    return np.int64(uniform(state) * bound)


@kernel
def normal(state):
    """Return a standard normal float64 (Box–Muller, one value of the pair)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
    return radius * math.cos(2.0 * math.pi * uniform(state))


@kernel
def gamma(state, shape):
    """Return a Gamma(shape, rate 1) float64 draw (Marsaglia & Tsang 2000), shape > 0."""
    boost = 1.0
    if shape < 1.0:  # Gamma(shape) = Gamma(shape + 1) · U^(1/shape)
        boost = math.exp(math.log(1.0 - uniform(state)) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        if math.log(1.0 - uniform(state)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v
