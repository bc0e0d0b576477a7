"""One event per instant from positions that are recorded all the time."""

from __future__ import annotations

import polars as pl

from doppeltrace.errors import require

RULES = ("majority", "stay")


def check_rule(rule: str | None) -> None:
    """Raise `SettingsError` unless this is one of `RULES` or None."""
    require(
        rule is None or rule in RULES,
        f"per_instant {rule!r} is not known: choose from {', '.join(RULES)}",
    )


def one_per_instant(points: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Return one row per user and instant: the first at the place that stands for the instant.

    Parameters
    ----------
    points : `user`, `instant`, `place`, `moment` (Datetime) and, for `stay`, `left` (Duration
        until the instant ends), ordered by user and moment; other columns are kept.
    rule : `majority`: the place with the most points; `stay`: the place with the most time, a
        user being at a point's place until the next point or the end of the instant. Among
        equals, the place that was reached first.
    """
    check_rule(rule)
    if rule == "majority":
        weight = pl.lit(1)
    else:
        until_next = pl.col("moment").shift(-1).over("user") - pl.col("moment")
        weight = pl.min_horizontal(until_next, "left").dt.total_microseconds()
    weighed = points.with_columns(__weight__=weight)
    candidates = weighed.group_by("user", "instant", "place", maintain_order=True).agg(
        pl.col("__weight__").sum(),
        pl.exclude("__weight__").first(),
    )
    best = candidates.sort("user", "instant", "__weight__", descending=[False, False, True],
                           maintain_order=True)  # fmt: skip
    best = best.unique(["user", "instant"], keep="first", maintain_order=True)
    return best.select(c for c in points.columns if c != "left")
