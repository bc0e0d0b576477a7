"""The four answers at the top of the page."""

import re
from dataclasses import replace

import numpy as np
import pytest

from doppeltrace.report.internal.summary_section import answers as page_answers
from doppeltrace.report.internal.summary_section import together
from doppeltrace.report.internal.verdict import judge
from report_run import UNTESTED, VACUOUS, differential


@pytest.fixture(scope="module")
def values(found):
    return found.to_dict()


def answers(values):
    """Return the four answers as text."""
    rows = [
        " ".join(f"{line.strong} {line.text}".strip() for line in answer.lines)
        for answer in page_answers(values)
    ]
    return [text.replace("\u00a0", " ") for text in (judge(values).headline, *rows)]


def test_what_must_be_weighed_is_named(values):
    assert len(answers(values)) == 4
    none = {**values, "privacy": {**values["privacy"], "membership": None}}
    assert "marked “look”: " in answers(none)[0] and "membership not measured" in answers(none)[0]
    untested = {**values, "run": {**values["run"], "guarantee": UNTESTED.to_dict()}}
    assert answers(untested)[0] == "Do not publish these traces as they are: no guarantee."


def test_the_summary_comes_first_and_long_lists_are_cut(values):
    text = answers(values)[1]
    assert re.match(r"\d[\d.]* % of the way from trivial traces to real ones: where people", text)
    for word in {row["verdict"] for row in values["losses"]}:
        assert f"{word.capitalize()}: " in text
    rows = [{"plain": f"N{i}", "verdict": "lost"} for i in range(6)]
    many = answers({**values, "losses": rows})[1]
    assert many.endswith("Lost: n0; n1; n2; n3; and 2 more.")
    nothing = answers({**values, "summary": dict.fromkeys(values["summary"])})[1]
    assert nothing.startswith("These data cannot tell")
    assert "Compared with the training users" not in text
    assert "Compared with the training users" in answers({**values, "reference": "training"})[1]


def test_names_that_differ_after_a_comma_are_one_where_they_agree():
    rows = [{"plain": name} for name in ("Next, east", "Next, north", "Now", "When, daily")]
    assert together(["Next, east", "Next, north", "When, daily"], rows) == ["Next", "When, daily"]
    assert together(["Next, east", "Now"], rows) == ["Next, east", "Now"]


def test_groups(values):
    text = answers(values)[2]
    assert text.startswith("3, which overlap; ")
    for cluster in values["clusters"]:
        assert cluster["name"].lower() in text.lower() and cluster["verdict"] in text
    many = {**values, "clusters": [{"name": f"N{i}", "verdict": "lost"} for i in range(9)]}
    assert answers(many)[2] == "9, which overlap; all lost in the traces. N0; n1; n2; n3; n4; …"
    many["clusters"][4]["verdict"] = "survived"
    assert answers(many)[2].startswith("9, which overlap; 8 lost, 1 survived in the traces. N0;")
    assert answers({**values, "clusters": None})[2] == "This model names no groups of users."


def test_how_it_was_made(values, small_run):
    run = values["run"]
    assert answers(values)[3] == (
        f"{run['released']} synthetic traces released, of 240 that Doppel made from 120 "
        "users; the others failed the deniability test (k = 10, η = 1). 36 places, 36 time slots."
    )
    all_passed = {**values, "run": {**run, "made": run["released"]}}
    assert "; all passed the deniability test (k = 10" in answers(all_passed)[3]
    for guarantee, words in (
        (UNTESTED, "; no guarantee. 36 places"),
        (VACUOUS, "deniability, which says nothing here. 36 places"),
        (differential(1.0), "; with ε = 1. 36 places"),
    ):
        told = {**values, "run": {**run, "guarantee": guarantee.to_dict()}}
        assert words in answers(told)[3]


def test_nothing_released(small_run):
    summary = replace(small_run.find().run, released=0)
    nothing = small_run.released.select(np.zeros(0, dtype=int))
    found = small_run.find(released=nothing, score=None, run=summary)
    verdict, lost, groups, _ = answers(found.to_dict())
    assert verdict.startswith("There is nothing to publish")
    assert "nothing to score" in lost and "nothing to compare" in groups
