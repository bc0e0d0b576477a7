"""`doppeltrace report` makes the pages of a run again, and says what is no run."""

import json
import webbrowser

import pytest


@pytest.fixture
def finished(run, table, tmp_path, quick_test):
    out = tmp_path / "run"
    done = run(
        "synthesize", table, "--model", "copycat", "--instant-minutes", 20, "--first-hour", 8,
        "--last-hour", 20, "--no-daily", "--k", 5, "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return out


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_the_pages_come_back(run, finished):
    before = contents(finished)
    for name in ("internal/report.html", "public/datasheet.html"):
        (finished / name).unlink()
    result = run("report", finished)
    assert result.exit_code == 0, result.output
    assert contents(finished) == before
    assert (finished / "internal/report.html").stat().st_mode & 0o077 == 0
    assert str(finished / "internal/report.html") in result.stdout


def test_the_publishers_words_go_to_the_public_page_only(run, finished):
    assert run("report", finished, "--title", "A <quiet> town").exit_code == 0
    assert "A &lt;quiet&gt; town" in (finished / "public/datasheet.html").read_text()
    assert "quiet" not in (finished / "internal/report.html").read_text()


def test_the_publishers_words_stay(run, finished):
    before = json.loads((finished / "internal/manifest.json").read_text())
    assert run("report", finished, "--title", "A <quiet> town").exit_code == 0
    assert run("report", finished, "--licence", "CC0").exit_code == 0
    assert run("report", finished).exit_code == 0
    page = (finished / "public/datasheet.html").read_text()
    assert "A &lt;quiet&gt; town" in page and "CC0" in page
    after = json.loads((finished / "internal/manifest.json").read_text())
    told = {**before["publication"], "title": "A <quiet> town", "licence": "CC0"}
    assert after == {**before, "publication": told}
    assert (finished / "internal/manifest.json").stat().st_mode & 0o777 == 0o600


def test_open(run, finished, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: bool(opened.append(address)))
    result = run("report", finished, "--open")
    assert opened == [(finished / "internal/report.html").resolve().as_uri()]
    assert result.exit_code == 0 and "open" in result.stderr  # no browser took it


def test_what_is_no_run(run, finished, tmp_path):
    for folder, words in (
        (tmp_path / "nowhere", "not the folder of a run"),
        (tmp_path, "not the folder"),
    ):
        refused = run("report", folder)
        assert refused.exit_code == 2 and words in refused.stderr
    found = json.loads((finished / "internal/findings.json").read_text())
    (finished / "internal/findings.json").write_text(json.dumps({**found, "format": 0}))
    assert "another version" in run("report", finished).stderr


AUDIT = {
    "level0": None,
    "lira": {
        "auc": 0.71, "null_auc": 0.5, "advantage": 0.3, "null_advantage": 0.01, "runs": 64,
        "users": 100, "tpr_at_1_percent": 0.05, "tpr_at_01_percent": 0.01, "auc_low": 0.69,
        "auc_high": 0.73, "null_tpr_at_1_percent": 0.01, "null_tpr_at_01_percent": 0.001,
        "worst20_auc": 0.8, "null_worst20_auc": 0.5, "exceeds_null": True,
        "curve": {"fpr": [0.001, 0.1, 1.0], "tpr": [0.01, 0.4, 1.0], "null_tpr": [0.001, 0.1, 1]},
    },
    "canaries": {"always at a rare place": {
        "shown_in": 0.9, "shown_out": 0.1, "count_in": 9.0, "count_out": 1.0, "epsilon": 2.5,
        "epsilon_own": 2.5, "true_positive_rate": 0.9, "false_positive_rate": 0.05,
        "instances": 3, "runs": 64}},
    "linked": {},
    "level": "red", "reasons": [], "model": "copycat", "settings": {}, "traces_per_user": 1,
    "runs": 64, "users": 100, "notes": [], "seconds": 1.0,
    "levels_done": [0, 1, 2],
}  # fmt: skip


def test_an_audit_joins_the_report(run, finished, tmp_path):
    file = tmp_path / "audit.json"
    file.write_text(json.dumps(AUDIT))
    before = (finished / "internal/report.html").read_text()
    result = run("report", finished, "--audit", file)
    assert result.exit_code == 0, result.output
    page = (finished / "internal/report.html").read_text()
    assert "0.71" in page and "0.71" not in before
    kept = json.loads((finished / "internal/findings.json").read_text())["audit"]
    assert kept["levels_done"] == [0, 1, 2] and kept["level0"]["min_users"] > 0
    assert run("report", finished).exit_code == 0  # and it stays
    assert (finished / "internal/report.html").read_text() == page


def test_what_is_not_an_audit_is_refused(run, finished, tmp_path):
    before = contents(finished)
    for text in ("{}", "not JSON"):
        (tmp_path / "audit.json").write_text(text)
        result = run("report", finished, "--audit", tmp_path / "audit.json")
        assert result.exit_code == 2 and "is not an audit" in result.stderr
    assert contents(finished) == before
