"""Views that are not counted: two programs that once corrupted memory, and who may borrow."""

import ast
import subprocess
import sys
import textwrap

import pytest

from doppeltrace.engine import kernel as kernels
from doppeltrace.engine.views import stray_views

NESTED = """
    import numpy as np
    from numba import njit
    from doppeltrace.engine.kernel import kernel
    from doppeltrace.engine.views import unsafe_view

    @kernel
    def total(nested):
        nested = unsafe_view(nested)
        return nested[0][0].sum() + nested[1].sum()

    @kernel
    def totals(n):
        own = np.ones(n)
        found = 0.0
        for _ in range(3):
            found += total(((own,), own))
            other = np.full(n, 7.0)
            found += 0 * other[0]
        return found + own.sum()

    print(all(totals(n) == 7 * n for n in range(1, 300)))
"""
"""Arrays in a tuple inside a tuple were released once too often: the sum was of freed memory."""

OWN = """
    import numpy as np
    from numba import njit
    from doppeltrace.engine.kernel import kernel
    from doppeltrace.engine.views import unsafe_view

    @kernel
    def total(n):
        own = np.ones(n)
        view = unsafe_view(own)
        other = np.full(n, 7.0)
        return view.sum() + 0 * other[0]

    print(total(1000))
"""
"""`own` is freed before the view is summed, and `other` takes its place."""


def _run(program, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    return subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=300)


def test_arrays_in_nested_tuples_are_not_released_twice(tmp_path):
    done = _run(NESTED, tmp_path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_what_a_kernel_made_itself_cannot_be_borrowed(tmp_path):
    done = _run(OWN, tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert "program.py:10: total borrows what is not its argument" in done.stderr


def test_without_the_guard_the_second_program_sums_freed_memory(tmp_path):
    """What the guard is for: should Numba ever keep `own`, it can go."""
    done = _run(OWN.replace("@kernel\n", "@njit\n"), tmp_path)
    assert done.returncode != 0 or done.stdout != "1000.0\n"


@pytest.mark.parametrize(
    "body",
    [
        "y = unsafe_view(np.ones(3))",
        "x = np.ones(3)\n    y = unsafe_view(x)",
        "x = unsafe_view(x)\n    x += 1",
        "y = x\n    z = unsafe_view(y)",
        "borrow = unsafe_view\n    y = borrow(x)",
        "for x in range(3):\n        unsafe_view(x)",
        "g = lambda: unsafe_view(x)",
        "y, x = unsafe_view(x), 0",
    ],
)
def test_strays_are_seen(body):
    assert stray_views(ast.parse(f"def f(x):\n    {body}"))


@pytest.mark.parametrize(
    "body", ["x = unsafe_view(x)", "y = unsafe_view(x)", "return g(unsafe_view(x))"]
)
def test_arguments_may_be_borrowed(body):
    assert stray_views(ast.parse(f"def f(x):\n    {body}")) == []


def test_an_inlined_kernel_borrows_nothing():
    def inlined(x):
        return unsafe_view(x)  # noqa: F821

    with pytest.raises(TypeError, match="inlined"):
        kernels.kernel(inline="always")(inlined)


def test_only_arguments_are_borrowed_anywhere():
    package = kernels.kernel_files.__defaults__[0]
    files = sorted(package.rglob("*.py"))
    borrowing = [path for path in files if "unsafe_view(" in path.read_text("utf-8")]
    assert len(borrowing) >= 3  # the guard looks where there is something to see
    for path in borrowing:
        assert stray_views(ast.parse(path.read_text("utf-8"))) == [], path
