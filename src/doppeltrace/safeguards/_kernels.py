"""A random number per event, from the stream of its user."""
# mypy: ignore-errors

import numpy as np

from doppeltrace._stream_kernels import seed_stream, uniform
from doppeltrace.engine.kernel import kernel


@kernel
def draw_events(first, last, offsets, key, out):
    """Fill `out` (n_events,) for users first … last − 1 with uniforms on [0, 1)."""
    state = np.empty(4, np.uint64)
    for user in range(first, last):
        seed_stream(key, user, state)
        for event in range(offsets[user], offsets[user + 1]):
            out[event] = uniform(state)
