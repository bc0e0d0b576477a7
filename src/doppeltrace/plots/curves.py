"""Curves: the pass rate over k, and running times over users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from doppeltrace.deniability.deterministic import Deniability
from doppeltrace.errors import require
from doppeltrace.plots.canvas import COLOURS, MARKERS, panels, tidy

POINTS = 60
"""Values of k at most, spread evenly on the logarithmic scale."""


def plot_pass_rate(
    tests: Deniability | Mapping[str, Deniability], *, k: ArrayLike | None = None, ax: Any = None
) -> Any:
    """Return the share of traces that pass the deniability test, over k.

    Parameters
    ----------
    tests : what the test found, or several by name. A test that stopped counting at its k
        (`count_all=False`) is shown up to there.
    k : values of k; by default from 1 to where no trace passes any more.
    ax : axes to draw into.
    """
    named = {"": tests} if isinstance(tests, Deniability) else dict(tests)
    require(len(named) > 0, "there is nothing to plot: give what a deniability test found")
    figure, axes = panels(1, 1, ax)
    one = axes[0, 0]
    for number, (name, test) in enumerate(named.items()):
        ks = _range(test) if k is None else np.atleast_1d(np.asarray(k))
        colour = COLOURS[number % len(COLOURS)]
        one.plot(ks, 100 * test.pass_rate_at(ks), color=colour, label=name or None)
        one.plot(
            [test.k], [100 * test.pass_rate], color=colour, linestyle="none",
            marker=MARKERS[number % len(MARKERS)], markersize=5,
        )  # fmt: skip
    one.set_xscale("log")
    one.xaxis.set_major_formatter("{x:,.0f}")
    one.set_ylim(0, 103)
    tidy(one, "k, users who must be plausible", "traces that pass, %")
    if any(named):
        one.legend(frameon=False)
    return figure


def plot_times(records: Iterable[Mapping[str, Any]], *, ax: Any = None) -> Any:
    """Return running times over the number of users: a panel per model, a line per stage.

    Both scales are logarithmic; the dotted line grows in proportion to the users.

    Parameters
    ----------
    records : {"users": int, "model": str, "stage": str, "seconds": float} each, in any order;
        times of one model, stage and size add up.
    ax : axes to draw into, one per model.
    """
    times: dict[str, dict[str, dict[int, float]]] = {}
    for record in records:
        by_users = times.setdefault(record["model"], {}).setdefault(record["stage"], {})
        by_users[record["users"]] = by_users.get(record["users"], 0.0) + float(record["seconds"])
    require(len(times) > 0, "there is nothing to plot: give records of running times")
    names = list(dict.fromkeys(stage for stages in times.values() for stage in stages))
    figure, axes = panels(1, len(times), ax, size=(4.4, 3.8))
    for one, (model, stages) in zip(axes[0], times.items(), strict=True):
        total: dict[int, float] = {}
        for stage, by_users in stages.items():
            number = names.index(stage)
            _line(one, by_users, COLOURS[number % 6], MARKERS[number % len(MARKERS)], stage)
            for users, seconds in by_users.items():
                total[users] = total.get(users, 0.0) + seconds
        if len(stages) > 1:
            _line(one, total, "black", "", "all")
        _proportional(one, total)
        one.set_xscale("log")
        one.set_yscale("log")
        one.xaxis.set_major_formatter("{x:,.0f}")
        one.yaxis.set_major_formatter("{x:g}")
        one.set_title(model)
        tidy(one, "users", "seconds")
    # one legend beside the panels: inside, it would lie on the lines
    axes[0][-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _range(test: Deniability) -> np.ndarray:
    most = int(test.plausible.max(initial=1)) + 1 if test.counted_all else test.k
    return np.unique(np.rint(np.geomspace(1, max(most, 1), POINTS)).astype(np.int64))


def _line(axes: Any, by_users: Mapping[int, float], colour: str, marker: str, name: str) -> None:
    users = sorted(by_users)
    axes.plot(
        users, [by_users[n] for n in users], color=colour, marker=marker, markersize=5, label=name,
        linewidth=2.0 if name == "all" else 1.2,
    )  # fmt: skip


def _proportional(axes: Any, total: Mapping[int, float]) -> None:
    users = sorted(total)
    if len(users) > 1:
        ends = np.array([users[0], users[-1]])
        seconds = total[users[-1]] * ends / users[-1]
        axes.plot(ends, seconds, color="0.5", linestyle=":", label="∝ users")
