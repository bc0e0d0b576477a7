"""The figures of the public page: maps, tables and charts of the released traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape

from doppeltrace.report.figures.drawings import bar_chart, bubble_map
from doppeltrace.report.figures.words import clock_time, percent
from doppeltrace.report.public.released import SHOWN_PLACES, Bars, ReleasedFigures

NEARLY_THE_SAME = 1.2
"""Highest share through lowest, below which no hour stands out."""


def figures(f: ReleasedFigures) -> str:
    """Return maps, busiest places, and charts of when, how far and how long, as HTML."""
    if f.events == 0:
        return "<p>The file holds no traces.</p>"
    parts = [_maps(f), _busiest(f)]
    if f.moving:
        parts.append(_moving(f.moving))
    if f.trips is not None:
        parts.append(
            _histogram(
                f.trips,
                lambda km: f"{km:.3g}",
                "How far they go",
                "Length of a move between two places, in a straight line, in km.",
                f"Half of all moves are {f.trips.typical:.2g} km or shorter.",
            )
        )
    if f.stays is not None:
        parts.append(
            _histogram(
                f.stays,
                clock_time,
                "How long they stay",
                "Time at one place without a break, in hours and minutes.",
                f"Half of all stays last {duration(f.stays.typical)} or less.",
            )
        )
    return "\n".join(parts)


def _maps(f: ReleasedFigures) -> str:
    largest = max(float(p.share.max()) for p in f.periods)
    maps = "".join(
        "<figure>"
        + bubble_map(
            f.lat, f.lng, p.share, largest,
            f"Map of the events from {p.first_hour} to {p.last_hour} o'clock; the busiest place "
            f"has {percent(p.share.max())} of them",
        )
        + f"<figcaption>{p.name}, {p.first_hour:02}–{p.last_hour:02} h</figcaption></figure>"
        for p in f.periods
    )  # fmt: skip
    left_out = (
        f" Shown are the {SHOWN_PLACES} busiest places, with {percent(f.shown_share)} of the "
        "events."
        if f.places > SHOWN_PLACES
        else ""
    )
    return (
        '<h3>Where they are</h3><p class="soft">The area of a disc is the share of the events of '
        "that part of the day at a place, on one scale for all maps; north is up."
        f"{left_out}</p>"
        f'<div class="maps">{maps}</div>'
    )


def _busiest(f: ReleasedFigures) -> str:
    rows = "".join(
        f'<tr><td class="label">{escape(label)}</td><td class="number">{percent(share)}</td></tr>'
        for label, share in f.busiest
    )
    return (
        "<h3>The busiest places</h3>"
        '<table><thead><tr><th scope="col">location</th><th scope="col" class="number">share of '
        f"all events</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _moving(moving: Mapping[int, float]) -> str:
    hours = range(min(moving), max(moving) + 1)
    values = [moving.get(hour, 0.0) for hour in hours]
    busy, quiet = (pick(moving, key=lambda hour: moving[hour]) for pick in (max, min))
    every = 1 if len(values) <= 12 else 3
    ticks = [(h - hours[0] + 0.5, f"{h:02}") for h in hours if h % every == 0]
    table = _table(
        ("hour", "share on the move"),
        [(f"{h:02}–{h + 1:02} h", percent(v)) for h, v in moving.items()],
    )
    axis = "Share of events elsewhere than an instant before, by hour of the day."
    if moving[busy] < NEARLY_THE_SAME * moving[quiet]:
        words = (
            f"It is nearly the same all day: from {percent(moving[quiet])} to "
            f"{percent(moving[busy])}."
        )
    else:
        most, least = (
            f"between {h:02}:00 and {h + 1:02}:00 ({percent(moving[h])})" for h in (busy, quiet)
        )
        words = f"They move most {most}, and least {least}."
    return _figure(
        "When they move", axis, words, bar_chart(values, ticks, f"{axis} {words}"), table
    )


def _histogram(
    bars: Bars, write: Callable[[float], str], title: str, axis: str, words: str
) -> str:
    edges = [write(i * bars.width) for i in range(len(bars.share) + 1)]
    names = [f"{a}–{b}" for a, b in zip(edges[:-1], edges[1:], strict=True)]
    ticks = list(enumerate(edges))[: len(bars.share) + (not bars.open_ended)]
    if bars.open_ended:
        names[-1] = f"{edges[-2]} and more"
    table = _table(
        (axis.rpartition(", ")[2].rstrip("."), "share"),
        [(name, percent(share)) for name, share in zip(names, bars.share, strict=True)],
    )
    return _figure(title, axis, words, bar_chart(bars.share, ticks, f"{axis} {words}"), table)


def _figure(title: str, axis: str, words: str, picture: str, table: str) -> str:
    return (
        f'<h3>{title}</h3><p class="soft">{axis}</p><figure>{picture}'
        f"<figcaption>{words}</figcaption></figure>"
        f"<details><summary>{title}: the numbers</summary>{table}</details>"
    )


def _table(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(
        f'<tr><th scope="row">{name}</th><td class="number">{value}</td></tr>'
        for name, value in rows
    )
    return (
        f'<table><thead><tr><th scope="col">{header[0]}</th><th scope="col" class="number">'
        f"{header[1]}</th></tr></thead><tbody>{body}</tbody></table>"
    )


def duration(hours: float) -> str:
    """Return a time in words."""
    minutes = round(hours * 60)
    if minutes < 60 or minutes % 60 and minutes < 120:
        return f"{minutes} minutes"
    return "1 hour" if minutes == 60 else f"{minutes / 60:.3g} hours"
