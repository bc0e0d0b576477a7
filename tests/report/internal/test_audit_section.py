"""The audit on the page: in words, in tables, and absent where it was not run."""

from doppeltrace.report.internal.audit_section import audit_view
from doppeltrace.report.internal.page import render
from report_run import AUDIT


def test_the_worst_canary_comes_first():
    heavy = {"shown_in": 0.3, "shown_out": 0.1, "epsilon": 0.3}
    view = audit_view({**AUDIT, "canaries": {**AUDIT["canaries"], "<b>heavy</b> user": heavy}})
    assert [name for name, *_ in view.canaries] == ["<b>heavy</b> user", "always at a rare place"]
    assert view.canaries[0][1:] == ("30\u00a0%", "10\u00a0%", "0.3")
    assert view.lira[0] == ("area under the curve (AUC)", "0.510", "0.500")
    assert view.curve and len(view.reasons) == 3


def test_what_was_not_run_is_said_and_not_drawn(small_run):
    view = audit_view(None)
    assert view.canaries == view.lira == () and not view.curve
    assert [r.title for r in view.reasons] == ["Not audited"]
    page = render(small_run.find().to_dict())
    assert "The audit was not run at levels 0, 1 and 2" in page
    assert 'id="canary-chart"' not in page and 'id="lira-chart"' not in page


def test_the_section_of_the_page(small_run):
    page = render(small_run.find(audit=AUDIT).to_dict())
    assert 'id="canary-chart"' in page and 'id="lira-chart"' in page
    assert "&lt;b&gt;heavy&lt;/b&gt; user" in page and "<b>heavy" not in page
    assert "Every place in the release was visited by at least 5 training users." in page


def test_a_curve_may_be_missing(small_run):
    lira = {name: value for name, value in AUDIT["lira"].items() if name != "curve"}
    page = render(small_run.find(audit={**AUDIT, "lira": lira}).to_dict())
    assert 'id="lira-chart"' not in page and "LiRA: the numbers" in page


def test_places_of_few_people_in_words():
    level0 = {"min_users": 5, "rare_places": 5, "places_of_one": 1, "places_of_nobody": 2,
              "traces_with_rare_share": 0.021}  # fmt: skip
    text = audit_view({"level0": level0}).reasons[0].text.replace("\u00a0", " ")
    assert text == (
        "The release contains 3 places that fewer than 5 training users visited, 1 of them one "
        "user alone. 2.1 % of the released traces contain such a place."
    )
