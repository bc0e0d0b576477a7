"""What kernels ask of a chain, whatever its kind: a dozen functions, resolved at compile time.

A *chain* is a NamedTuple of arrays. Each function below is a name only; a file per kind of
chain (`_factor_kernels.py`, `_base_kernels.py`) gives it a body with
`numba.extending.overload`, chosen by the NamedTuple's class. One sampling kernel and one
deniability kernel thus serve every chain. Probabilities are float64. `scratch` is a float64
array of the shape for one purpose (`DRAWS`, `FEW` or `MANY`), which belongs to one user at a
time. `tables`, float64 too, hold what is needed of `GROUP` users at once, side by side, so that
one pass over a trace serves them all.
"""
# mypy: ignore-errors

import math

from numba import types
from numba.extending import overload

from doppeltrace._stream_kernels import uniform
from doppeltrace.engine.kernel import kernel

DRAWS, FEW, MANY = range(3)
"""What scratch is for: draws, or the probabilities of a few or of many traces of a user."""


GROUP = 8
"""Users whose probabilities of a trace are multiplied together, in vectors."""


ONLY_BOUNDS: set[type] = set()
"""Kinds of chain whose products are no less than the probabilities, but maybe more."""


def is_chain(chain, kind: type) -> bool:
    """Tell, at compile time, whether a Numba type is the NamedTuple class `kind`."""
    return isinstance(chain, types.BaseNamedTuple) and chain.instance_class is kind


def scratch_shape(chain, purpose):
    """Return the shape of the scratch for a purpose."""
    raise TypeError


def prepare(chain, user, scratch):
    """Make scratch this user's; call before anything else for this user."""
    raise TypeError


def draw_first(chain, user, slot, scratch, state):
    """Draw a place from π_{n,slot}."""
    raise TypeError


def draw_next(chain, user, slot, here, scratch, state):
    """Draw the next place from Q_{n,slot}(· | here)."""
    raise TypeError


def first_probability(chain, user, slot, place, scratch):
    """Return π_{n,slot}(place)."""
    raise TypeError


def move_probability(chain, user, slot, here, there, scratch):
    """Return Q_{n,slot}(there | here), there ≠ here."""
    raise TypeError


def log_stay(chain, user, slot, here, scratch):
    """Return ln Q_{n,slot}(here | here)."""
    raise TypeError


def known_log_stay(chain, slot, here, scratch):
    """Return ln Q_{n,slot}(here | here) if scratch holds it already, else NaN."""
    raise TypeError


def tables_shape(chain):
    """Return the shape of the tables, of three axes."""
    raise TypeError


def tabulate(chain, user, member, scratch, tables):
    """Copy what the products need of a user, prepared in scratch, to a member's tables."""
    raise TypeError


def begin_products(chain, slot, place, tables, products):
    """Write π_{m,slot}(place) of every member m to products (GROUP,)."""
    raise TypeError


def multiply_by_move(chain, slot, here, there, tables, products):
    """Multiply products (GROUP,) by Q_{m,slot}(there | here) of every member, there ≠ here."""
    raise TypeError


def only_bounds(chain):
    """Tell, at compile time, whether products of a Numba type can only rule a user out."""
    return chain.instance_class in ONLY_BOUNDS


def multiply_by_stay(chain, slot, here, tables, products):
    """Multiply products by no less than Q_{m,slot}(here | here) of every member.

    At most 1, and less where the tables know better. This and `tabulate_stays` are for chains
    whose products are bounds only.
    """
    raise TypeError


def tabulate_stays(chain, here, member, scratch, tables):
    """Copy the probabilities to stay here, which scratch holds, to a member's tables."""
    raise TypeError


@overload(multiply_by_stay)
def _no_stay(chain, slot, here, tables, products):
    return None if only_bounds(chain) else lambda chain, slot, here, tables, products: None


@overload(tabulate_stays)
def _no_stays(chain, here, member, scratch, tables):
    return None if only_bounds(chain) else lambda chain, here, member, scratch, tables: None


@kernel
def log_probability(probability):
    """Return ln p ≤ 0: rounding may lift a probability above one, and must not lift a bin."""
    return math.log(min(probability, 1.0))


@kernel
def accepts(forward, backward, state):
    """Accept a proposal with probability min(1, backward / forward), eq. (bmQ_ni).

    forward = π(here) Q*(there | here), backward = π(there) Q*(here | there), both up to one
    common factor.
    """
    return uniform(state) * forward < backward
