"""The summary page: complete, escaped, and without anything from elsewhere."""

import re

from doppeltrace.report.summary import Account, Score, render


def account(**changes):
    values = {
        "title": "Traces of <b>A & B</b>",
        "settings": {"model": "ppmtf", "alpha": "200"},
        "input": {"users": "500"},
        "effort": {"training": "1.2 s"},
        "made": 200,
        "released": 50,
        "k": 10,
        "eta": 1.0,
    }
    return Account(**{**values, **changes})


def test_figures_and_escaping():
    page = render(
        account(
            pass_rates=[(1, 1.0), (10, 0.25)],
            scores=[Score("TP-TV", "how <far>", "0.43", "0.39", "0.53")],
        )
    )
    assert "<b>A" not in page and "Traces of &lt;b&gt;A &amp; B&lt;/b&gt;" in page
    assert "<strong>50</strong> of 200 synthetic traces (25.0%)" in page
    assert "passed the (k, η) = (10, 1)" in page
    assert "passed the randomized (k, η)" in render(account(randomized=True))
    assert re.search(r'class=chosen><th scope="row">10<', page) and "25.0%" in page
    assert "TP-TV<small>how &lt;far&gt;</small>" in page and "0.39" in page
    assert "$" not in page


def test_it_says_that_it_is_internal_and_what_pd_does_not_promise():
    page = render(account())
    assert "Internal: do not publish" in page
    assert "no differential privacy" in page
    assert "Pass rate by k" not in page and "Scorecard" not in page


def test_it_needs_nothing_else():
    page = render(account())
    assert not re.search(r"(src|href)=|https?://|<script", page)


def test_without_a_test_and_without_traces():
    page = render(account(k=None, eta=None, made=0, released=0))
    assert "without a deniability test" in page and "0.0%" in page
