"""The Poisson model's tensors written out in full: the twin of `doppeltrace.factorize.poisson`."""

import numpy as np

from doppeltrace.tensors import SparseTensor


def sparse(dense):
    """Return the positive elements of a dense tensor of counts (users, rows, columns)."""
    user, row, column = np.nonzero(dense)
    offsets = np.searchsorted(user, np.arange(len(dense) + 1))
    return SparseTensor(
        dense.shape,
        offsets,
        row.astype(np.uint16),
        column.astype(np.uint16),
        dense[user, row, column].astype(np.uint16),
    )


def expected(theta):
    """Return r̂^I (…, users, places, places) and r̂^II (…, users, places, slots).

    The factors may have leading axes in common.
    """
    pairs = theta.A[..., :, None, :] * theta.B[..., None, :, :]
    return [
        np.sum(pairs[..., None, :] * last[..., None, None, :, :], axis=-1)
        for last in (theta.C, theta.D)
    ]
