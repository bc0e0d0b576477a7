"""The public page in a real browser, from disk, with the network off."""

import pytest

import doppeltrace as dt


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_opens_alone_and_fits(browser, demo_folder, width, scheme):
    page = demo_folder / "public/datasheet.html"
    browser.open(page, width=width, scheme=scheme)
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.js("return document.documentElement.scrollWidth") == width
    assert browser.text("h1")


def test_a_title_without_a_space_fits(browser, demo_folder, tmp_path):
    page = tmp_path / "datasheet.html"
    page.write_text(dt.datasheet(demo_folder, title="Wanderungen" * 8))
    browser.open(page, width=390)
    assert browser.js("return document.documentElement.scrollWidth") == 390
    assert browser.js("const h = document.querySelector('h1'); return h.scrollWidth") <= 390
