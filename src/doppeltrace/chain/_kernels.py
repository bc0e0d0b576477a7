"""Draw traces from any chain that speaks `_protocol`."""
# mypy: ignore-errors

import math

import numpy as np

from doppeltrace._stream_kernels import seed_stream
from doppeltrace.chain._protocol import (
    DRAWS,
    FEW,
    draw_first,
    draw_next,
    log_stay,
    prepare,
    scratch_shape,
)
from doppeltrace.engine.kernel import kernel
from doppeltrace.engine.views import unsafe_view

# Slots and places are stored in 32 bits. They are widened here, once, so that what is called is
# compiled for one type of integers only.


@kernel
def sample_traces(first, last, chain, users, slots, key, out):
    """Draw the traces of users[first] … users[last − 1], each from the user's own stream.

    users : (N,) int64; slots : (T,) int32, the slot of each instant.
    out : (N, traces per user, T) int32.
    """
    chain = unsafe_view(chain)
    state = np.empty(4, np.uint64)
    scratch = np.empty(scratch_shape(chain, DRAWS))
    for u in range(first, last):
        n = users[u]
        seed_stream(key, n, state)
        prepare(chain, n, scratch)
        for r in range(out.shape[1]):
            here = np.int64(draw_first(chain, n, np.int64(slots[0]), scratch, state))
            out[u, r, 0] = here
            for t in range(1, len(slots)):
                here = draw_next(chain, n, np.int64(slots[t]), here, scratch, state)
                out[u, r, t] = here


@kernel
def draw_places(chain, users, key):
    """Return (slots, N) int32 places, each drawn from π of the slot and users[slot, i]."""
    chain = unsafe_view(chain)
    state = np.empty(4, np.uint64)
    scratch = np.empty(scratch_shape(chain, DRAWS))
    places = np.empty(users.shape, np.int32)
    for slot in range(users.shape[0]):
        seed_stream(key, slot, state)
        for i in range(users.shape[1]):
            prepare(chain, users[slot, i], scratch)
            places[slot, i] = draw_first(chain, users[slot, i], slot, scratch, state)
    return places


@kernel
def mean_stays(first, last, chain, users, places, out):
    """Write the mean over i of Q_{n,slot}(x | x), n = users[slot, i], x = places[slot, i].

    Slots first … last − 1; users int64 and places int32 are (slots, N), out (slots,).
    """
    chain = unsafe_view(chain)
    scratch = np.empty(scratch_shape(chain, FEW))
    for slot in range(first, last):
        total = 0.0
        for i in range(users.shape[1]):
            prepare(chain, users[slot, i], scratch)
            here = np.int64(places[slot, i])
            total += math.exp(log_stay(chain, users[slot, i], slot, here, scratch))
        out[slot] = total / users.shape[1]
