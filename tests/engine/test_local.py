"""Blocks run side by side, in as many threads as asked for, on any machine."""

import threading

import pytest

from doppeltrace.engine.local import cores, run, run_blocks, threads, use_threads


@pytest.mark.parametrize("number", [2, 3, 5])
def test_as_many_threads_as_asked_for_whatever_the_cores(number):
    """Each job waits for the others: with fewer threads than jobs nobody would come through."""
    barrier = threading.Barrier(number, timeout=60)
    with use_threads(number):
        assert threads() == number
        run(lambda _: barrier.wait() and None, number)


def test_one_thread_is_the_caller():
    seen = set()
    with use_threads(1):
        run(lambda _: seen.add(threading.get_ident()), 10)
    assert seen == {threading.get_ident()}
    assert threads() == cores()


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_blocks_cover_everything_once(number, n):
    seen = []
    with use_threads(number):
        run_blocks(lambda first, last: seen.extend(range(first, last)), n)
    assert sorted(seen) == list(range(n))


def test_what_goes_wrong_in_a_thread_is_raised():
    def fail(i):
        raise ArithmeticError(i)

    with use_threads(2), pytest.raises(ArithmeticError):
        run(fail, 4)
