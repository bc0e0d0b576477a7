"""Fit, sample and score one synthesizer after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doppeltrace.comparison.memory import peak_memory
from doppeltrace.comparison.result import Comparison, Row
from doppeltrace.errors import require
from doppeltrace.evaluation import evaluate
from doppeltrace.progress import Callback, Step, silent
from doppeltrace.streams import fresh_seed
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.traces import Traces


def compare(
    train: Traces,
    test: Traces,
    synthesizers: Mapping[str, Synthesizer | Sequence[Synthesizer]],
    *,
    traces_per_user: int = 10,
    seed: int | None = None,
    attacks: bool = True,
    callback: Callback = silent,
) -> Comparison:
    """Run every synthesizer on the same data and score what it makes.

    Parameters
    ----------
    train, test : traces of different users, with the same places and clock.
    synthesizers : label → a synthesizer, or several that differ in their settings, which make
        a curve in the trade-off plots.
    seed : seed of all draws and of the evaluation's subsets, None to draw one from the
        operating system. Training has the seed of each synthesizer.
    attacks : False leaves out re-identification and membership inference.
    callback : hears of every row, and of the steps inside.

    Times include what a synthesizer compiles or prepares when it is first used; models that
    share a preparation (SGLT's clusters) share its cost, and the first one bears it.
    """
    require(traces_per_user >= 1, "traces_per_user must be at least 1")
    wanted = list(_points(synthesizers))
    require(len(wanted) > 0, "there are no synthesizers to compare")
    seed = fresh_seed() if seed is None else seed
    rows = []
    for number, (series, point, model) in enumerate(wanted):
        callback(Step("comparison", number, len(wanted)))
        with peak_memory() as peak:
            begin = time.perf_counter()
            model.fit(train, callback=callback)
            fitted = time.perf_counter()
            synthetic = model.sample(traces_per_user, seed=seed, callback=callback)
            sampled = time.perf_counter()
            score = evaluate(
                train=train, test=test, synthetic=synthetic, attacks=attacks, seed=seed
            )
            scored = time.perf_counter()
        rows.append(
            Row(
                series=series,
                point=point,
                model=model.name,
                settings=model.settings,
                score=score,
                fit_seconds=fitted - begin,
                sample_seconds=sampled - fitted,
                score_seconds=scored - sampled,
                peak_memory_mb=peak.mb,
            )
        )
    callback(Step("comparison", len(wanted), len(wanted)))
    return Comparison(tuple(rows), traces_per_user)


def _points(
    synthesizers: Mapping[str, Synthesizer | Sequence[Synthesizer]],
) -> Iterator[tuple[str, str, Synthesizer]]:
    """Yield (series, what is special about the point, synthesizer)."""
    for series, given in synthesizers.items():
        models = [given] if isinstance(given, Synthesizer) else list(given)
        settings = [model.settings for model in models]
        varied = [
            name
            for name in (settings[0] if settings else ())
            if any(name not in s or s[name] != settings[0][name] for s in settings)
        ]
        for number, (model, mine) in enumerate(zip(models, settings, strict=True)):
            point = ", ".join(f"{name}={_plain(mine[name])}" for name in varied if name in mine)
            if not point and len(models) > 1:
                point = f"#{number + 1}"
            yield series, point, model


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
