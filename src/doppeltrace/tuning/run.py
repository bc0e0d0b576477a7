"""Cross-validate settings at a wished privacy, as many as the budget of time allows."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.deniability.deterministic import deniability_test
from doppeltrace.errors import InputError, SettingsError, require
from doppeltrace.evaluation import Yardsticks, evaluate
from doppeltrace.io.dataset import Dataset
from doppeltrace.progress import Callback, Step, silent
from doppeltrace.safeguards.protect import protect
from doppeltrace.safeguards.rare_places import MIN_USERS
from doppeltrace.streams import fresh_seed, generator
from doppeltrace.synthesizers import MODELS, Synthesizer
from doppeltrace.synthesizers.checks import training_traces
from doppeltrace.traces import Traces
from doppeltrace.tuning.candidates import Grid, candidates
from doppeltrace.tuning.result import Trial, Tuning

MIN_PASS_RATE = 0.5


@dataclass(frozen=True, eq=False)
class Fold:
    """Users to learn from, and others to score against, over the same merged places."""

    fitted: Traces
    train: Traces
    test: Traces
    yardsticks: Yardsticks


def tune(
    data: Traces | Dataset,
    model: Synthesizer | str = "doppel",
    *,
    budget: float = 10.0,
    grid: Grid | None = None,
    fixed: tuple[str, ...] = (),
    folds: int = 3,
    traces_per_user: int = 1,
    k: int = 10,
    eta: float = 1.0,
    min_pass_rate: float = MIN_PASS_RATE,
    min_users: int = MIN_USERS,
    seed: int | None = None,
    callback: Callback = silent,
) -> Tuning:
    """Choose settings by cross-validation on the summary, at a wished privacy.

    The training users are divided into folds. Settings are judged by the mean over the folds of
    `Scorecard.summary["mean"]`: fitted to all folds but one, with the safeguards of a run, drawn,
    tested, and what passes scored against the users of that fold. Testing users of a data set
    take no part, so their scores stay honest.

    Parameters
    ----------
    model : a synthesizer, or the name of one; its own settings are tried first. The privacy of a
        model with differential privacy is its `epsilon` and `delta`, which are not tuned.
    budget : minutes; a trial is not begun if the slowest so far would not fit any more. The
        model's own settings are always tried.
    grid : setting → values to try; by default those of `tuning.candidates.GRIDS`.
    fixed : settings of that default which stay as they are.
    folds : 2 or more.
    k, eta : of the deniability test, where the model has one.
    min_pass_rate : share of the traces that must pass in every fold.
    min_users : training users that a place needs; see `synthesize`.
    seed : of folds, order, draws and trainings; by default from the operating system.

    Returns
    -------
    Tuning : the model with the best settings, and the table of all trials.
    """
    traces = training_traces(data, "tune")
    given = _model(model)
    require(budget > 0, "budget must be more than 0 minutes", "budget")
    require(2 <= folds <= traces.n_users // 2, f"folds={folds} must be from 2 to half the users")
    require(0 <= min_pass_rate <= 1, "min_pass_rate must be from 0 to 1", "min_pass_rate")
    seed = fresh_seed() if seed is None else seed
    private = given.guarantee is not None and given.guarantee.kind == "differential privacy"
    wanted = list(candidates(given, grid, fixed, seed))
    parts = _folds(traces, folds, None if private else min_users, seed)
    began, slowest, trials = time.monotonic(), 0.0, list[Trial]()
    for number, changed in enumerate(wanted):
        left = 60 * budget - (time.monotonic() - began)
        if trials and slowest > left:
            break
        callback(Step("tuning", number, len(wanted)))
        trial = _try(given, changed, parts, traces_per_user, k, eta, min_pass_rate, seed)
        slowest = max(slowest, trial.seconds)
        trials.append(trial)
    callback(Step("tuning", len(wanted), len(wanted)))
    found = Tuning(given, tuple(trials), folds, _privacy(given, private, k, eta))
    if not math.isfinite(found.best.mean):
        raise InputError(_why_nothing(found, min_pass_rate))
    notes = _notes(given, private, len(trials), len(wanted), folds)
    return Tuning(_with(given, found.changed), found.trials, folds, found.privacy, notes)


def _try(
    model: Synthesizer,
    changed: Mapping[str, Any],
    parts: list[Fold],
    traces_per_user: int,
    k: int,
    eta: float,
    min_pass_rate: float,
    seed: int,
) -> Trial:
    """Return the mean over the folds."""
    began = time.monotonic()
    summaries, rates = list[Mapping[str, float | None]](), list[float]()
    for part in parts:
        fresh = _with(model, {**changed, "seed": seed})
        fresh.fit(part.fitted)
        made = fresh.sample(traces_per_user, seed=seed)
        rate = 1.0
        if fresh.testable and fresh.has_owners:
            tested = deniability_test(fresh, made, k=k, eta=eta, seed=seed, count_all=False)
            made, rate = made.select(tested.passed), float(tested.pass_rate)
        rates.append(rate)
        if len(made) == 0:
            continue
        score = evaluate(
            train=part.train,
            test=part.test,
            synthetic=made,
            attacks=False,
            seed=seed,
            yardsticks=part.yardsticks,
        )
        summaries.append(score.summary)
    means = [s["mean"] for s in summaries if s["mean"] is not None]
    error = float(np.std(means, ddof=1) / math.sqrt(len(means))) if len(means) > 1 else math.nan
    return Trial(
        changed=dict(changed),
        summary=_average(summaries),
        error=error,
        pass_rate=float(np.mean(rates)),
        seconds=time.monotonic() - began,
        enough=min(rates) >= min_pass_rate and len(summaries) == len(parts),
    )


def _average(summaries: list[Mapping[str, float | None]]) -> dict[str, float | None]:
    names = summaries[0] if summaries else ()
    result: dict[str, float | None] = {}
    for name in names:
        known = [share for s in summaries if (share := s[name]) is not None]
        result[name] = float(np.mean(known)) if known else None
    return result


def _folds(traces: Traces, folds: int, min_users: int | None, seed: int) -> list[Fold]:
    """Return the folds; without `min_users` nothing is merged or capped."""
    fold_of = _fold_of(traces.n_users, folds, seed)
    parts = []
    for fold in range(folds):
        train = fitted = traces.select(np.flatnonzero(fold_of != fold))
        test = traces.select(np.flatnonzero(fold_of == fold))
        if min_users is not None:
            safe = protect(train, test, min_users=min_users, seed=seed)
            assert safe.test is not None
            fitted, train, test = safe.fitted, safe.train, safe.test
        parts.append(Fold(fitted, train, test, Yardsticks(train, test, seed=seed)))
    return parts


def _fold_of(users: int, folds: int, seed: int) -> NDArray[np.int64]:
    """Return (n_users,) each user's fold, as equal in size as they can be."""
    return generator(seed, "folds").permutation(np.arange(users) % folds)


def _model(model: Synthesizer | str) -> Synthesizer:
    if isinstance(model, Synthesizer):
        return model
    if model not in MODELS:
        raise SettingsError(
            f"model={model} is not known: choose from {', '.join(MODELS)}", "model"
        )
    return MODELS[model]()


def _with(model: Synthesizer, changed: Mapping[str, Any]) -> Synthesizer:
    return type(model)(**{**model.get_params(), **changed})


def _privacy(model: Synthesizer, private: bool, k: int, eta: float) -> str:
    if private and model.guarantee is not None:
        return model.guarantee.title
    if model.testable and model.has_owners:
        return f"({k}, {eta:g})-plausible deniability: only traces that pass are scored"
    return "none: this model has no test"


def _why_nothing(found: Tuning, min_pass_rate: float) -> str:
    if any(trial.summary.get("mean") is not None for trial in found.trials):
        return (
            f"no settings let {min_pass_rate:.0%} of the traces pass in every fold: take larger "
            "cells, or a smaller k"
        )
    return (
        "the summary says nothing on these data, whatever the settings: there are too few users "
        "to tell real traces from trivial ones"
    )


def _notes(
    model: Synthesizer, private: bool, trials: int, wanted: int, folds: int
) -> tuple[str, ...]:
    notes = [f"{trials} of {wanted} choices of settings were tried, on {folds} folds each"]
    if private:
        notes.append(
            f"the {trials * folds} trainings spent the privacy of these users {trials * folds} "
            "times: what is published later with these settings is covered by its own ε only if "
            "the settings were chosen on other data, such as a simulated city"
        )
    else:
        notes.append("the settings depend on these users; publish the traces, not this table")
    return tuple(notes)
