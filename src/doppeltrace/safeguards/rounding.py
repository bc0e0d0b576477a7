"""Numbers for public files: rounded, so that one person more or less does not show."""

from __future__ import annotations

import math


def rounded_count(count: int) -> str:
    """Return a count in words, to two significant digits and never finer than tens.

    Below 10 it is "fewer than 10"; 0 says so too, since nobody must be told from somebody.
    """
    if count < 10:
        return "fewer than 10"
    unit = max(10, 10 ** (math.floor(math.log10(count)) - 1))
    return f"about {round(count / unit) * unit:,}"


def rounded_share(share: float) -> str:
    """Return a share in words, to the nearest 5 %."""
    if share < 0.05:
        return "less than 5 %"
    if share > 0.95:
        return "more than 95 %"
    return f"about {5 * round(20 * share)} %"
