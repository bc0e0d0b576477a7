"""Arrays without reference counts, for the inner loops of kernels.

Numba counts references to every array that one compiled function hands to another, or takes
out of a tuple, with atomic instructions. In loops of a few nanoseconds these cost more than the
work, and threads that share an array wait for one another. A kernel may look at its own
*arguments* through views that are not counted: whoever called it holds on to them until it
returns. An array that the kernel itself made has no such holder, since Numba frees it after the
last use of its name. So the outer kernel allocates and calls, the inner one borrows, and
`@kernel` refuses anything else.
"""
# mypy: ignore-errors

import ast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

_PLAIN = (types.Number, types.Boolean, types.Literal, types.NoneType)


@intrinsic
def unsafe_view(typingctx, value):
    """Return an argument of the kernel, an array or tuple, of which no reference is counted.

    Tuples may hold arrays, numbers and such tuples. Do not return or store the view.
    """
    _require_viewable(value)

    def codegen(context, builder, signature, args):
        return _uncounted(context, builder, value, args[0])

    return value(value), codegen


def _require_viewable(kind):
    if isinstance(kind, types.BaseTuple):
        for part in kind.types:
            _require_viewable(part)
    elif not isinstance(kind, (types.Array, *_PLAIN)):
        raise TypingError(f"unsafe_view takes arrays, numbers and tuples of these, not {kind}")


def _uncounted(context, builder, kind, value):
    """Return the value with every array in it cut off from the memory block that is counted."""
    if isinstance(kind, types.BaseTuple):
        for position, part in enumerate(kind.types):
            view = _uncounted(context, builder, part, builder.extract_value(value, position))
            value = builder.insert_value(value, view, position)
    elif isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo = array.parent = ir.Constant(cgutils.voidptr_t, None)
        value = array._getvalue()
    return value


def stray_views(tree: ast.AST) -> list[int]:
    """Return the lines of a file or function that borrow anything but an argument.

    An argument's name must stand for the argument throughout its function: only
    `x = unsafe_view(x)` may assign to it.
    """
    fair = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            fair |= _fair_views(function)
    return sorted(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "unsafe_view" and node not in fair
    )


def _fair_views(function: ast.FunctionDef) -> set[ast.Name]:
    """Return the mentions of `unsafe_view` in a function that are calls with an argument of it."""
    body = list(_own_nodes(function))
    calls = {
        node: node.args[0].id
        for node in body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "unsafe_view" and len(node.args) == 1
        if isinstance(node.args[0], ast.Name)
    }
    harmless = {
        node.targets[0]
        for node in body
        if isinstance(node, ast.Assign) and len(node.targets) == 1
        if isinstance(node.targets[0], ast.Name)
        if node.value in calls and calls[node.value] == node.targets[0].id
    }
    arguments = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    for node in body:
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            if node not in harmless:
                arguments.discard(node.id)
    return {call.func for call, name in calls.items() if name in arguments}


def _own_nodes(function):
    """Yield the nodes of a function's body, but not of functions inside it."""
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
