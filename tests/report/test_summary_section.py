"""The four answers at the top of the page."""

import re
from dataclasses import replace

import numpy as np
import pytest

from doppeltrace.report.internal.summary_section import in_short, together


@pytest.fixture(scope="module")
def values(found):
    return found.to_dict()


def answers(values):
    """Return the four answers as text, without markup."""
    verdict, *rows = re.findall(r"<p[^>]*>(.*?)</p>|<dd>(.*?)</dd>", in_short(values))
    return [re.sub("<[^>]*>", "", "".join(x)).replace("\u00a0", " ") for x in (verdict, *rows)]


def test_what_must_be_weighed_is_named(values):
    assert len(answers(values)) == 4
    none = {**values, "privacy": {**values["privacy"], "membership": None}}
    assert "marked “look”: " in answers(none)[0] and "membership not measured" in answers(none)[0]
    untested = {**values, "account": {**values["account"], "k": None}}
    assert answers(untested)[0] == "✕ Do not publish these traces as they are: deniability test."


def test_every_property_stands_in_one_list(values):
    text = answers(values)[1]
    for loss in values["losses"]:
        assert text.lower().count(loss["plain"].partition(",")[0].lower()) >= 1
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
    account = values["account"]
    assert answers(values)[3] == (
        f"{account['released']} synthetic traces released, of 240 that Doppel made from 120 "
        "users; the others failed the deniability test (k = 10, η = 1). 36 places, 36 time slots."
    )
    all_passed = {**values, "account": {**account, "made": account["released"]}}
    assert "; all passed the deniability test (k = 10" in answers(all_passed)[3]
    untested = {**values, "account": {**account, "k": None}}
    assert "; no deniability test was made." in answers(untested)[3]


def test_nothing_released(small_run):
    account = replace(small_run.find().account, released=0)
    nothing = small_run.released.select(np.zeros(0, dtype=int))
    found = small_run.find(released=nothing, score=None, account=account)
    verdict, lost, groups, _ = answers(found.to_dict())
    assert verdict.startswith("! There is nothing to publish")
    assert "nothing to score" in lost and "nothing to compare" in groups
