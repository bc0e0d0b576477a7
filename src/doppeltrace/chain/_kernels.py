"""Metropolis–Hastings for any model that speaks `_protocol`."""

import numpy as np
from numba import njit, prange

from doppeltrace._stream_kernels import seed_stream, uniform
from doppeltrace.chain._protocol import (
    draw_proposal,
    draw_visit,
    prepare,
    proposal,
    scratch_size,
    visit,
)


@njit(cache=True, parallel=True)
def sample_traces(model, users, slots, n_places, key, out):
    """Draw the traces of each user, one after the other from the user's own stream.

    users : (N,) int64; slots : (T,) int32, the slot of each instant.
    out : (N, traces per user, T) int32.

    A row of Q_{n,i} is drawn exactly by drawing from the proposal row and accepting with the
    Metropolis–Hastings probability: rejections are its diagonal.
    """
    for u in prange(len(users)):
        n = users[u]
        state = np.empty(4, np.uint64)
        seed_stream(key, n, state)
        scratch = np.empty(scratch_size(model))
        buffer = np.empty(n_places)
        prepare(model, n, scratch)
        for r in range(out.shape[1]):
            here = draw_visit(model, n, slots[0], buffer, state)
            out[u, r, 0] = here
            for t in range(1, len(slots)):
                there = draw_proposal(model, n, here, scratch, buffer, state)
                if there != here:
                    forward = visit(model, n, slots[t], here) * proposal(
                        model, n, here, there, scratch
                    )
                    backward = visit(model, n, slots[t], there) * proposal(
                        model, n, there, here, scratch
                    )
                    if uniform(state) * forward < backward:
                        here = there
                out[u, r, t] = here
