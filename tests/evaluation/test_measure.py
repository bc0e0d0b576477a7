"""Shares of the way from trivial to Training, their words, and the summary."""

import math

import pytest

from doppeltrace.evaluation.measure import Measure, summarize, word
from doppeltrace.utility import METRICS

NAN = math.nan


def measure(value, *, name="tp_tv", training=0.2, frozen=0.6, independent=0.8, **more):
    settings = {"uniform": 1.0, "error": 0.01, **more}
    return Measure(
        METRICS[name], (value,), training, frozen=frozen, independent=independent, **settings
    )


@pytest.mark.parametrize(
    ("value", "share"), [(0.2, 1.0), (0.1, 1.0), (0.3, 0.75), (0.5, 0.25), (0.6, 0.0), (0.9, 0.0)]
)
def test_share_of_the_way(value, share):
    assert measure(value).share == pytest.approx(share)


def test_the_better_trivial_generator_is_zero():
    assert measure(0.3, frozen=0.9, independent=0.4).share == pytest.approx(0.5)
    assert measure(0.3, frozen=NAN, independent=0.4).share == pytest.approx(0.5)


def test_yardsticks_have_one_and_zero():
    one = measure(0.3)
    assert (one.share_of("training"), one.share_of("frozen"), one.share_of("independent")) == (
        1,
        0,
        0,
    )


@pytest.mark.parametrize(
    "more",
    [
        {"error": 0.2},  # a lead of 0.4 is not more than two errors
        {"error": NAN},
        {"frozen": NAN, "independent": NAN},
        {"training": NAN},
        {"training": 0.6},
        {"uniform": 0.2},  # as near as Training without knowing anything
    ],
)
def test_a_figure_that_says_nothing(more):
    one = measure(0.3, **more)
    assert one.share is None and one.word == "no yardstick"
    assert one.why_left_out.startswith("TP-TV")


def test_not_defined_means_lost():
    assert measure(NAN).share == 0.0


def test_words():
    assert [word(x) for x in (0.75, 0.74, 0.26, 0.25, None)] == [
        "kept",
        "partly lost",
        "partly lost",
        "lost",
        "no yardstick",
    ]


def test_summary_is_a_mean_of_groups():
    found = summarize(
        [
            measure(0.2),  # population: 1 and 0.5
            measure(0.4, name="tp_js"),
            measure(0.5, name="od_tv"),  # movement: 0.25
            measure(0.3, name="stay_emd", error=1.0),  # days: nothing
            measure(0.6, name="group_tv"),  # clusters: 0
        ]
    )
    assert found == {
        "population": pytest.approx(0.75),
        "movement": pytest.approx(0.25),
        "days": None,
        "clusters": 0.0,
        "mean": pytest.approx(1 / 3),
        "worst": 0.0,
    }
    assert set(summarize([]).values()) == {None}
