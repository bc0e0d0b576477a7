"""A real browser without a network, and the pages it opens from disk."""

import datetime
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import doppeltrace as dt
from doppeltrace.cli.program import app
from doppeltrace.report.internal.files import internal_files
from doppeltrace.report.internal.findings import collect_findings
from report_run import AUDIT, UNTESTED, Run, a_summary, deniability

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Browser:
    """Opens files, and remembers what they asked for and complained about."""

    def __init__(self, driver):
        self.driver = driver
        self.js = driver.execute_script

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def look(self, *, width=1280, scheme="light", media="screen"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", media=media, features=features)
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip

    def open(self, path: Path, **look):
        self.look(**look)
        self.driver.get_log("browser"), self.driver.get_log("performance")  # forget
        self.driver.get(path.as_uri())

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        messages = (
            json.loads(e["message"])["message"] for e in self.driver.get_log("performance")
        )
        return [
            m["params"]["request"]["url"]
            for m in messages
            if m["method"] == "Network.requestWillBeSent"
        ]

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.find(selector).get_attribute("textContent")

    def attributes(self, selector, *names):
        """Return the attributes of all elements that the selector finds."""
        return self.js(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map((e) => arguments[1].map((n) => e.getAttribute(n)))",
            selector,
            names,
        )


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: install chromium and chromium-driver to run these tests")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(driver)
    with webdriver.Chrome(options=options, service=service) as opened:
        opened.set_page_load_timeout(30)
        opened.set_script_timeout(30)
        made = Browser(opened)
        made.command("Network.enable")
        made.command(
            "Network.emulateNetworkConditions",
            offline=True, latency=0, downloadThroughput=0, uploadThroughput=0,
        )  # fmt: skip
        yield made


@dataclass(frozen=True)
class Page:
    """A page on the disk, what it was made from, and the scores of the run."""

    path: Path
    found: dict
    score: dict


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("browser") / "demo"
    done = CliRunner().invoke(app, ["demo", "--out", str(out), "--users", "500"])
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="session")
def demo(demo_folder):
    found = json.loads((demo_folder / "internal/findings.json").read_text())
    score = json.loads((demo_folder / "internal/manifest.json").read_text())["score"]
    return Page(demo_folder / "internal/report.html", found, score)


def _page(data, folder):
    model = dt.Doppel(iterations=40, seed=1).fit(data.train)
    made = model.sample(1, seed=2)
    tested = dt.deniability_test(model, made, k=2, seed=3)
    released = made.select(tested.passed)
    score = dt.evaluate(train=data.train, test=data.test, synthetic=released, attacks=False)
    found = collect_findings(
        train=data.train, test=data.test, released=released, score=score,
        run=a_summary(made=len(made), released=len(released), guarantee=deniability(2)),
        factors=model.clusters_, plausible=tested.plausible,
    )  # fmt: skip
    return _write(found, folder, score)


def _write(found, folder, score):
    for name, text in internal_files(found).items():
        (folder / name).write_text(text)
    return Page(folder / "report.html", json.loads(found.to_json()), score.to_dict())


@pytest.fixture(scope="session")
def people_flow_page(people_flow, tmp_path_factory):
    return _page(people_flow, tmp_path_factory.mktemp("people_flow"))


@pytest.fixture(scope="session")
def nyc_page(nyc, tmp_path_factory):
    return _page(nyc, tmp_path_factory.mktemp("nyc"))


@pytest.fixture(scope="session")
def bare_page(tmp_path_factory):
    """A run without testing users, without a deniability test, of a model without factors."""
    run = Run()
    summary = a_summary(guarantee=UNTESTED, counted_all=False)
    found = run.find(test=None, score=None, factors=None, plausible=None, run=summary)
    return _write(found, tmp_path_factory.mktemp("bare"), run.score)


@pytest.fixture(scope="session")
def empty_page(tmp_path_factory):
    """A run of which no trace passed."""
    run = Run()
    nothing = run.released.select(np.zeros(0, dtype=int))
    found = run.find(released=nothing, score=None, run=a_summary(released=0))
    return _write(found, tmp_path_factory.mktemp("empty"), run.score)


@pytest.fixture(scope="session")
def one_place_page(tmp_path_factory):
    """One place, one slot, one user: as little as there can be."""
    clock = dt.Clock([0, 0], 3600, datetime.datetime(2024, 1, 1))
    train = dt.Traces.from_events(
        [0, 0], [0, 0], [0, 1], places=dt.Places(["here"], [0.0], [0.0]), clock=clock
    )
    made = dt.SyntheticTraces([[0, 0]], [0], [0], train.places, clock)
    score = dt.evaluate(train=train, test=train, synthetic=made, attacks=False)
    summary = a_summary(made=1, released=1)
    found = collect_findings(train=train, test=None, released=made, run=summary)
    return _write(found, tmp_path_factory.mktemp("one"), score)


@pytest.fixture(scope="session")
def evil_page(tmp_path_factory):
    """A page whose places have names that are markup."""
    run = Run()
    old = run.train.places
    names = np.array([f"</script><script>document.title='{n}'</script><b>{n}" for n in old.labels])
    places = dt.Places(names, old.lat, old.lng, old.bounds)
    found = run.find(
        **{
            name: replace(getattr(run, name), places=places)
            for name in ("train", "test", "released")
        }
    )
    return _write(found, tmp_path_factory.mktemp("evil"), run.score)


@pytest.fixture(scope="session")
def audited_page(tmp_path_factory):
    """A run that was audited at all levels."""
    run = Run()
    return _write(run.find(audit=AUDIT), tmp_path_factory.mktemp("audited"), run.score)


@pytest.fixture(scope="session")
def short_count_page(tmp_path_factory):
    """A run whose test stopped counting at k."""
    run = Run()
    found = run.find(run=a_summary(counted_all=False))
    return _write(found, tmp_path_factory.mktemp("short"), run.score)
