"""The figures of the public page: maps, tables and charts of the released traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from doppeltrace.report.figures.drawings import BarChart, BubbleMap, bar_chart, bubble_map
from doppeltrace.report.figures.words import clock_time, duration, percent
from doppeltrace.report.public.released import SHOWN_PLACES, Bars, ReleasedFigures

NEARLY_THE_SAME = 1.2
"""Highest share through lowest, below which no hour stands out."""


@dataclass(frozen=True)
class Maps:
    """Maps of the parts of the day with their captions, and what they leave out in words."""

    pictures: tuple[tuple[BubbleMap, str], ...]
    left_out: str


@dataclass(frozen=True)
class Chart:
    """A bar chart, its words and its numbers.

    Attributes
    ----------
    title, axis, words : what is shown, what is counted, and what can be seen.
    picture : the columns.
    heads, rows : the same as a table.
    """

    title: str
    axis: str
    words: str
    picture: BarChart
    heads: tuple[str, str]
    rows: tuple[tuple[str, str], ...]


def maps(f: ReleasedFigures) -> Maps:
    """Return a map for each part of the day that has events."""
    largest = max(float(p.share.max()) for p in f.periods)
    pictures = tuple(
        (
            bubble_map(
                f.lat, f.lng, p.share, largest,
                f"Map of the events from {p.first_hour} to {p.last_hour} o'clock; the busiest "
                f"place has {percent(float(p.share.max()))} of them",
            ),
            f"{p.name}, {p.first_hour:02}–{p.last_hour:02} h",
        )
        for p in f.periods
    )  # fmt: skip
    left_out = (
        f"The maps show the {SHOWN_PLACES} busiest places, with {percent(f.shown_share)} of the "
        "events."
        if f.places > SHOWN_PLACES
        else ""
    )
    return Maps(pictures, left_out)


def charts(f: ReleasedFigures) -> list[Chart]:
    """Return when they move, how far and how long, as far as there is something to show."""
    found = [when_they_move(f.move_rates)] if f.move_rates else []
    if f.trips is not None:
        found.append(
            _histogram(
                f.trips,
                lambda km: f"{km:.3g}",
                "How far they go",
                "Length of a move between two places, in a straight line, in km.",
                f"Half of all moves are {f.trips.typical:.2g} km or shorter.",
            )
        )
    if f.stays is not None:
        found.append(
            _histogram(
                f.stays,
                clock_time,
                "How long they stay",
                "Time at one place without a break, in hours and minutes.",
                f"Half of all stays last {duration(f.stays.typical)} or less.",
            )
        )
    return found


def when_they_move(rates: Mapping[int, float]) -> Chart:
    """Return the share of events after a move, by hour of the day."""
    hours = range(min(rates), max(rates) + 1)
    values = [rates.get(hour, 0.0) for hour in hours]
    busy, quiet = max(rates, key=rates.__getitem__), min(rates, key=rates.__getitem__)
    every = 1 if len(values) <= 12 else 3
    ticks = [(h - hours[0] + 0.5, f"{h:02}") for h in hours if h % every == 0]
    axis = "Share of events elsewhere than an instant before, by hour of the day."
    if rates[busy] < NEARLY_THE_SAME * rates[quiet]:
        words = (
            f"It is nearly the same all day: from {percent(rates[quiet])} to "
            f"{percent(rates[busy])}."
        )
    else:
        most, least = (
            f"between {h:02}:00 and {h + 1:02}:00 ({percent(rates[h])})" for h in (busy, quiet)
        )
        words = f"They move most {most}, and least {least}."
    return Chart(
        "When they move",
        axis,
        words,
        bar_chart(values, ticks, f"{axis} {words}"),
        ("hour", "share on the move"),
        tuple((f"{h:02}–{h + 1:02} h", percent(v)) for h, v in rates.items()),
    )


def _histogram(
    bars: Bars, write: Callable[[float], str], title: str, axis: str, words: str
) -> Chart:
    edges = [write(i * bars.width) for i in range(len(bars.share) + 1)]
    names = [f"{a}–{b}" for a, b in zip(edges[:-1], edges[1:], strict=True)]
    ticks: list[tuple[float, str]] = [(i, edge) for i, edge in enumerate(edges)]
    if bars.open_ended:
        names[-1] = f"{edges[-2]} and more"
        ticks.pop()
    return Chart(
        title,
        axis,
        words,
        bar_chart(bars.share, ticks, f"{axis} {words}"),
        (axis.rpartition(", ")[2].rstrip("."), "share"),
        tuple((name, percent(share)) for name, share in zip(names, bars.share, strict=True)),
    )
