"""Arguments of the wrong type, refused by name: one decorator that reads the annotations."""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from doppeltrace.errors import SettingsError

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_VALUE = 40
"""Characters of a wrong value that a message repeats."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with a check of every argument against its annotation.

    Known are int, float, bool, str, None, literals, tuples and unions of them; an argument with
    any other annotation passes as it is. NumPy's numbers become Python's, and lists become
    tuples where tuples are asked for. True is not a whole number, and NaN is not a number.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def with_checks(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # Python's own words are the best here
        hints = _hints(function)
        for name, value in bound.arguments.items():
            if name in hints:
                bound.arguments[name] = fitting(name, value, hints[name])
        return function(*bound.args, **bound.kwargs)

    return with_checks


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of the function's arguments, except those nobody can resolve."""
    try:
        hints = get_type_hints(function)
    except NameError:
        return {}
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters
    return {n: h for n, h in hints.items() if n in parameters and parameters[n].kind in plain}


def fitting(name: str, value: Any, hint: Any) -> Any:
    """Return the value as the annotation asks for it, or raise `SettingsError` with its name."""
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for option in options:
        fits, found = _try(value, option)
        if fits:
            return found
    shown = repr(value)
    if len(shown) > LONGEST_VALUE:
        shown = f"{shown[:LONGEST_VALUE]}…"
    raise SettingsError(f"{name} must be {' or '.join(map(_words, options))}, not {shown}")


def _try(value: Any, kind: Any) -> tuple[bool, Any]:
    """Return whether a value is of a kind, and the value as Python's own type."""
    is_bool = isinstance(value, bool | np.bool_)
    if kind is types.NoneType:
        return value is None, None
    if kind is bool:
        return is_bool, bool(value) if is_bool else value
    if kind is int:
        fits = isinstance(value, int | np.integer) and not is_bool
        return fits, int(value) if fits else value
    if kind is float:
        fits = isinstance(value, int | float | np.integer | np.floating) and not is_bool
        fits = fits and not math.isnan(value)
        return fits, float(value) if fits and isinstance(value, np.generic) else value
    if kind is str:
        return isinstance(value, str), value
    if get_origin(kind) is Literal:
        return any(
            value is v or (type(value) is type(v) and value == v) for v in get_args(kind)
        ), (value)
    if get_origin(kind) is tuple and Ellipsis not in get_args(kind):
        parts = get_args(kind)
        if not isinstance(value, tuple | list) or len(value) != len(parts):
            return False, value
        tried = [_try(v, part) for v, part in zip(value, parts, strict=True)]
        return all(fits for fits, _ in tried), tuple(found for _, found in tried)
    return True, value  # a kind that is checked elsewhere


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    if get_origin(kind) is tuple:
        return f"({', '.join(map(_words, get_args(kind)))})"
    words = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}
    return "None" if kind is types.NoneType else words.get(kind, "something else")
