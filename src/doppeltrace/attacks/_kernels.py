"""Inner loops of the attacks: sparse scatter over an inverted index, arrays in and out."""
# mypy: ignore-errors

import numpy as np

from doppeltrace.engine.kernel import kernel


@kernel
def _plain_sum(first, last, pair, list_start, list_user, list_log, log_floor, user):
    """Return Σ ln W_user over the transitions first … last − 1, added in their order."""
    total = 0.0
    for t in range(first, last):
        term = log_floor
        if pair[t] >= 0:
            at, end = list_start[pair[t]], list_start[pair[t] + 1]
            high = end
            while at < high:  # the first at or after this user
                middle = (at + high) // 2
                if list_user[middle] < user:
                    at = middle + 1
                else:
                    high = middle
            if at < end and list_user[at] == user:
                term = list_log[at]
        total += term
    return total


@kernel
def most_likely_users(trace_start, pair, list_start, list_user, list_log, log_floor, n_users):
    """Return (n_traces,) the user under whom a trace's transitions are most likely.

    Parameters
    ----------
    trace_start : (n_traces + 1,) slices of `pair`.
    pair : (n_transitions,) number of the transition's list, −1 if nobody knows it.
    list_start : (n_pairs + 1,) slices of `list_user` and `list_log`.
    list_user, list_log : who knows the pair (ascending), and their ln probability.
    log_floor : ln probability of a pair that a user does not know, below every `list_log`.

    The result is the argmax of Σ ln W_n added in the order of the trace, the lowest index
    among equals. It is found from the gains over the floor, which only touch users who know
    a transition; those within rounding of the top are then summed in full, because a sum in
    another order can break a tie differently.
    """
    n_traces = len(trace_start) - 1
    best = np.zeros(n_traces, dtype=np.int64)
    gain = np.zeros(n_users)
    touched = np.empty(n_users, dtype=np.int64)
    for y in range(n_traces):
        first, last = trace_start[y], trace_start[y + 1]
        n_touched = 0
        for t in range(first, last):
            if pair[t] < 0:
                continue
            for e in range(list_start[pair[t]], list_start[pair[t] + 1]):
                user = list_user[e]
                if gain[user] == 0.0:
                    touched[n_touched] = user
                    n_touched += 1
                gain[user] += list_log[e] - log_floor
        top = 0.0
        for i in range(n_touched):
            top = max(top, gain[touched[i]])
        near = top - 1e-9 * (last - first + 1)
        largest = -np.inf
        for i in range(n_touched):
            user = touched[i]
            if gain[user] >= near:
                total = _plain_sum(
                    first, last, pair, list_start, list_user, list_log, log_floor, user
                )
                if total > largest or (total == largest and user < best[y]):
                    largest = total
                    best[y] = user
            gain[user] = 0.0
    return best


@kernel
def largest_scores(
    trace_start, pair, group, n_groups, list_base, list_start, list_user, list_gain, n_users
):
    """Return (n_users, n_groups) each user's largest score over the traces of a group.

    A trace's score under a user is Σ base over its transitions plus the user's gains.

    Parameters
    ----------
    group : (n_traces,) 0 … n_groups − 1 (the replicate), each with at least one trace.
    list_base : (n_pairs,) what the pair adds to the score of everybody.
    list_start, list_user : as in `most_likely_users`; list_gain : what the pair adds to the
        score of a user who knows it, of any sign.
    """
    largest = np.full((n_users, n_groups), -np.inf)
    gain = np.zeros(n_users)
    for y in range(len(trace_start) - 1):
        base = 0.0
        for t in range(trace_start[y], trace_start[y + 1]):
            if pair[t] < 0:
                continue
            base += list_base[pair[t]]
            for e in range(list_start[pair[t]], list_start[pair[t] + 1]):
                gain[list_user[e]] += list_gain[e]
        for user in range(n_users):
            largest[user, group[y]] = max(largest[user, group[y]], base + gain[user])
            gain[user] = 0.0
    return largest
