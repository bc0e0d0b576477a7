"""The public page: only what may leave, all of it, and readable without anything else."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace.release import release
from doppeltrace.report.public.datasheet import datasheet
from doppeltrace.report.public.publication import Method, Publication
from report_run import UNTESTED, VACUOUS, deniability, differential

SECRETS = {
    "doppeltrace": "0",
    "started": "2031-07-04T05:06:07+00:00",
    "seed": 987654321987654321,
    "input": {"path": "/home/alice/secret_city.csv", "sha256": "ab" * 32, "users": 7654321,
              "places": 1717171, "options": {"user": "bob_the_user"}},
    "seconds": {"training": 77.1234},
    "peak_memory_mb": 4242.42,
    "score": {"tp_tv": 0.434343, "reidentification_rate": 0.0191919},
    "traces": {"made": 5432109, "passed": 5432108},
    "host": "alices-laptop",
}  # fmt: skip


def manifest(**changes):
    values = {
        "model": {
            "name": "doppel",
            "description": "Doppel: a <model>",
            "settings": {**dt.Doppel(factors=7).settings, "threads": 13},
            "public_settings": {"factors": 7, "training iterations": 300, "rate": 0.5},
        },
        "guarantee": deniability(12, 0.5).to_dict(),
        "publication": {"title": "Where <i>they</i> go", "licence": "CC BY 4.0"},
    }
    return {**values, **changes}


@pytest.fixture
def synthetic(tiny):
    labels = np.array(["a", "b", "</style><script>alert(1)</script>", "d", "e"])
    places = dt.Places(labels, tiny.places.lat, tiny.places.lng)
    locations = [[2, 2, 2, 1, 1, 2], [2, 0, 0, 0, 0, -1], [1, 1, 1, 2, -1, 2]]
    return dt.SyntheticTraces(locations, [2, 0, 1], [0] * 3, places, tiny.clock)


@pytest.fixture
def traces(synthetic, tmp_path):
    return release(synthetic, np.ones(3, dtype=bool), tmp_path / "plain").traces


def test_no_secret_of_the_manifest_gets_in(traces):
    plain = datasheet(traces, Method.of_manifest(manifest()))
    page = datasheet(traces, Method.of_manifest({**SECRETS, **manifest()}))
    assert page == plain
    for secret in _leaves(SECRETS):
        assert secret not in page
    assert "13" not in re.findall(r"<dd[^>]*>([^<]*)</dd>", page)  # threads


def test_only_public_settings_are_shown(traces):
    told = manifest()
    told["model"]["settings"]["range_km"] = 3.14159
    page = datasheet(traces, Method.of_manifest(told))
    assert "3.14" not in page and "range" not in _text(page)
    for model in dt.synthesizers.MODELS.values():
        assert not {"seed", "threads", "holdout", "range_km"} & set(model.public_settings)


def test_two_inputs_that_give_the_same_traces_give_the_same_bytes(run_command, tmp_path):
    """Uniform draws the same traces of whichever users were there.

    The cap is given, because one that is found in the data is told on the page.
    """
    pages = []
    for number, (name, label, events) in enumerate([("ann", "u-anna", 37), ("bob", "u-bert", 19)]):
        rng = np.random.default_rng(number)
        rows = ["uid,datetime,lat,lng,location"]
        for user in range(23):
            rows += [
                f"{label}{user:03},2020-02-01T{t % 24:02}:00:00,{x}.5,{x}.25,p{x}"
                for t, x in zip(range(events), rng.permutation(np.arange(events) % 6), strict=True)
            ]
        table = tmp_path / f"{name}_input.csv"
        table.write_text("\n".join(rows) + "\n")
        out = tmp_path / f"run {name}"
        run_command("synthesize", table, "--model", "uniform", "--no-test", "--seed", "5550123",
                    "--out", out)  # fmt: skip
        page = out / "public/datasheet.html"
        pages.append(page.read_bytes())
        assert page.stat().st_mode == (out / "public/traces.csv").stat().st_mode
        told = json.loads((out / "internal/manifest.json").read_text())
        text = pages[-1].decode()
        for secret in (label, name, str(tmp_path), "5550123", told["input"]["sha256"],
                       str(told["input"]["events"]), told["started"]):  # fmt: skip
            assert secret not in text
    assert pages[0] == pages[1]


def test_figures_by_hand(traces):
    page = datasheet(traces, Method.of_manifest(manifest()))
    text = _text(page)
    # traces sorted: 1 1 1 2 . 2 / 2 0 0 0 0 . / 2 2 2 1 1 2
    assert "traces 3" in text and "events 16" in text and "places visited 3" in text
    assert "2020-01-01 09:00 to 10:40, local time" in text
    assert "one instant 20 minutes" in text
    # place 2: 2 + 1 + 4 of 16; place 1: 3 + 2; place 0: 4
    assert "</script> 44 %" in text and "b 31 %" in text and "a 25 %" in text
    # steps without a gap: 3 + 4 + 5, of them to another place: 1 + 1 + 2; by hour of arrival:
    # 09: 6 steps, 1 move (2→0); 10: 6 steps, 3 moves
    assert "09–10 h 17 %" in text and "10–11 h 50 %" in text
    # stays in instants: 3 1 . 1 / 1 4 / 3 2 1: half are 1 instant
    assert "Half of all stays last 20 minutes or less." in text
    assert "most between 10:00 and 11:00 (50 %), and least between 09:00 and 10:00 (17 %)" in text
    assert "those of the publisher’s list of places" in text


def test_it_recommends_nothing_that_models_even_out(traces):
    text = _text(datasheet(traces, Method.of_manifest(manifest())))
    meant, _, not_meant = text.partition("They are not meant for:")
    assert "stay" not in meant[meant.index("They are meant for") :]
    assert "how long they stay" in not_meant


def test_parameters_in_plain_words(traces):
    text = _text(datasheet(traces, Method.of_manifest(manifest())))
    assert "At least 12 users" in text and "promise (12, 0.5)-plausible deniability" in text
    assert "plausible, k 12" in text and "η 0.5" in text and "covers each trace alone" in text
    assert "What is not promised: It is not differential privacy." in text
    assert "model Doppel: a <model>" in text
    assert "factors 7" in text and "training iterations 300" in text and "rate 0.5" in text


def _sheet(traces, guarantee):
    return _text(datasheet(traces, Method.of_manifest(manifest(guarantee=guarantee.to_dict()))))


def test_parameters_of_the_randomized_test(traces):
    parameters = {"k": 50, "eta": 1.0, "verifiers": 32000, "epsilon0": 0.5, "epsilon": 0.5731}
    text = _sheet(traces, deniability(50, parameters=parameters))
    assert "ε₀ 0.5" in text and "ε 0.573" in text and "drawn at random 32,000" in text


def test_without_a_test_it_says_so(traces):
    text = _sheet(traces, UNTESTED)
    assert "The traces come with no guarantee. No deniability test was made." in text
    assert "They were not tested" in text and "promise" not in text


def test_a_promise_that_says_nothing_is_no_promise(traces):
    text = _sheet(traces, VACUOUS)
    assert "(10, 1)-plausible deniability holds, but says nothing here. Every user" in text
    assert "Read it as no guarantee" in text
    assert "In plain words" not in text and "k 10" not in text


def test_differential_privacy(traces):
    text = _sheet(traces, differential(1.0))
    assert "privacy loss, ε 1 " in text and "δ 1e-06" in text
    assert "covers one user with all of their data" in text
    assert "fitted with random noise" in text and "tested on its own" not in text
    assert "deniability" not in text


def test_the_publishers_words_are_escaped(traces):
    words = Publication("A & <b>B</b>", "$style <x>", "L<", 'C"ite', "c@d>")
    page = datasheet(traces, Method.of_manifest(manifest()), words)
    assert "<b>B" not in page and "<x>" not in page
    for text in ("A &amp; &lt;b&gt;B", "$style &lt;x&gt;", "L&lt;", "C&#34;ite", "c@d&gt;"):
        assert text in page


def test_self_contained_and_well_formed(traces):
    page = datasheet(traces, Method.of_manifest(manifest()))
    assert "<script" not in page
    assert not re.search(r"""(src|href)\s*=|url\(|@import|https?:""", page)
    checked = _Tags()
    checked.feed(page)
    assert checked.open == []
    assert checked.headings[0] == 1
    assert all(b - a <= 1 for a, b in zip(checked.headings, checked.headings[1:], strict=False))
    assert checked.pictures > 0 and checked.pictures == checked.described
    assert 'lang="en"' in page and "prefers-color-scheme: dark" in page and "@media print" in page


def test_an_empty_release(synthetic, tmp_path):
    done = release(synthetic, np.zeros(3, dtype=bool), tmp_path / "none")
    text = _text(datasheet(done.traces, Method.of_manifest(manifest())))
    assert "traces 0" in text and "no events" in text and "holds no traces" in text


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_one_event_and_either_format(tiny, tmp_path, format):
    one = dt.SyntheticTraces([[3]], [0], [0], tiny.places, tiny.clock)
    done = release(one, np.array([True]), tmp_path / "one", format=format)
    text = _text(datasheet(done.traces, Method.of_manifest(manifest())))
    assert "traces 1" in text and "3 100 %" in text and f"traces.{format}" in text
    assert "When they move" not in text


def test_the_page_does_not_grow_with_the_places(tmp_path):
    n = 3000
    rng = np.random.default_rng(0)
    clock = dt.Clock.regular(instant_minutes=60)
    places = dt.Places(np.arange(n), 40 + rng.random(n), -74 + rng.random(n))
    made = dt.SyntheticTraces(
        rng.integers(n, size=(500, 24)), np.zeros(500), np.zeros(500), places, clock
    )
    done = release(made, np.ones(500, dtype=bool), tmp_path / "many")
    page = datasheet(done.traces, Method.of_manifest(manifest()))
    assert "the 250 busiest places" in page
    assert len(page) < 100_000


def test_the_publishers_words_can_be_changed(traces):
    told = Publication.of_manifest(manifest())
    page = datasheet(traces, Method.of_manifest(manifest()), told)
    assert "Where &lt;i&gt;they" in page and "CC BY 4.0" in page
    changed = told.changed(licence="CC0", contact="me@example.org", title=None)
    again = datasheet(traces, Method.of_manifest(manifest()), changed)
    assert "Where &lt;i&gt;they" in again and "CC0" in again and "me@example.org" in again


def test_safeguards_are_told_in_public_words(traces):
    told = manifest(public_safeguards=["Places of <few> people were merged."], safeguards={"n": 7})
    page = datasheet(traces, Method.of_manifest(told))
    assert "Places of &lt;few&gt; people were merged." in page


@pytest.fixture
def run_command():
    from typer.testing import CliRunner

    from doppeltrace.cli.program import app

    def call(*arguments):
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert result.exit_code == 0, result.output

    return call


def test_a_released_file_in_any_order_gives_the_same_figures(traces, tmp_path):
    """What is counted does not lean on the order of the rows."""
    frame = pl.read_csv(traces, infer_schema=False)
    shuffled = tmp_path / "traces.csv"
    frame.sample(fraction=1, shuffle=True, seed=1).write_csv(shuffled)
    pages = [_text(datasheet(p, Method.of_manifest(manifest()))) for p in (traces, shuffled)]
    pages = [re.sub(r"SHA-256 of the file \w+", "", page) for page in pages]
    assert pages[0] == pages[1]


def _leaves(value):
    if isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif value != "0":
        yield str(value)


def _text(page):
    body = page[page.index("<body>") :]
    return " ".join(
        re.sub(r"<[^>]*>", " ", body).replace("&lt;", "<").replace("&gt;", ">").split()
    )


class _Tags(HTMLParser):
    void = {"meta", "path", "circle", "rect"}

    def __init__(self):
        super().__init__()
        self.open, self.headings, self.pictures, self.described = [], [], 0, 0

    def handle_starttag(self, tag, attributes):
        if tag not in self.void:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg":
            self.pictures += 1
            told = dict(attributes)
            self.described += told.get("role") == "img" and bool(told.get("aria-label"))

    def handle_startendtag(self, tag, attributes):
        assert tag in self.void

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
