"""JSON without NaN, NumPy or dataclasses."""

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from doppeltrace.guarantee import Guarantee
from doppeltrace.plain import plain, to_json


@dataclass(frozen=True)
class Thing:
    size: float
    parts: tuple


def test_everything_that_a_manifest_may_hold():
    value = {
        "nan": float("nan"), "inf": np.float32("inf"), "int": np.int64(3), "flag": np.bool_(True),
        "array": np.array([1.5, np.nan]), "path": Path("a") / "b", "none": None,
        "when": datetime.datetime(2024, 1, 2, 3, 4), "thing": Thing(-np.inf, (1, {"x": 2.0})),
        5: "number", "text": "Ü",
    }  # fmt: skip
    expected = {
        "nan": None, "inf": None, "int": 3, "flag": True, "array": [1.5, None], "path": "a/b",
        "none": None, "when": "2024-01-02T03:04:00",
        "thing": {"size": None, "parts": [1, {"x": 2.0}]}, "5": "number", "text": "Ü",
    }  # fmt: skip
    assert plain(value) == expected
    assert json.loads(to_json(value)) == expected
    assert "NaN" not in to_json(value) and "Ü" in to_json(value)


def test_a_guarantee_comes_back():
    one = Guarantee.deniability(10, 1.0, 200)
    assert plain(one) == one.to_dict()
    assert Guarantee.from_dict(json.loads(to_json(one))) == one


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="object does not belong"):
        plain({"a": [object()]})
