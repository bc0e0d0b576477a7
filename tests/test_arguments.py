"""Types of arguments, checked by their annotations."""

from typing import Any, Literal

import numpy as np
import pytest

from doppeltrace.arguments import checked
from doppeltrace.errors import SettingsError


@checked
def call(
    whole: int = 0,
    number: float = 0.0,
    switch: bool = False,
    maybe: int | None = None,
    word: str = "",
    pair: int | tuple[int, int] = 0,
    choice: Literal["a", "b"] = "a",
    free: Any = None,
) -> tuple[Any, ...]:
    return whole, number, switch, maybe, word, pair, choice, free


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"whole": np.int32(3)}, 3),
        ({"number": 2}, 2),
        ({"number": np.float32(0.5)}, 0.5),
        ({"number": float("inf")}, float("inf")),
        ({"switch": np.True_}, True),
        ({"maybe": None}, None),
        ({"maybe": 4}, 4),
        ({"word": "x"}, "x"),
        ({"pair": [1, 2]}, (1, 2)),
        ({"pair": (np.int64(1), 2)}, (1, 2)),
        ({"choice": "b"}, "b"),
        ({"free": object}, object),
    ],
)
def test_what_fits_comes_as_pythons_own(given, found):
    (name,) = given
    got = call(**given)[list(call.__wrapped__.__annotations__).index(name)]
    assert got == found and type(got) is type(found)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"whole": "8"}, "whole must be a whole number, not '8'"),
        ({"whole": 8.0}, "whole must be a whole number, not 8.0"),
        ({"whole": True}, "whole must be a whole number, not True"),
        ({"whole": None}, "whole must be a whole number, not None"),
        ({"number": "1"}, "number must be a number, not '1'"),
        ({"number": float("nan")}, "number must be a number, not nan"),
        ({"number": np.nan}, "number must be a number, not nan"),
        ({"number": False}, "number must be a number, not False"),
        ({"switch": 1}, "switch must be True or False, not 1"),
        ({"maybe": 1.5}, "maybe must be a whole number or None, not 1.5"),
        ({"word": 1}, "word must be a text, not 1"),
        (
            {"pair": (1, 2, 3)},
            r"whole number or \(a whole number, a whole number\)",
        ),
        ({"choice": "c"}, "choice must be one of 'a', 'b', not 'c'"),
        ({"whole": "x" * 500}, "x…$"),
    ],
)
def test_what_does_not_fit_is_named(wrong, message):
    with pytest.raises(SettingsError, match=message):
        call(**wrong)


def test_a_misspelt_argument_is_pythons_to_name():
    with pytest.raises(TypeError, match="unexpected keyword argument 'hole'"):
        call(hole=1)
