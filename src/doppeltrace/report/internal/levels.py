"""Green, amber, red, and what cannot be told: the levels of a verdict and of its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["green", "amber", "red", "unknown"]

GREEN: Level = "green"
AMBER: Level = "amber"
RED: Level = "red"
UNKNOWN: Level = "unknown"
"""Not measurable: neither for nor against."""

BADGES: dict[Level, str] = {
    GREEN: "✓ fine",
    AMBER: "! look",
    RED: "✕ stop",
    UNKNOWN: "– unknown",
}


@dataclass(frozen=True)
class Reason:
    """One thing that was looked at: its level, a heading, and the figures in words."""

    level: Level
    title: str
    text: str
