"""The innermost loops of the paper's chain, which Numba does not keep in registers by itself.

`add_clamped` is that of the row sums of Q*, in double precision; `bound_move` that of the
products that rule verifiers out, in single precision, rounded up.
"""
# mypy: ignore-errors

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from doppeltrace.chain._protocol import GROUP
from doppeltrace.chain.factor_chain import STEP

ROWS, PLACES = 4, 8
"""The weights of this many rows at this many places are added up in registers."""

SUMS = 2 if platform.machine().lower() in ("aarch64", "arm64") else 4
"""A row's sum is spread over this many numbers: the lanes of a vector of float64."""

_VECTOR = ir.VectorType(ir.DoubleType(), SUMS)
assert PLACES // SUMS in (2, 4), "the vectors of a row are added in pairs"

_QUAD = 4
"""Lanes of the vectors of float32; the members of a group fill two."""
assert GROUP == 2 * _QUAD, "a group's entries and products are taken in two vectors"
assert STEP % _QUAD == 0, "factors are taken four at a time"

_SINGLE = ir.VectorType(ir.FloatType(), _QUAD)
_DOUBLE = ir.VectorType(ir.DoubleType(), _QUAD)
_EPSILON = 2.0**-23  # twice the largest relative error of one rounding in single precision
_MOVE_ERROR = 1.0 + 32 * _EPSILON  # more than all roundings of a move after its two sums
_TINY = 1e-30  # more than what a move may lose to underflow in its last product

MIN_FLOOR = 1e-20
"""With smaller φ, less than the last product could underflow in single precision."""


def _at(builder, array, row, column):
    """Return a pointer to array[row, column] of a C-contiguous matrix."""
    columns = builder.extract_value(array.shape, 1)
    return builder.gep(array.data, [builder.add(builder.mul(row, columns), column)])


def _vector_at(builder, place):
    return builder.bitcast(place, _VECTOR.as_pointer())


def _spread(builder, value, kind=_VECTOR):
    """Return a vector with the value in every lane."""
    vector = ir.Constant(kind, ir.Undefined)
    vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), 0))
    return _pick(builder, vector, 0)


def _pick(builder, vector, lane):
    """Return a vector with one lane of the given one everywhere."""
    lanes = ir.VectorType(ir.IntType(32), vector.type.count)
    picked = ir.Constant(lanes, [lane] * vector.type.count)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), picked)


def _function(builder, name, kind, n_arguments):
    """Return LLVM's own function of so many arguments, all vectors of one kind."""
    of = "f32" if isinstance(kind.element, ir.FloatType) else "f64"
    signature = ir.FunctionType(kind, [kind] * n_arguments)
    return cgutils.get_or_insert_function(
        builder.module, signature, f"llvm.{name}.v{kind.count}{of}"
    )


@intrinsic
def add_clamped(typingctx, left, row, right_t, place, floor, sums):
    """Add Σ_p max(floor, Σ_k left[row + r, k] right_t[k, place + p]) to sums[row + r].

    r < ROWS, p < PLACES. left (·, Z), right_t (Z, ·), sums (·, SUMS) : C-contiguous float64, Z a
    multiple of STEP. A row's sum is spread over the columns of sums.
    """
    signature = types.void(left, types.intp, right_t, types.intp, types.float64, sums)

    def codegen(context, builder, signature, args):
        left, right_t, sums = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 5)
        )
        _, row, _, place, floor, _ = args
        rows = [builder.add(row, row.type(r)) for r in range(ROWS)]
        multiply_add = _function(builder, "fma", _VECTOR, 3)
        larger = _function(builder, "maxnum", _VECTOR, 2)
        zero = ir.Constant(_VECTOR, [0.0] * SUMS)
        weights = [
            [cgutils.alloca_once_value(builder, zero) for _ in range(0, PLACES, SUMS)]
            for _ in range(ROWS)
        ]
        factors = builder.extract_value(left.shape, 1)
        with cgutils.for_range(builder, builder.udiv(factors, row.type(STEP))) as loop:
            first = builder.mul(loop.index, row.type(STEP))
            for step in range(STEP):
                k = builder.add(first, row.type(step))
                start = _at(builder, right_t, k, place)
                others = [
                    builder.load(_vector_at(builder, builder.gep(start, [row.type(p)])), align=8)
                    for p in range(0, PLACES, SUMS)
                ]
                for r in range(ROWS):
                    factor = _spread(builder, builder.load(_at(builder, left, rows[r], k)))
                    for total, other in zip(weights[r], others, strict=True):
                        value = builder.call(multiply_add, [factor, other, builder.load(total)])
                        builder.store(value, total)
        least = _spread(builder, floor)
        for r in range(ROWS):
            there = _vector_at(builder, _at(builder, sums, rows[r], row.type(0)))
            parts = [builder.load(total) for total in weights[r]]
            parts = [builder.call(larger, [value, least]) for value in parts]
            while len(parts) > 1:
                parts = [builder.fadd(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
            builder.store(builder.fadd(builder.load(there, align=8), parts[0]), there, align=8)
        return context.get_dummy_value()

    return signature, codegen


def _entry(builder, tables, row, column):
    """Return a table's entry of the members of a group, in two vectors."""
    integer = row.type
    memory = builder.bitcast(tables.data, ir.FloatType().as_pointer())
    columns = builder.extract_value(tables.shape, 1)
    entry = builder.mul(builder.add(builder.mul(row, columns), column), integer(GROUP))
    places = (builder.gep(memory, [builder.add(entry, integer(m))]) for m in (0, _QUAD))
    return [builder.load(builder.bitcast(p, _SINGLE.as_pointer()), align=4) for p in places]


def _multiply(builder, products, part, factors):
    """Multiply the first half of the products, or the last, by the factors."""
    place = builder.gep(products.data, [ir.IntType(64)(_QUAD * part)])
    place = builder.bitcast(place, _DOUBLE.as_pointer())
    value = builder.fmul(builder.load(place, align=8), builder.fpext(factors, _DOUBLE))
    builder.store(value, place, align=8)


@intrinsic
def multiply_by_entry(typingctx, tables, row, column, products):
    """Multiply products (GROUP,) float64 by an entry of the tables, see `bound_move`."""
    signature = types.void(tables, types.intp, types.intp, products)

    def codegen(context, builder, signature, args):
        tables, products = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 3)
        )
        for part, factors in enumerate(_entry(builder, tables, args[1], args[2])):
            _multiply(builder, products, part, factors)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def bound_move(typingctx, left, right, tables, n_slots, slot, here, there, floor, products):
    """Multiply products (GROUP,) float64 by no less than Q(there | here) of the members.

    Q = min(F, G π(there) / π(here)); F = max(φ, Σ_k a_k left[here, k] right[there, k]) over the
    sum of its row, G the same with here and there exchanged. left, right (·, Z) : C-contiguous
    float32, Z a multiple of four. tables (L + 3 or more, ·, GROUP / 2) : C-contiguous float64,
    whose memory holds two float32 instead of each, see `_factor_kernels`. floor : φ, at least
    MIN_FLOOR.
    """
    signature = types.void(
        left, right, tables, types.intp, types.intp, types.intp, types.intp, types.float64,
        products,
    )  # fmt: skip

    def codegen(context, builder, signature, args):
        left, right, tables, products = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 1, 2, 8)
        )
        n_slots, slot, here, there, floor = args[3:8]
        integer = n_slots.type
        multiply_add = _function(builder, "fma", _SINGLE, 3)
        larger = _function(builder, "maxnum", _SINGLE, 2)
        magnitude = _function(builder, "fabs", _SINGLE, 1)
        single = ir.FloatType()

        def constant(value):
            return ir.Constant(_SINGLE, [value] * _QUAD)

        def load(array, row, column):
            place = builder.bitcast(_at(builder, array, row, column), _SINGLE.as_pointer())
            return builder.load(place, align=4)

        def both(row, column):
            return _entry(builder, tables, row, column)

        def variables(number):
            return [cgutils.alloca_once_value(builder, constant(0.0)) for _ in range(number)]

        pairs = ((here, there), (there, here))
        sums = [[variables(2), variables(2)] for _ in pairs]  # of even and odd k, by vector
        sizes = variables(len(pairs))  # Σ |left · right|
        factors = builder.extract_value(left.shape, 1)
        row_of_a = builder.add(n_slots, integer(1))
        with cgutils.for_range(builder, builder.udiv(factors, integer(_QUAD))) as loop:
            first = builder.mul(loop.index, integer(_QUAD))
            weights = []
            for size, (origin, goal) in zip(sizes, pairs, strict=True):
                weights.append(builder.fmul(load(left, origin, first), load(right, goal, first)))
                absolute = builder.call(magnitude, [weights[-1]])
                builder.store(builder.fadd(builder.load(size), absolute), size)
            for lane in range(_QUAD):
                a = both(row_of_a, builder.add(first, integer(lane)))
                for weight, totals in zip(weights, sums, strict=True):
                    factor = _pick(builder, weight, lane)
                    for part, total in zip(a, totals[lane % 2], strict=True):
                        value = builder.call(multiply_add, [factor, part, builder.load(total)])
                        builder.store(value, total)
        least = _spread(builder, builder.fptrunc(floor, single), _SINGLE)
        roundings = builder.sitofp(builder.add(factors, integer(8)), single)
        roundings = builder.fmul(roundings, ir.Constant(single, _EPSILON))
        largest_a = both(builder.add(n_slots, integer(2)), n_slots)
        proposals = []
        for size, totals, (origin, _) in zip(sizes, sums, pairs, strict=True):
            size = builder.load(size)
            lanes = [builder.extract_element(size, ir.IntType(32)(lane)) for lane in range(_QUAD)]
            while len(lanes) > 1:
                lanes = [builder.fadd(*pair) for pair in zip(lanes[::2], lanes[1::2], strict=True)]
            error = _spread(builder, builder.fmul(lanes[0], roundings), _SINGLE)
            proposals.append([])
            halves = zip(*totals, largest_a, both(n_slots, origin), strict=True)
            for even, odd, most, inverse in halves:
                weight = builder.fadd(builder.load(even), builder.load(odd))
                weight = builder.call(larger, [weight, least])
                weight = builder.call(multiply_add, [error, most, weight])
                proposals[-1].append(builder.fmul(weight, inverse))
        odds = zip(both(slot, there), both(slot, here), strict=True)
        for part, (pi_there, pi_here) in enumerate(odds):
            forward, backward = (proposal[part] for proposal in proposals)
            backward = builder.fmul(backward, builder.fdiv(pi_there, pi_here))
            below = builder.fcmp_ordered("<", backward, forward)
            step = builder.select(below, backward, forward)
            step = builder.call(multiply_add, [step, constant(_MOVE_ERROR), constant(_TINY)])
            _multiply(builder, products, part, step)
        return context.get_dummy_value()

    return signature, codegen
