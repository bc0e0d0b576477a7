"""Figures in words."""

from doppeltrace.report.figures.words import clock_time, cut, duration, percent, sentence, unbroken


def test_percent():
    assert [percent(x) for x in (0, 0.001234, 0.01234, 0.1234)] == [
        "0\u00a0%", "0.12\u00a0%", "1.2\u00a0%", "12\u00a0%",
    ]  # fmt: skip
    assert [percent(x) for x in (0.00998, 0.0998)] == ["1.0\u00a0%", "10\u00a0%"]
    assert [clock_time(x) for x in (1 / 3, 10 + 1 / 3, 2)] == ["0:20", "10:20", "2:00"]
    assert cut("a place", 7) == "a place" and cut("a longer place", 9) == "a longer…"
    assert unbroken("a 95 % b (p = 0.1)") == "a 95\u00a0% b (p\u00a0=\u00a00.1)"
    assert unbroken("9:00–10:00") == "9:00\u2060–\u206010:00"


def test_sentences_and_durations():
    assert [sentence(x) for x in ("a b", "A.", "x; …")] == ["A b.", "A.", "X; …"]
    words = [duration(x) for x in (1 / 3, 1, 1.5, 2, 2.25)]
    assert words == ["20 minutes", "1 hour", "90 minutes", "2 hours", "2.25 hours"]
