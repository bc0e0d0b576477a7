"""Figures of the internal report that must be neither wrong nor about one person."""

import base64

import numpy as np
import pytest


def rows(browser, selector):
    return browser.js(
        "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
        ".map((r) => [...r.children].map((c) => c.textContent))",
        selector,
    )


def test_when_people_move(browser, demo):
    browser.open(demo.path)
    rates = demo.found["move_rates"]
    shown = [i for i, share in enumerate(rates["real"]) if share is not None]
    found = rows(browser, "#move-rates-table")
    assert [name for name, _, _ in found] == [demo.found["slots"][i] for i in shown]
    for (_, *texts), i in zip(found, shown, strict=True):
        for text, kind in zip(texts, ("real", "synthetic"), strict=True):
            share = float(text.removesuffix("%").strip()) / 100
            assert share == pytest.approx(rates[kind][i], abs=0.0051)
    heights = [float(h) for (h,) in browser.attributes("#move-rates-chart rect.bar", "height")]
    tallest = max(rates["real"][i] for i in shown)
    assert [h / max(heights) for h in heights] == pytest.approx(
        [rates["real"][i] / tallest for i in shown], abs=0.01
    )
    loss = next(row for row in demo.found["losses"] if row["name"] == "move_rate")
    assert browser.text("#move-rates-note").endswith(f"percentage points: {loss['verdict']}.")


def test_places_with_few_users_are_not_named(browser, nyc_page):
    browser.open(nyc_page.path)
    found = nyc_page.found
    flags = np.unpackbits(
        np.frombuffer(base64.b64decode(found["population"]["suppressed"]), dtype=np.uint8)
    )
    n = found["places"]["on_map"]
    slot = int(browser.js("return document.getElementById('slot').value"))
    few = flags[slot * n : (slot + 1) * n].astype(bool)
    assert few.any()
    labels = np.array(found["places"]["label"][:n])
    named = {name.split(" (")[0] for name, *_ in rows(browser, "#slot-table")}
    assert named and not named & set(labels[few])
    assert f"left out: {few.sum():,} of {n:,}" in browser.text("#slot-table-note")
    for (_, text, _), flow in zip(rows(browser, "#flows-table"), found["flows"], strict=True):
        assert (text == "fewer than 5 users") == (flow["real"] is None)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_label_of_k_stays_inside(browser, short_count_page, width):
    browser.open(short_count_page.path, width=width)
    label, picture = browser.js(
        "return [document.getElementById('pass-k'), document.querySelector('#pass-chart svg')]"
        ".map((e) => { const b = e.getBoundingClientRect(); return [b.left, b.right]; })"
    )
    assert picture[0] <= label[0] and label[1] <= picture[1]
    assert browser.text("#pass-k") == "k = 10 of this run"


def test_stays_are_hours_and_minutes(browser, demo):
    browser.open(demo.path)
    stays = browser.js(
        "return [...document.querySelectorAll('#histograms figure')]"
        ".find((f) => f.textContent.includes('Stay')).querySelector('tbody th').textContent"
    )
    assert stays == "0:20"


def test_a_map_without_real_flows_says_why(browser, nyc_page, demo):
    browser.open(nyc_page.path)
    flows = nyc_page.found["flows"]
    assert not any(flow["real"] for flow in flows)  # each of fewer than five users
    assert browser.attributes("#flows-real path", "class") == []
    note = browser.text("#flows-note")
    assert note.startswith("The maps show no real flow and the 50 strongest synthetic flows;")
    assert "No flow of the real users has enough of them to be drawn." in note
    browser.open(demo.path)
    assert "enough of them" not in browser.text("#flows-note")


SMALLEST = """
const sizes = [...document.querySelectorAll("body *")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .filter((e) => e.getClientRects().length && !e.closest("script, noscript, option"))
  .map((e) => parseFloat(getComputedStyle(e).fontSize)
    * (e instanceof SVGElement ? e.ownerSVGElement.getScreenCTM().a : 1));
return Math.min(...sizes);
"""
"""In pixels on the screen: pictures are scaled to the page."""


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["internal/report.html", "public/datasheet.html"])
def test_no_text_is_too_small(browser, demo_folder, name, width):
    browser.open(demo_folder / name, width=width)
    assert browser.js(SMALLEST) >= 11.9


def test_the_answers_stand_on_the_first_screen(browser, demo):
    browser.open(demo.path)
    bottom = browser.js("return document.querySelector('.short').getBoundingClientRect().bottom")
    assert bottom < 650
    links = [href for (href,) in browser.attributes(".short a", "href")]
    assert links == ["#lost", "#clusters", "#made"]


def test_the_audits_picture(browser, audited_page):
    browser.open(audited_page.path)
    assert browser.complaints() == []
    canaries = audited_page.found["audit"]["canaries"]
    names = browser.js(
        "return [...document.querySelectorAll('#canary-chart .name')].map((e) => e.textContent)"
    )
    assert set(names) == set(canaries)
    dots = browser.attributes("#canary-chart .point", "cx")
    rings = browser.attributes("#canary-chart .hollow", "cx")
    for name, (dot,), (ring,) in zip(names, dots, rings, strict=True):
        shown = canaries[name]
        assert (float(dot) > float(ring)) == (shown["shown_in"] > shown["shown_out"])
    ((attack,), (chance,)) = (
        browser.attributes(f"#lira-chart path.line.{kind}", "d")
        for kind in ("synthetic", "training")
    )
    assert attack != chance and attack[0].count("L") == chance[0].count("L") == 4
    assert "AUC 0.51" in browser.attributes("#lira-chart svg", "aria-label")[0][0]


@pytest.mark.parametrize("width", [360, 1280])
def test_the_audits_picture_fits(browser, audited_page, width):
    browser.open(audited_page.path, width=width)
    assert browser.js("return document.documentElement.scrollWidth") == width
    assert browser.js(SMALLEST) >= 11.9
