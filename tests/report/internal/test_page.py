"""The page: complete, escaped, and without anything from elsewhere."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.report.internal import losses
from doppeltrace.report.internal import page as pages
from report_run import UNTESTED

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
        figure = f"{100 * loss.synthetic:.1f}\u00a0points" if loss.unit == "%" else loss.synthetic
        assert loss.plain in page
        assert (figure if loss.unit == "%" else f"{figure:.3f}") in page
    reach = next(loss for loss in found.losses if loss.name == "gyration_emd")
    assert (
        f"mean {reach.real_mean:.3g}\u00a0km real, {reach.synthetic_mean:.3g}\u00a0km synthetic"
    ) in page
    assert "the larger mean exceeds the smaller by more than 25\u00a0%" in page


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


def test_gaps_in_the_real_traces_make_stays_incomparable(small_run):
    rng = np.random.default_rng(5)
    keep = rng.random(small_run.test.n_events) < 0.1
    test = dt.Traces.from_events(
        small_run.test.user[keep], small_run.test.location[keep], small_run.test.instant[keep],
        places=small_run.test.places, clock=small_run.test.clock,
    )  # fmt: skip
    found = small_run.find(test=test, score=None)
    assert not found.comparable
    assert {x.name for x in found.losses if x.verdict == losses.NOT_COMPARABLE} == {
        "move_rates", "stay_emd", "places_per_day_emd",
    }  # fmt: skip
    page = render(found.to_dict())
    assert "Not comparable:</strong> when people move; how long people stay;" in page
    assert "Not comparable:</strong> the real traces have too many gaps" in page


def test_what_has_no_yardstick_is_named(found):
    values = found.to_dict()
    values["losses"][0]["verdict"] = losses.NO_YARDSTICK
    page = render(values)
    assert "No yardstick:</strong> where people are, slot by slot." in page
    assert "No yardstick:</strong> the training users are hardly nearer" in page


def test_a_word_that_the_means_decide_says_so(found):
    values = found.to_dict()
    row = next(row for row in values["losses"] if row["name"] == "places_per_day_emd")
    row |= {"lost": 0.1, "real_mean": 7.57, "synthetic_mean": 3.38, "verdict": "lost"}
    page = render(values)
    assert "lost: the means differ" in page
    assert "mean 7.57\u00a0places real, 3.38\u00a0places synthetic" in page
    row |= {"synthetic_mean": 7.5, "verdict": "kept"}
    assert "lost: the means differ" not in render(values)


def test_clusters_have_a_word_and_the_rule(page, found):
    for cluster in found.clusters:
        assert f"<small>{cluster.verdict}</small>" in page
    assert "as far from its real ones as the events of all training users together" in page
