"""Sentences of the public page that depend on what there is to say."""

from doppeltrace.report.public.sections import when_they_move


def test_hours_that_hardly_differ_are_no_finding():
    words = when_they_move({9: 0.233, 10: 0.24, 11: 0.23}).words
    assert words == "It is nearly the same all day: from 23\u00a0% to 24\u00a0%."
    assert "move most between 10:00" in when_they_move({9: 0.2, 10: 0.24}).words


def test_an_hour_without_events_leaves_a_gap():
    chart = when_they_move({9: 0.2, 11: 0.4})
    assert [column.height > 0 for column in chart.picture.columns] == [True, False, True]
    assert [name for name, _ in chart.rows] == ["09–10 h", "11–12 h"]
