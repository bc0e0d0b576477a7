"""The verdict follows the rules that the page states."""

import copy

import pytest

from doppeltrace.report.internal.verdict import RULES, judge
from report_run import AUDIT, UNTESTED, VACUOUS, deniability, differential

FINE = {
    "run": {"guarantee": deniability().to_dict(), "made": 100, "released": 80},
    "privacy": {
        "reidentification": {"rate": 0.01, "low": 0.005, "high": 0.05, "chance": 0.002},
        "membership": {
            "advantage": 0.05, "low": 0.0, "high": 0.1, "chance": 0.03, "chance_high": 0.05,
        },
        "copies": {"whole": 0.02},
        "test_copies": {"whole": 0.01},
        "still": 0.1,
    },
    "audit": AUDIT,
}  # fmt: skip
CANARY = "always at a rare place"


def changed(*path, **values):
    """Return what is fine, with some values below a path replaced."""
    found = copy.deepcopy(FINE)
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = {**at[path[-1]], **values}
    return found


def with_guarantee(guarantee):
    return changed("run", guarantee=guarantee.to_dict())


def reason(found, title):
    return next(r for r in judge(found).reasons if r.title.startswith(title))


def test_all_is_fine():
    verdict = judge(FINE)
    assert verdict.level == "green" and {r.level for r in verdict.reasons} == {"green"}
    assert len(verdict.reasons) == 7
    assert verdict.headline == verdict.sentence


@pytest.mark.parametrize(
    ("path", "values", "title", "expected"),
    [
        ("privacy reidentification", {"high": 0.051}, "Re-identification", "amber"),
        ("privacy reidentification", {"high": 0.21}, "Re-identification", "red"),
        ("privacy membership", {"advantage": 0.051}, "Membership", "amber"),
        ("privacy membership", {"advantage": 0.5, "low": 0.21}, "Membership", "red"),
        ("privacy copies", {"whole": 0.021}, "Whole copies", "amber"),
        ("privacy copies", {"whole": 0.3}, "Whole copies", "red"),
        ("privacy copies", {"whole": 0.0}, "Whole copies", "green"),
        ("audit level0", {"rare_places": 2}, "Places of few", "amber"),
        ("audit level0", {"rare_places": 2, "places_of_one": 1}, "Places of few", "red"),
        ("audit level0", {"rare_places": 2, "places_of_nobody": 2}, "Places of few", "green"),
        ("audit level0", {"derived": ["the box"]}, "Derived", "amber"),
        (f"audit canaries {CANARY}", {"epsilon": 2.0}, "Canaries", "red"),
        (f"audit canaries {CANARY}", {"epsilon": 1.9}, "Canaries", "amber"),
        (f"audit canaries {CANARY}", {"epsilon": 0.1}, "Canaries", "amber"),
        ("audit lira", {"exceeds_null": True}, "LiRA", "amber"),
        ("audit", {"level": "amber", "reasons": ["8 runs are too few"]}, "Audit", "amber"),
        ("run", {"min_users": 1}, "Rare places let through", "red"),
        ("run", {"min_users": 5}, "Canaries", "green"),
    ],
)
def test_each_rule(path, values, title, expected):
    found = changed(*path.split(" ", 2), **values)
    assert reason(found, title).level == expected
    assert judge(found).level == expected


@pytest.mark.parametrize(
    ("guarantee", "title", "expected"),
    [
        (deniability(9), "Plausible deniability", "amber"),
        (deniability(10, 1.5), "Plausible deniability", "amber"),
        (UNTESTED, "No guarantee", "red"),
        (VACUOUS, "Plausible deniability", "red"),
        (differential(1.0), "Differential privacy", "green"),
        (differential(3.0), "Differential privacy", "amber"),
        (differential(11.0), "Differential privacy", "red"),
    ],
)
def test_what_is_promised(guarantee, title, expected):
    found = with_guarantee(guarantee)
    assert reason(found, title).level == judge(found).level == expected


def test_a_vacuous_promise_gives_its_reason_and_no_pass_rate():
    text = reason(with_guarantee(VACUOUS), "Plausible").text
    assert "says nothing here. Every user gives every trace the same likelihood." in text
    assert "passed" not in text and "%" not in text


def test_differential_privacy_takes_the_place_of_the_test():
    text = reason(with_guarantee(differential(1.0)), "Differential").text
    assert text.startswith("ε = 1, δ = 1e-06 for one user with all of their data. Noise.")
    assert text.endswith("The deniability test does not apply.")


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (("lira",), "level 2"),
        (("canaries", "lira"), "levels 1 and 2"),
        (("level0", "canaries", "lira"), "levels 0, 1 and 2"),
    ],
)
def test_green_only_with_a_full_audit(missing, words):
    found = {**FINE, "audit": {n: v for n, v in AUDIT.items() if n not in missing}}
    assert judge(found).level == "amber"
    assert f"was not run at {words}," in reason(found, "Not audited").text
    if len(missing) == 3:
        assert judge({**FINE, "audit": None}) == judge(found)
    assert any("green only if the audit was run at levels 0, 1 and 2" in rule for rule in RULES)


def test_many_copies_are_fine_where_they_are_ordinary():
    found = changed("privacy", copies={"whole": 0.5}, test_copies={"whole": 0.4})
    assert reason(found, "Whole copies").level == "green"


@pytest.mark.parametrize("whole", [0.0, 0.5])
def test_a_check_that_cannot_find_anything_is_not_fine(whole):
    found = changed("privacy", copies={"whole": whole}, test_copies={"whole": None})
    copies = reason(found, "Whole copies")
    assert copies.level == "unknown" and copies.text.startswith("Not measurable")
    assert judge(found).level == "green"  # neither for nor against


def test_what_was_not_measured_is_not_fine():
    found = changed("privacy", membership=None)
    assert reason(found, "Membership").level == "amber"
    assert "--split" in reason(found, "Membership").text


def test_figures_stand_beside_chance():
    assert "5.0 times what blind guessing gets (0.20\u00a0%)" in reason(FINE, "Re-id").text
    text = reason(FINE, "Membership").text.replace("\u00a0", " ")
    assert text.startswith("With all 80 released traces")
    assert "chance alone gives 3.0 % on average and reaches 5.0 % one time in twenty" in text


def test_nothing_is_held_back_if_all_passed():
    assert "80\u00a0% of the traces made passed" in judge(FINE).reasons[0].text
    text = judge(changed("run", released=100)).reasons[0].text
    assert "All traces that were made passed." in text and "held back" not in text


def test_nothing_to_publish():
    assert "nothing to publish" in judge(changed("run", released=0)).sentence


def test_lines_for_a_terminal():
    found = changed("audit", "lira", auc=0.68, exceeds_null=True)
    first, *rest = judge(found).to_lines()
    assert first == "! Publish only after weighing what is marked “look”."
    assert len(rest) == 7 and not any("\u00a0" in line or "\n" in line for line in rest)
    (lira,) = (line for line in rest if "LiRA" in line)
    assert lira.startswith("  ! look") and "AUC of 0.68 (with shuffled labels 0.50)" in lira
