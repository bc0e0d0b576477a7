"""Inner loop of the audit's scores: which users come closest to each released trace."""
# mypy: ignore-errors

import numpy as np

from doppeltrace.engine.kernel import kernel


@kernel
def closest_traces(cell, list_start, list_user, list_weight, n_users, top):
    """Return (n_users, top) each user's best matches with the traces, unordered.

    A trace's match with a user is Σ weight over the trace's events: the share of the user's
    events at that time that are at the same place.

    Parameters
    ----------
    cell : (n_traces, length) number of the list of each event's time and place, −1 for none.
    list_start : (n_cells + 1,) slices of `list_user` and `list_weight`.
    """
    best = np.zeros((n_users, top))
    lowest = np.zeros(n_users, dtype=np.int64)  # where the smallest of each user's best is
    match = np.zeros(n_users)
    touched = np.empty(n_users, dtype=np.int64)
    for y in range(len(cell)):
        n_touched = 0
        for t in range(cell.shape[1]):
            c = cell[y, t]
            if c < 0:
                continue
            for e in range(list_start[c], list_start[c + 1]):
                user = list_user[e]
                if match[user] == 0.0:
                    touched[n_touched] = user
                    n_touched += 1
                match[user] += list_weight[e]
        for i in range(n_touched):
            user = touched[i]
            if match[user] > best[user, lowest[user]]:
                best[user, lowest[user]] = match[user]
                for j in range(top):
                    if best[user, j] < best[user, lowest[user]]:
                        lowest[user] = j
            match[user] = 0.0
    return best
