"""Fit, sample and score one synthesizer after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike

from doppeltrace.comparison.memory import peak_memory
from doppeltrace.comparison.result import Comparison, Row
from doppeltrace.deniability.deterministic import deniability_test
from doppeltrace.errors import require
from doppeltrace.evaluation import Yardsticks, evaluate
from doppeltrace.progress import Callback, Step, silent
from doppeltrace.streams import fresh_seed
from doppeltrace.synthesizers.base import Synthesizer
from doppeltrace.traces import SyntheticTraces, Traces


def compare(
    train: Traces,
    test: Traces,
    synthesizers: Mapping[str, Synthesizer | Sequence[Synthesizer]],
    *,
    traces_per_user: int = 10,
    seed: int | None = None,
    attacks: bool = True,
    groups: ArrayLike | None = None,
    k: int | None = 10,
    eta: float = 1.0,
    audit_runs: int = 0,
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
    groups : (n_users,) true groups of the training users; see `evaluate`.
    k, eta : of the deniability test of one trace per user; k=None leaves it out.
    audit_runs : trainings of each model for LiRA's membership attack (`dt.audit`); 0 leaves it
        out.
    callback : hears of every row, and of the steps inside.

    Times include what a synthesizer compiles or prepares when it is first used; models that
    share a preparation (SGLT's clusters) share its cost, and the first one bears it.
    """
    require(traces_per_user >= 1, "traces_per_user must be at least 1")
    wanted = list(_points(synthesizers))
    require(len(wanted) > 0, "there are no synthesizers to compare")
    seed = fresh_seed() if seed is None else seed
    yardsticks = Yardsticks(train, test, groups=groups, seed=seed)
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
                train=train,
                test=test,
                synthetic=synthetic,
                attacks=attacks,
                seed=seed,
                yardsticks=yardsticks,
            )
            scored = time.perf_counter()
        rows.append(
            Row(
                series=series,
                point=point,
                model=model.name,
                settings=model.settings,
                score=score,
                pass_rate=_pass_rate(model, synthetic, k, eta, seed),
                guarantee=_guarantee(model, k, eta),
                lira_advantage=_lira(model, train, audit_runs, traces_per_user, seed, callback),
                fit_seconds=fitted - begin,
                sample_seconds=sampled - fitted,
                score_seconds=scored - sampled,
                peak_memory_mb=peak.mb,
            )
        )
    callback(Step("comparison", len(wanted), len(wanted)))
    return Comparison(tuple(rows), traces_per_user)


def _pass_rate(
    model: Synthesizer, synthetic: SyntheticTraces, k: int | None, eta: float, seed: int
) -> float | None:
    """Return the share that passes; None without a test, or where it has nothing to tell."""
    if k is None or not model.testable or model.same_for_all_users:
        return None
    one_each = synthetic.select(synthetic.replicate == 0)
    tested = deniability_test(model, one_each, k=k, eta=eta, seed=seed, count_all=False)
    return float(tested.pass_rate)


def _guarantee(model: Synthesizer, k: int | None, eta: float) -> str:
    """Return what a release of this model would promise."""
    if model.guarantee is not None:
        return model.guarantee.title
    if k is None or not model.testable or model.same_for_all_users:
        return "none"
    return f"({k}, {eta:g})-PD"


def _lira(
    model: Synthesizer,
    train: Traces,
    runs: int,
    traces_per_user: int,
    seed: int,
    callback: Callback,
) -> float | None:
    """Return the advantage of LiRA's membership attack."""
    if runs == 0:
        return None
    audit = import_module("doppeltrace.audit.run").audit  # heavy, and seldom asked for
    found = audit(
        train,
        model,
        runs=runs,
        traces_per_user=traces_per_user,
        seed=seed,
        levels=(1,),
        callback=callback,
    )
    return float(found.lira.advantage)


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
