import dataclasses
import io
import json
import math

import pytest
from rich.console import Console

from doppeltrace.attacks import Copies, Membership, Reidentification
from doppeltrace.evaluation.measure import Measure
from doppeltrace.evaluation.scorecard import Counts, Scorecard
from doppeltrace.utility import METRICS

MEASURES = (
    Measure(METRICS["tp_tv"], (0.2, 0.4), 0.1, 0.9, frozen=0.5, independent=0.7, error=0.01),
    Measure(METRICS["vf_tv"], (0.3, 0.3), 0.3, 0.9, frozen=0.31, independent=0.4, error=0.01),
    Measure(METRICS["trip_length_emd"], (math.nan, 1.0), 0.5, 2.0, math.nan, 1.0, 0.1),
)


@pytest.fixture
def card() -> Scorecard:
    return Scorecard(
        measures=MEASURES,
        reidentification=Reidentification(0.25, 0.1, 0.4, 0.01, (0.2, 0.3), 8, 8),
        membership=Membership(0.5, 0.3, 0.6, 0.1, 0.2, 0.01, 3.0, 0.7, 0.2, (0.4, 0.6), 5, 5, 10),
        copies=Copies(9, 4.5, 8.0, 0.125),
        test_copies=Copies(7, 3.5, 6.0, 0.0),
        per_slot={"tp_tv": (0.25, 0.35)},
        per_cluster=(),
        counts=Counts(8, 2, 80, 1, 3),
        notes=("first note", "second note"),
    )


def test_items_are_means(card):
    assert card["tp_tv"] == pytest.approx(0.3)
    assert card["reidentification_rate"] == 0.25
    assert card["membership_advantage"] == 0.5
    with pytest.raises(KeyError, match="tp_tvv.*tp_tv,"):
        card["tp_tvv"]


def test_spread_is_the_standard_deviation_between_replicates(card):
    assert card["tp_tv_spread"] == pytest.approx(math.sqrt(0.02))
    single = dataclasses.replace(MEASURES[0], per_replicate=(0.2,))
    assert math.isnan(single.spread)


def test_json_is_flat_and_says_null_where_undefined(card):
    read = json.loads(card.to_json())
    assert read == card.to_dict()
    assert not any(isinstance(value, dict) for value in read.values())
    assert read["tp_tv_training"] == 0.1 and read["tp_tv_uniform"] == 0.9
    assert read["trip_length_emd"] is None
    assert read["trip_length_emd_per_replicate"] == [None, 1.0]
    assert read["copy_longest"] == 9 and read["copy_test_longest"] == 7
    assert read["tp_tv_slots"] == [0.25, 0.35]
    assert read["notes"] == ["first note", "second note"]


def test_attacks_that_could_not_run_are_null(card):
    bare = dataclasses.replace(
        card, reidentification=None, membership=None, copies=None, test_copies=None
    )
    assert bare["reidentification_rate"] is None
    assert bare["membership_advantage"] is None
    assert bare["copy_longest"] is None
    assert "| re-identification rate | n/a |" in bare.to_markdown()


def test_card_is_frozen(card):
    with pytest.raises(dataclasses.FrozenInstanceError):
        card.notes = ()
    card.to_dict()["tp_tv"] = 7.0
    assert card["tp_tv"] == pytest.approx(0.3)


def test_summary_and_what_is_left_out(card):
    assert card.summary == {
        "population": pytest.approx(0.5),  # VF-TV says nothing: Frozen is within two errors
        "movement": 0.0,  # no trips in one replicate: not defined, and so lost
        "days": None,
        "clusters": None,
        "mean": pytest.approx(0.25),
        "worst": 0.0,
    }
    assert card["summary_mean"] == pytest.approx(0.25) and card["summary_days"] is None
    assert list(card.left_out) == ["vf_tv"]
    assert "Training (0.3) does not clearly lead Frozen (0.31" in card.left_out["vf_tv"]
    assert card["left_out"] == list(card.left_out.values())


def test_markdown_has_one_row_per_score_and_the_notes(card):
    lines = card.to_markdown().splitlines()
    assert lines[0].startswith("| score | traces |")
    assert set(lines[1]) <= set("|-: ")
    assert "| TP-TV | 0.300 | 0.141 | 0.100 | 0.500 | 0.700 | 0.900 | 50 % |" in lines
    assert "| VF-TV | 0.300 | 0.000 | 0.300 | 0.310 | 0.400 | 0.900 | – |" in lines
    assert "| re-identification rate | 0.2500 | 0.1000 to 0.4000 | 0.0100 |" in lines
    assert lines[-2:] == ["- first note", "- second note"]


@pytest.mark.parametrize("width", [80, 160])
def test_table_shows_the_same_numbers_and_fits(card, width):
    console = Console(width=width, file=io.StringIO())
    console.print(card.to_table())
    text = console.file.getvalue()
    assert "…" not in text
    for piece in (
        "TP-TV",
        "0.300",
        "0.141",
        "50 %",
        "membership advantage",
        "3.50 (test)",
        "second note",
    ):
        assert piece in text


def test_repr_html_and_pandas(card):
    assert repr(card).startswith("<Scorecard of 8 traces: population 50 %")
    page = card._repr_html_()
    assert "<td>TP-TV</td>" in page.replace("<td> ", "<td>") and "50 %" in page
    frame = card.to_pandas()
    assert list(frame.index) == ["tp_tv", "vf_tv", "trip_length_emd"]
    assert frame.loc["tp_tv", "share"] == pytest.approx(0.5)
    assert frame.loc["vf_tv", "word"] == "no yardstick"
    assert frame.loc["trip_length_emd", "word"] == "lost"
