"""The internal report in a real browser, from disk, with the network off."""

import base64

import pytest

from doppeltrace.report.figures.encoding import unpacked

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Select = pytest.importorskip("selenium.webdriver.support.select").Select

PAGES = ("demo", "people_flow_page", "nyc_page")
DOTS = ("#map-real circle", "#map-synthetic circle", "#map-difference circle")


@pytest.fixture
def page(request, browser):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_opens_at_once_alone_and_without_complaint(browser, page):
    times = []
    for _ in range(3):
        browser.open(page.path)
        times.append(browser.js("return performance.getEntriesByName('interactive')[0].startTime"))
        assert browser.complaints() == []
        assert browser.requests() == [page.path.as_uri()]
    assert min(times) < 2000
    assert page.path.stat().st_size < 5_000_000
    pictures = browser.attributes("svg", "role", "aria-label")
    assert len(pictures) >= 12
    assert all(role == "img" and words for role, words in pictures)


@pytest.mark.parametrize("page", ["bare_page", "empty_page", "one_place_page"], indirect=True)
def test_a_run_with_little_to_show(browser, page):
    """What there is stands there; what is missing is said, not drawn."""
    browser.open(page.path, width=360)
    assert browser.complaints() == []
    assert browser.js("return document.documentElement.scrollWidth") == 360
    assert "NaN" not in browser.js("return document.body.innerHTML")
    released = page.found["population"] is not None
    assert browser.find("#slot").is_displayed() == released
    assert browser.find("#place").is_displayed() == released
    assert not browser.find("#cluster-real").is_displayed()
    said = browser.js(
        "return [...document.querySelectorAll('.notice')].filter((n) => n.offsetHeight).length"
    )
    assert said >= 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_fits_a_phone(browser, page, scheme):
    browser.open(page.path, width=360, scheme=scheme)
    assert browser.js("return document.documentElement.scrollWidth") == 360
    assert browser.complaints() == []


def test_the_slider_moves_pictures_and_figures(browser, demo):
    browser.open(demo.path)
    slider = browser.find("#slot")
    slots = demo.found["slots"]
    seen = set()
    for keys, slot in (
        (Keys.HOME, 0),
        (Keys.ARROW_RIGHT, 1),
        (Keys.END, len(slots) - 1),
        (Keys.ARROW_LEFT, len(slots) - 2),
    ):
        slider.send_keys(keys)
        assert browser.text("#slot-name") == slots[slot]
        assert slider.get_attribute("aria-valuetext") == slots[slot]
        assert f"TP-TV in this slot: {demo.score['tp_tv_slots'][slot]:.3f}" in browser.text(
            "#slot-figures"
        )
        pictures = tuple(str(browser.attributes(dots, "r", "class")) for dots in DOTS)
        seen.add((*pictures, browser.text("#slot-table"), slots[slot]))
    for column in zip(*seen, strict=True):
        assert len(set(column)) == 4  # each map, the table and the label differ in each slot


def test_the_maps_show_the_shares_of_the_findings(browser, demo):
    browser.open(demo.path)
    browser.find("#slot").send_keys(Keys.HOME)
    population = demo.found["population"]
    for kind in ("real", "synthetic"):
        shares = unpacked(population[kind], population["scale"]).reshape(
            len(population["tp_tv"]), -1
        )[0]
        radii = [float(r) for (r,) in browser.attributes(f"#map-{kind} circle", "r")]
        assert [r > 1 for r in radii] == [share > 0 for share in shares]
        order = sorted(range(len(shares)), key=lambda i: shares[i])
        ordered = [radii[i] for i in order]
        assert ordered == sorted(ordered)  # larger share, larger dot
    first = demo.found["places"]["label"]
    cells = browser.js(
        "return [...document.querySelectorAll('#slot-table tbody tr:first-child > *')]"
        ".map((c) => c.textContent)"
    )
    assert cells[0].split(" (")[0] in first and cells[1].endswith("%")


def test_the_buttons_move_too(browser, demo):
    browser.open(demo.path)
    before = browser.text("#slot-name")
    browser.find("#later").send_keys(Keys.ENTER)
    after = browser.text("#slot-name")
    assert after != before
    browser.find("#earlier").send_keys(Keys.SPACE)
    assert browser.text("#slot-name") == before
    browser.find("#play").send_keys(Keys.ENTER)
    assert browser.text("#play") == "Pause"
    browser.find("#play").send_keys(Keys.ENTER)
    assert browser.text("#play") == "Play"


def bars(browser, selector):
    """Return heights of bars and of points above the axis."""
    return browser.js(
        """const svg = document.querySelector(arguments[0] + " svg");
        const bars = [...svg.querySelectorAll("rect.bar")];
        const floor = Number(bars[0].getAttribute("y")) + Number(bars[0].getAttribute("height"));
        const points = [...svg.querySelectorAll("circle.point")];
        return [bars.map((b) => Number(b.getAttribute("height"))),
                points.map((p) => floor - Number(p.getAttribute("cy")))];""",
        selector,
    )


def test_a_place_can_be_picked(browser, demo):
    browser.open(demo.path)
    select = Select(browser.find("#place"))
    seen = set()
    for number in (0, 3, 17):
        select.select_by_index(number)
        visit = demo.found["visits"][number]
        assert demo.found["places"]["label"][visit["place"]] in browser.text("#place-figures")
        if visit["tv"] is not None:
            assert f"total variation {visit['tv']:.3f}" in browser.text("#place-figures")
        assert f"{visit['traces']:,} synthetic traces" in browser.text("#place-figures")
        if visit["real_users"] >= 5:
            assert f"{visit['real_users']:,} real users" in browser.text("#place-figures")
        real, synthetic = bars(browser, "#place-chart")
        largest = max(visit["real"] + visit["synthetic"])
        tallest = max(real + synthetic)
        for drawn, truth in ((real, visit["real"]), (synthetic, visit["synthetic"])):
            assert [h / tallest for h in drawn] == pytest.approx(
                [share / largest for share in truth] or [0] * 24, abs=0.01
            )
        seen.add(tuple(real + synthetic))
    assert len(seen) == 3


def test_a_place_can_be_searched(browser, demo):
    browser.open(demo.path)
    all_places = len(browser.attributes("#place option", "value"))
    assert all_places == len(demo.found["visits"])
    browser.find("#place-filter").send_keys("OFFICE")
    found = Select(browser.find("#place")).options
    assert 0 < len(found) < all_places
    assert all("office" in option.text for option in found)
    assert "office" in browser.text("#place-figures")
    browser.find("#place-filter").send_keys(" nowhere")
    words = f"one of the {all_places} busiest places has this in its name"
    assert words in browser.text("#place") and words in browser.text("#place-figures")
    assert browser.attributes("#place-chart *, #place-table *", "class") == []
    browser.find("#place-filter").clear()
    browser.find("#place-filter").send_keys("office")
    assert browser.attributes("#place-chart svg", "role") == [["img"]]


def test_a_cluster_can_be_picked(browser, demo):
    browser.open(demo.path)
    first = browser.find('input[name="cluster"]')
    browser.js("arguments[0].focus()", first)
    seen = set()
    for number, cluster in enumerate(demo.found["clusters"][:3]):
        assert browser.text("#cluster-title") == f"Cluster {number + 1} · {cluster['title']}"
        assert cluster["description"] in browser.text("#cluster-text")
        assert f"{cluster['tv']:.3f} apart" in browser.text("#cluster-text")
        hours, _ = bars(browser, "#cluster-hours")
        assert [h / max(hours) for h in hours] == pytest.approx(
            [h / max(cluster["hours"]) for h in cluster["hours"]], abs=0.01
        )
        top = demo.found["places"]["label"][cluster["places"][0][0]]
        assert browser.text("#cluster-places tbody th").startswith(top)
        seen.add(str(browser.attributes("#cluster-real circle, #cluster-synthetic circle", "r")))
        browser.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert len(seen) == 3


def test_the_figures_of_the_attacks_are_the_scorecards(browser, demo):
    browser.open(demo.path)
    score, words = demo.score, browser.text("#privacy").replace("\u00a0", " ")
    assert f"p = {score['membership_p_value']:.3f}" in words
    assert f"{100 * score['reidentification_rate']:.1f} % of the traces" in words
    assert f"{score['copy_mean']:.2f} events" in words
    assert f"{score['copy_test_mean']:.2f} events" in words
    losses = browser.text("#lost")
    for name in ("tp_tv", "tp_tv_training", "tp_tv_uniform", "vf_tv", "trip_length_emd"):
        assert f"{score[name]:.3f}" in losses


def test_keyboard_shows_where_it_is(browser, demo):
    browser.open(demo.path)
    reached = []
    for _ in range(32):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(
            browser.js(
                "const e = document.activeElement;"
                "return [e.id || e.name || e.tagName, getComputedStyle(e).outlineStyle]"
            )
        )
    names = [name for name, _ in reached]
    assert {"slot", "earlier", "later", "play", "place", "place-filter", "cluster"} <= set(names)
    assert all(outline != "none" for _, outline in reached)


CONTRAST = """
const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const paper = (e) => {
  for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0.99) return c;
  }
  return [255, 255, 255];
};
const found = [];
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.getClientRects().length || e.closest("script, noscript, option")) continue;
  const style = getComputedStyle(e);
  const ink = parse(e instanceof SVGElement ? style.fill : style.color);
  const [a, b] = [light(ink), light(paper(e))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) found.push(e.tagName + ": " + e.textContent.slice(0, 40));
}
return found;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser, demo, scheme):
    browser.open(demo.path, scheme=scheme)
    assert browser.js(CONTRAST) == []
    paper = browser.js("return getComputedStyle(document.body).backgroundColor")
    assert (min(int(x) for x in paper[4:-1].split(",")) > 200) == (scheme == "light")


def test_it_prints(browser, demo):
    browser.open(demo.path, media="print", scheme="dark")
    shown = browser.js(
        "return [...document.querySelectorAll('section')].filter((s) => s.offsetHeight > 0).length"
    )
    assert shown == 9
    assert browser.js("return document.querySelector('nav').offsetHeight") == 0
    assert browser.js("return document.querySelector('#slot').offsetHeight") == 0
    paper = browser.js("return getComputedStyle(document.body).backgroundColor")
    assert min(int(x) for x in paper[4:-1].split(",")) > 200  # never a dark sheet
    browser.look(width=718, media="print")  # what A4 leaves between the margins
    assert browser.js("return document.documentElement.scrollWidth") == 718
    pdf = base64.b64decode(browser.command("Page.printToPDF", printBackground=True)["data"])
    assert pdf.startswith(b"%PDF") and len(pdf) > 50_000


def test_markup_in_the_names_of_places_stays_text(browser, evil_page):
    browser.open(evil_page.path)
    title = browser.js("return document.title")
    for selector in ("#slot", "#place"):
        browser.find(selector).send_keys(Keys.ARROW_RIGHT)
    assert browser.js("return document.title") == title
    assert browser.complaints() == []
    assert browser.js("return document.querySelectorAll('script').length") == 2
    assert browser.js("return document.querySelectorAll('td b, th b, option b, p b').length") == 0
    assert "</script><script>" in browser.text("#place option")
