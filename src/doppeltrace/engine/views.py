"""Arrays without reference counts, for the inner loops of kernels.

Numba counts references to every array that one compiled function hands to another, or takes
out of a tuple, with atomic instructions. In loops of a few nanoseconds these cost more than the
work, and threads that share an array wait for one another. A kernel that owns or was given its
arrays may look at them through unsafe_view views instead.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def unsafe_view(typingctx, value):
    """Return an array, or a tuple with its arrays, that is not counted as a reference.

    The owner must outlive it: do not return or store it. Numba frees an array after the last
    use of its own name, so a function that borrows what it made itself must use that name, too,
    in the loop in which the view is used, or after it.
    """
    if not isinstance(value, (types.Array, types.BaseTuple)):
        raise TypeError("only arrays and tuples can be unsafe_view")

    def codegen(context, builder, signature, args):
        if isinstance(value, types.Array):
            return _uncounted(context, builder, value, args[0])
        result = args[0]
        for position, kind in enumerate(value.types):
            if isinstance(kind, types.Array):
                array = builder.extract_value(result, position)
                array = _uncounted(context, builder, kind, array)
                result = builder.insert_value(result, array, position)
        return result

    return value(value), codegen


def _uncounted(context, builder, kind, value):
    """Return the array structure without the memory block to which references are counted."""
    array = context.make_array(kind)(context, builder, value=value)
    nobody = ir.Constant(cgutils.voidptr_t, None)
    array.meminfo = nobody
    array.parent = nobody
    return array._getvalue()
