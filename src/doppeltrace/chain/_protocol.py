"""What kernels ask of a chain, whatever its kind: eight functions, resolved at compile time.

A *chain* is a NamedTuple of arrays. Each function below is a name only; a file per kind of
chain (`_factor_kernels.py`, `_base_kernels.py`) gives it a body with
`numba.extending.overload`, chosen by the NamedTuple's class. One sampling kernel and one
deniability kernel thus serve every chain. Probabilities are float64. `scratch` is a float64
array of `scratch_shape`, for draws or for probabilities, which belongs to one user at a time.
"""

from numba import njit, types

from doppeltrace._stream_kernels import uniform


def is_chain(chain, kind: type) -> bool:
    """Tell, at compile time, whether a Numba type is the NamedTuple class `kind`."""
    return isinstance(chain, types.BaseNamedTuple) and chain.instance_class is kind


def scratch_shape(chain, for_draws):
    """Return the shape of the scratch for draws, or for probabilities."""
    raise TypeError


def prepare(chain, user, scratch):
    """Forget what scratch holds of another user; call before anything else for this user."""
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


def stay_probability(chain, user, slot, here, scratch):
    """Return Q_{n,slot}(here | here)."""
    raise TypeError


def known_stay(chain, slot, here, scratch):
    """Return Q_{n,slot}(here | here) if scratch holds it already, else NaN."""
    raise TypeError


@njit(cache=True, inline="always")
def accepts(forward, backward, state):
    """Accept a proposal with probability min(1, backward / forward), eq. (bmQ_ni).

    forward = π(here) Q*(there | here), backward = π(there) Q*(here | there), both up to one
    common factor.
    """
    return uniform(state) * forward < backward
