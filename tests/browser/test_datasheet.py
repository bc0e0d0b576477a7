"""The public page in a real browser, from disk, with the network off."""

import pytest


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_opens_alone_and_fits(browser, demo_folder, width, scheme):
    page = demo_folder / "datasheet.html"
    browser.open(page, width=width, scheme=scheme)
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.js("return document.documentElement.scrollWidth") == width
    assert browser.text("h1")
