"""What is lost: the scorecard's shares and words, and what is said beside them."""

import math
from dataclasses import replace

import pytest

from doppeltrace.report.internal import loss_section
from doppeltrace.report.internal.losses import WORDS, losses


def test_shares_and_words_are_the_scorecards(small_run, found):
    for loss, measure in zip(found.losses, small_run.score.measures, strict=True):
        assert (loss.name, loss.plain, loss.group) == (measure.name, measure.plain, measure.group)
        assert loss.share == measure.share and loss.verdict == measure.word
        assert loss.verdict in WORDS
        assert bool(loss.why_left_out) == (measure.name in small_run.score.left_out)
    assert found.summary == small_run.score.summary


def test_what_is_not_defined_is_none(small_run):
    first = replace(small_run.score.measures[0], training=math.nan)
    (loss,) = losses(replace(small_run.score, measures=(first,)), [])
    assert loss.training is None and loss.share is None and loss.verdict == "no yardstick"


@pytest.fixture
def values(found):
    return found.to_dict()


def shown(values, name):
    rows = [row for _, rows in loss_section.losses(values).groups for row in rows]
    label = next(row["label"] for row in values["losses"] if row["name"] == name)
    return next(row for row in rows if row.label == label)


@pytest.mark.parametrize(
    ("changes", "word", "at"),
    [
        ({"share": 0.8, "verdict": "kept", "synthetic": 0.3}, "kept, 80 %", 20),
        ({"share": 1.0, "verdict": "kept", "synthetic": 0.1}, "kept, 100 %; nearer than tr", 0),
        ({"share": 0.0, "verdict": "lost", "synthetic": 0.9}, "lost, 0 %; no better than", 100),
        ({"share": 0.0, "verdict": "lost", "synthetic": None}, "lost, 0 %; no better than", 100),
        ({"share": 0.2, "verdict": "lost", "gaps": True}, "lost, 20 %; the real traces ha", 80),
        ({"share": None, "verdict": "no yardstick"}, "no yardstick", None),
    ],
)
def test_a_row_in_words(values, changes, word, at):
    row = next(row for row in values["losses"] if row["name"] == "tp_tv")
    row |= {"training": 0.2, "frozen": 0.6, "independent": 0.7, "gaps": False, **changes}
    one = shown(values, "tp_tv")
    assert one.word.replace("\u00a0", " ").startswith(word) and one.at == at


def test_the_summary_in_words(values):
    values["summary"] = {"population": 0.9, "movement": 0.5, "days": 0.2, "clusters": None,
                         "mean": 0.53, "worst": 0.2}  # fmt: skip
    view = loss_section.losses(values)
    assert view.mean == "53\u00a0%" and view.worst == "what a day looks like, 20\u00a0%"
    assert [bar.width for bar in view.bars] == [90, 50, 20, None]
    assert view.bars[-1].share == "says nothing on these data"
    values["summary"] = dict.fromkeys(values["summary"])
    assert loss_section.losses(values).mean is None
