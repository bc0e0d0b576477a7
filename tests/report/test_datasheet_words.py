"""Sentences of the public page that depend on what there is to say."""

import pytest

from doppeltrace.report.public import publication
from doppeltrace.report.public.datasheet import _source
from doppeltrace.report.public.sections import _moving


def test_hours_that_hardly_differ_are_no_finding():
    assert "It is nearly the same all day: from 23\u00a0% to 24\u00a0%." in _moving(
        {9: 0.233, 10: 0.24, 11: 0.23}
    )
    assert "move most between 10:00" in _moving({9: 0.2, 10: 0.24})


@pytest.mark.parametrize(
    ("model", "test", "words"),
    [
        ("doppel", True, "Model: Doppel (doppeltrace); protocol and deniability test after T. Mu"),
        ("sgd", True, "Model: SGD; protocol and deniability test after T. Murakami"),
        ("sgd", False, "Model: SGD; protocol after T. Murakami"),
        ("ppmtf", True, "Method: T. Murakami"),
        ("itf", False, "Method: T. Murakami"),
    ],
)
def test_whose_method_it_is(model, test, words):
    tested = publication.Test(10, 1.0) if test else None
    method = publication.Method(model, (), tested)
    assert _source(method).startswith(words)
