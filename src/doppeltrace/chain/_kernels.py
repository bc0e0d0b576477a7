"""Draw traces from any chain that speaks `_protocol`."""

import numpy as np
from numba import njit

from doppeltrace._stream_kernels import seed_stream
from doppeltrace.chain._protocol import DRAWS, draw_first, draw_next, prepare, scratch_shape
from doppeltrace.engine.borrow import borrowed


@njit(cache=True, nogil=True)
def sample_traces(first, last, chain, users, slots, key, out):
    """Draw the traces of users[first] … users[last − 1], each from the user's own stream.

    users : (N,) int64; slots : (T,) int32, the slot of each instant.
    out : (N, traces per user, T) int32.
    """
    chain = borrowed(chain)
    state = np.empty(4, np.uint64)
    scratch = np.empty(scratch_shape(chain, DRAWS))
    for u in range(first, last):
        n = users[u]
        seed_stream(key, n, state)
        prepare(chain, n, scratch)
        for r in range(out.shape[1]):
            here = draw_first(chain, n, slots[0], scratch, state)
            out[u, r, 0] = here
            for t in range(1, len(slots)):
                here = draw_next(chain, n, slots[t], here, scratch, state)
                out[u, r, t] = here
