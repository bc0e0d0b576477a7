"""What kernels ask of a model, whatever its kind: seven functions, resolved at compile time.

A *model* is a NamedTuple of arrays. Each function below is a name only; a file per kind of
model (`_factor_kernels.py`) gives it a body with `numba.extending.overload`, chosen by the
NamedTuple's class. One Metropolis–Hastings kernel and one deniability kernel thus serve every
model. Probabilities are float64; `scratch` belongs to one user at a time.
"""

from numba import types


def is_model(model, kind: type) -> bool:
    """Tell, at compile time, whether a Numba type is the NamedTuple class `kind`."""
    return isinstance(model, types.BaseNamedTuple) and model.instance_class is kind


def scratch_size(model):
    """Return how many floats of scratch the functions below need."""
    raise TypeError


def prepare(model, user, scratch):
    """Forget what scratch holds of another user; call before anything else for this user."""
    raise TypeError


def proposal(model, user, origin, destination, scratch):
    """Return Q*_n(destination | origin)."""
    raise TypeError


def proposal_row(model, user, origin, scratch, out):
    """Write Q*_n(· | origin) to out (X,)."""
    raise TypeError


def draw_proposal(model, user, origin, scratch, buffer, state):
    """Draw a destination from Q*_n(· | origin); buffer (X,) is free to use."""
    raise TypeError


def visit(model, user, slot, place):
    """Return π_{n,slot}(place), not normalised."""
    raise TypeError


def draw_visit(model, user, slot, buffer, state):
    """Draw a place from π_{n,slot}; buffer (X,) is free to use."""
    raise TypeError
