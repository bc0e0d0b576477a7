"""The page: complete, escaped, and without anything from elsewhere."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.report.internal import page as pages
from report_run import UNTESTED, VACUOUS, differential

EVIL = "</script><script>alert(1)</script><b>&amp;"


def findings_in(page):
    (text,) = re.findall(
        r'<script type="application/json" id="findings">(.*?)</script>', page, flags=re.DOTALL
    )
    return json.loads(text)


def render(values):
    """Return the page with its lines joined."""
    return re.sub(r"[ \n]+", " ", pages.render(values))


class Structure(HTMLParser):
    """Tags with their attributes, in order."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


@pytest.fixture(scope="module")
def page(found):
    return render(found.to_dict())


def test_figures_and_escaping(page, found):
    assert "<b>A" not in page and "Traces of &lt;b&gt;A &amp; B&lt;/b&gt;" in page
    assert "<i>city" not in page
    assert f"<strong>{found.run.released}</strong> synthetic traces released" in page
    assert "Is it safe to publish?" in page and "What is lost?" in page
    assert "{{" not in page and "{%" not in page
    assert "Doppel: factors &amp; &lt;u&gt;flows" in page and "<u>" not in page
    assert "Nothing of &lt;i&gt;many" in page
    for loss in found.losses:
        assert loss.plain.replace("'", "&#39;") in page
        assert f'<td data-label="synthetic">{loss.synthetic:.3f}' in page
        assert f'<td data-label="independent">{loss.independent:.3f}' in page
    reach = next(loss for loss in found.losses if loss.name == "gyration_emd")
    assert (
        f"mean {reach.real_mean:.3g}\u00a0km real, {reach.synthetic_mean:.3g}\u00a0km synthetic"
    ) in page
    assert "From 75\u00a0% on the property is kept, up to 25\u00a0% it is lost." in page
    mean = f"{100 * found.summary['mean']:.0f}\u00a0%"
    assert f"The traces go {mean} of the way from trivial traces to real ones" in page


def test_it_is_made_again_from_json_alone(page, found):
    assert render(json.loads(found.to_json())) == page
    assert findings_in(page) == json.loads(found.to_json())


def test_names_of_places_stay_text(small_run):
    old = small_run.train.places
    places = dt.Places(
        np.array([f"{EVIL}{n}" for n in range(len(old))]), old.lat, old.lng, old.bounds,
        np.array([EVIL] * len(old)),
    )  # fmt: skip
    train, test, released = (
        replace(x, places=places) for x in (small_run.train, small_run.test, small_run.released)
    )
    page = render(small_run.find(train=train, test=test, released=released).to_dict())
    assert "alert(1)</script>" not in page and "<script>alert" not in page
    assert findings_in(page)["places"]["category"][0] == EVIL
    assert [tag for tag, _ in Structure(page).tags].count("script") == 2


def test_it_says_that_it_is_internal_and_what_pd_does_not_promise(page):
    assert "Internal: do not publish" in page
    assert "It is not differential privacy." in page


def test_it_needs_nothing_else(page):
    tags = Structure(page).tags
    for _, attributes in tags:
        assert not {"src", "srcset", "data"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in page and "@import" not in page
    assert "default-src 'none'" in page


def test_headings_labels_and_targets(page):
    tags = Structure(page).tags
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:], strict=False))
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    for tag, attributes in tags:
        if attributes.get("href"):
            assert attributes["href"][1:] in ids
        if tag in ("input", "select") and attributes.get("type") != "radio":
            assert any(a.get("for") == attributes["id"] for t, a in tags if t == "label")
    assert ("html", {"lang": "en"}) in tags


def test_without_testing_users_factors_or_test(small_run):
    summary = replace(small_run.find().run, guarantee=UNTESTED)
    page = render(
        small_run.find(test=None, score=None, factors=None, plausible=None, run=summary)
        .to_dict()
    )  # fmt: skip
    assert "report of a run of the same settings with" in page and "training users" in page
    assert "Run again" not in page and "testing places" not in page
    assert '<td data-label="training">–</td>' in page
    assert "This model has no factors" in page
    assert "No deniability test was made" in page and "Do not publish these traces" in page


def test_with_nothing_released(small_run):
    summary = replace(small_run.find().run, released=0)
    nothing = small_run.released.select(np.zeros(0, dtype=int))
    page = render(small_run.find(released=nothing, score=None, run=summary).to_dict())
    assert "There is nothing to publish" in page and "nothing to score" in page


def test_a_test_that_stopped_counting_says_so(small_run):
    summary = replace(small_run.find().run, counted_all=False)
    found = small_run.find(run=summary)
    assert found.privacy.pass_rates[-1][0] == 10
    assert "--count-all" in render(found.to_dict())


def test_sparse_real_traces_are_pointed_out(found):
    values = found.to_dict()
    assert "for that reason, whatever the model does" not in render(values)
    page = render({**values, "coverage": 0.05, "comparable": False})
    assert "for that reason, whatever the model does" in page and "in 5.0\u00a0% of" in page


def test_gaps_in_the_real_traces_are_said_where_they_matter(small_run):
    rng = np.random.default_rng(5)
    keep = rng.random(small_run.test.n_events) < 0.1
    test = dt.Traces.from_events(
        small_run.test.user[keep], small_run.test.location[keep], small_run.test.instant[keep],
        places=small_run.test.places, clock=small_run.test.clock,
    )  # fmt: skip
    found = small_run.find(test=test, score=None)
    assert not found.comparable
    gaps = {x.name for x in found.losses if x.gaps}
    assert {"move_rate", "stay_emd", "places_per_day_emd"} <= gaps and "tp_tv" not in gaps
    assert any(x.gaps and x.share is not None for x in found.losses)
    assert "; the real traces have gaps</td>" in render(found.to_dict())


def test_what_says_nothing_is_left_out_and_said(found):
    values = found.to_dict()
    values["losses"][0] |= {"verdict": "no yardstick", "share": None, "why_left_out": "Because."}
    page = render(values)
    assert "Left out of the summary" in page and "<li>Because.</li>" in page
    assert '<td class="text word">no yardstick</td>' in page


def test_a_vacuous_promise_is_never_a_virtue(small_run):
    summary = replace(small_run.find().run, guarantee=VACUOUS)
    found = small_run.find(run=summary)
    assert found.privacy.pass_rates == []
    page = render(found.to_dict())
    assert "Nothing is promised</h3>" in page and "no curve is drawn" in page
    assert "What is promised" not in page
    assert "(10, 1)-plausible deniability says nothing here." in page
    assert '<p class="verdict red">' in page


def test_differential_privacy_on_the_page(small_run):
    summary = replace(small_run.find().run, guarantee=differential(1.0))
    page = render(small_run.find(run=summary, plausible=None).to_dict())
    assert "ε\u00a0=\u00a01, δ\u00a0=\u00a01e-06 for one user with all of their data." in page
    assert "The deniability test does not apply, so nothing was counted." in page


def test_clusters_have_a_word_and_the_rule(page, found):
    for cluster in found.clusters:
        assert f"<small>{cluster.verdict}</small>" in page
    assert "as far from its real ones as the events of all training users together" in page
