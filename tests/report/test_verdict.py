"""The verdict follows the rules that the page states."""

import pytest

from doppeltrace.report.internal.verdict import judge

FINE = {
    "account": {"k": 10, "eta": 1.0, "made": 100, "released": 80, "randomized": False},
    "privacy": {
        "reidentification": {"rate": 0.01, "low": 0.005, "high": 0.05, "chance": 0.002},
        "membership": {"advantage": 0.05, "low": 0.0, "high": 0.1, "chance_high": 0.05},
        "copies": {"whole": 0.02},
        "test_copies": {"whole": 0.01},
        "still": 0.1,
    },
}


def changed(part, **values):
    found = {name: dict(value) for name, value in FINE.items()}
    if part == "account":
        found["account"] |= values
    else:
        found["privacy"][part] = {**FINE["privacy"][part], **values}
    return found


def level(found, title):
    return next(r.level for r in judge(found).reasons if r.title.startswith(title))


def test_all_is_fine():
    verdict = judge(FINE)
    assert verdict.level == "green" and {r.level for r in verdict.reasons} == {"green"}
    assert len(verdict.reasons) == 4


@pytest.mark.parametrize(
    ("part", "values", "title", "expected"),
    [
        ("account", {"k": 9}, "Deniability", "amber"),
        ("account", {"eta": 1.5}, "Deniability", "amber"),
        ("account", {"k": None}, "Deniability", "red"),
        ("reidentification", {"high": 0.051}, "Re-identification", "amber"),
        ("reidentification", {"high": 0.21}, "Re-identification", "red"),
        ("membership", {"advantage": 0.051}, "Membership", "amber"),
        ("membership", {"advantage": 0.5, "low": 0.21}, "Membership", "red"),
        ("copies", {"whole": 0.021}, "Whole copies", "amber"),
        ("copies", {"whole": 0.3}, "Whole copies", "red"),
        ("copies", {"whole": 0.0}, "Whole copies", "green"),
    ],
)
def test_each_rule(part, values, title, expected):
    found = changed(part, **values)
    assert level(found, title) == expected
    assert judge(found).level == expected


def test_many_copies_are_fine_where_they_are_ordinary():
    found = changed("copies", whole=0.5)
    found["privacy"]["test_copies"] = {"whole": None}
    assert any("no testing user's trace is as long" in one.text for one in judge(found).reasons)
    found["privacy"]["test_copies"] = {"whole": 0.4}
    assert level(found, "Whole copies") == "green"


def test_what_was_not_measured_is_not_fine():
    found = {"account": FINE["account"], "privacy": {**FINE["privacy"], "membership": None}}
    assert level(found, "Membership") == "amber"
    assert "--split" in judge(found).reasons[2].text


def test_the_rate_stands_beside_blind_guessing():
    text = judge(FINE).reasons[1].text.replace("\u00a0", " ")
    assert "5.0 times what blind guessing gets (0.20 %)" in text


def test_nothing_is_held_back_if_all_passed():
    assert "80\u00a0% of the traces made passed" in judge(FINE).reasons[0].text
    text = judge(changed("account", released=100)).reasons[0].text
    assert "All traces that were made passed." in text and "held back" not in text


def test_nothing_to_publish():
    assert "nothing to publish" in judge(changed("account", released=0)).sentence
