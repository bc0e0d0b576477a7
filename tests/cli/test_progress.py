"""Progress: plain lines now and then without a terminal, bars with one."""

import io

import pytest
from rich.console import Console

from doppeltrace.cli.progress import Reporter, readable_time
from doppeltrace.progress import Step


def test_plain_lines_every_few_seconds_with_time_left():
    text, clock = io.StringIO(), iter(range(1000))
    reporter = Reporter(Console(file=text, width=200), now=lambda: float(next(clock)))
    with reporter.phase("training"):  # the clock goes one second per look
        for done in range(1, 11):
            reporter(Step("training", done, 10, {"rmse": 0.25}))
    lines = text.getvalue().splitlines()
    assert lines[0] == "training …"
    assert lines[1] == "training 1/10  rmse 0.25"
    assert lines[2] == "training 4/10  6.0 s left  rmse 0.25"
    assert lines[-1] == "training done in 11 s"
    assert len(lines) == 6
    assert reporter.seconds == {"training": 11.0}


def test_bars_on_a_terminal():
    text = io.StringIO()
    reporter = Reporter(Console(file=text, width=120, force_terminal=True))
    with reporter.phase("training"):
        reporter(Step("training", 3, 3))
    with reporter.phase("release"):
        pass
    shown = text.getvalue()
    assert "training" in shown and "3/3" in shown and "release" in shown


def test_time_is_kept_when_a_phase_fails():
    reporter = Reporter(Console(file=io.StringIO()))
    with pytest.raises(ValueError), reporter.phase("training"):
        raise ValueError
    assert list(reporter.seconds) == ["training"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.9, "9.9 s"), (9.96, "10 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"),
     (7500, "2 h 5 min")],
)  # fmt: skip
def test_readable_time(seconds, text):
    assert readable_time(seconds) == text
