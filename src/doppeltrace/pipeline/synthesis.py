"""The front door: from traces to a release, in one call."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path

from doppeltrace.errors import OutputError, SettingsError
from doppeltrace.pipeline.checkpoint import RunCheckpoint
from doppeltrace.pipeline.course import Course
from doppeltrace.pipeline.privacy import require_public_inputs
from doppeltrace.pipeline.run import Run
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.pipeline.source import Data, Source, read, train_and_test
from doppeltrace.progress import Monitor, QuietMonitor
from doppeltrace.release import Release, read_release
from doppeltrace.report.public.publication import Publication
from doppeltrace.safeguards.rare_places import MIN_USERS
from doppeltrace.streams import fresh_seed
from doppeltrace.synthesizers import MODELS, Synthesizer
from doppeltrace.traces import Traces

DEFAULT_MODEL = "doppel"


def synthesize(
    data: Data | Callable[[int], Data],
    model: Synthesizer | str | None = None,
    *,
    test: Traces | None = None,
    traces_per_user: int = 1,
    n_traces: int | None = None,
    length: int | None = None,
    min_users: int = MIN_USERS,
    allow_rare_places: bool = False,
    max_events: int | None = None,
    k: int | None = 10,
    eta: float = 1.0,
    verifiers: int | None = None,
    epsilon0: float | None = None,
    delta: float = 1e-3,
    count_all: bool = False,
    seed: int | None = None,
    out: str | Path | None = None,
    output_format: str = "csv",
    overwrite: bool = False,
    keep_model: str | Path | None = None,
    resume: bool = False,
    checkpoint_seconds: float | None = 30.0,
    anyway: bool = False,
    publication: Publication | Mapping[str, str | None] | None = None,
    source: Source | str | Path | None = None,
    monitor: Monitor | None = None,
) -> Run:
    """Learn from traces, make synthetic ones, test each, and release those that pass.

    The command `doppeltrace synthesize` does this and nothing else: the same data, settings and
    seed give the same bytes.

    Parameters
    ----------
    data : a `Dataset` (its testing traces are scored against), `Traces`, a simulated `City`
        (split in halves), or a function of the seed that reads one of them once the settings
        are checked.
    model : a synthesizer, which is not changed, or the name of one; by default Doppel.
    test : testing traces of other users, in place of those in `data`.
    traces_per_user, n_traces : traces made from each user's model, or traces in all.
    length : events per trace; by default the clock's instants.
    min_users : places with fewer training users are merged into the nearest one with enough
        before anything is learned; 1 merges nothing, and needs `allow_rare_places`.
    allow_rare_places : release places of few people all the same.
    max_events : events of one user that the model may see; by default ten times the typical
        user's.
    k, eta : of the deniability test; k=None releases without it. Models whose traces belong to
        no user are not tested: they have a guarantee of their own.
    verifiers : how many users, drawn at random, may vouch for a trace; None means all.
    epsilon0, delta : of the randomized test, which is used if epsilon0 is given.
    count_all : count plausible users beyond k, for the pass rate as a function of k.
    seed : of everything, in place of the model's; by default the model's, which comes from the
        operating system unless one was given. Whoever knows it can link traces to users.
    out : folder for the run, with `public/` and `internal/` in it; None writes nothing.
    output_format : "csv" or "parquet".
    overwrite : replace an earlier run.
    keep_model : file for the trained model, which is as secret as the input.
    resume : go on where the same run to the same folder was stopped.
    checkpoint_seconds : how often what is done is kept in `OUT.unfinished`; None keeps nothing.
    anyway : start even if the memory that is free may not suffice.
    publication : title, description, licence, citation and contact for the public page.
    source : where the data come from, for the manifest; a path is kept with its SHA-256.
    monitor : hears of every step; by default nothing is shown.

    Returns
    -------
    Run : the released traces, the scores, the verdict, the guarantee, and where the files are.

    Raises
    ------
    SettingsError, InputError, OutputError : one line that says what to change; nothing is written.
    ReleaseBlockedError : the traces would give places of few people away.

    Examples
    --------
    >>> import doppeltrace as dt
    >>> city = dt.simulate_city(users=60, places=9, seed=1)
    >>> run = dt.synthesize(city.traces, dt.Uniform(), traces_per_user=2, k=5)
    >>> len(run.traces), run.guarantee.title
    (120, '(5, 1)-plausible deniability')
    """
    out = None if out is None else Path(out)
    checkpoint = None if out is None or checkpoint_seconds is None else RunCheckpoint(out)
    chosen = _with_seed(model, seed, checkpoint if resume else None)
    settings = RunSettings(
        seed=chosen.seed,
        out=out,
        traces_per_user=traces_per_user,
        n_traces=n_traces,
        length=length,
        min_users=min_users,
        allow_rare_places=allow_rare_places,
        max_events=max_events,
        k=k if chosen.has_owners else None,  # a trace of nobody has nothing to deny
        eta=eta,
        verifiers=verifiers,
        epsilon0=epsilon0,
        delta=delta,
        count_all=count_all,
        output_format=output_format,
        overwrite=overwrite,
        keep_model=None if keep_model is None else Path(keep_model),
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
        anyway=anyway,
        publication=_publication(publication),
    )
    settings.check(chosen)
    chosen.prepare_for_test(k)
    monitor = QuietMonitor() if monitor is None else monitor
    if checkpoint is not None:
        _look_at(checkpoint, settings, monitor)
    _warn(settings, chosen, monitor)
    with monitor.phase("reading"):
        found = read(data, chosen.seed)
    require_public_inputs(chosen, found)
    train, testing = train_and_test(found)
    if not isinstance(source, Source):
        source = Source() if source is None else Source.of_file(source)
    course = Course(settings, chosen, source.described(found), monitor, checkpoint)
    return course.perform(train, testing if test is None else test)


def finished_before(out: Path) -> Release | None:
    """Return the release of a run that was stopped when it stood already, after clearing up.

    None if there is no such run.
    """
    checkpoint = RunCheckpoint(out)
    if not checkpoint.released:
        return None
    checkpoint.remove()
    return read_release(out)


def _with_seed(
    model: Synthesizer | str | None, seed: int | None, checkpoint: RunCheckpoint | None
) -> Synthesizer:
    """Return the model to be trained, with the seed of the run."""
    if seed is None and checkpoint:
        seed = checkpoint.seed
    if model is None or isinstance(model, str):
        name = (model or DEFAULT_MODEL).lower()
        if name not in MODELS:
            raise SettingsError(
                f"model={name} is not known: choose from {', '.join(MODELS)}", "model"
            )
        return MODELS[name](seed=fresh_seed() if seed is None else seed)
    if not isinstance(model, Synthesizer):
        raise SettingsError(
            f"model must be a synthesizer such as dt.Doppel(), or the name of one, not "
            f"a {type(model).__name__}",
            "model",
        )
    own = copy.copy(model)
    own.seed = own.seed if seed is None else seed
    return own


def _publication(given: Publication | Mapping[str, str | None] | None) -> Publication:
    if isinstance(given, Publication):
        return given
    try:
        return Publication().changed(**(given or {}))
    except TypeError as error:
        known = ", ".join(vars(Publication()))
        raise SettingsError(f"publication knows {known}, and nothing else") from error


def _look_at(checkpoint: RunCheckpoint, settings: RunSettings, monitor: Monitor) -> None:
    """Say what becomes of a run that was stopped; nothing that took long is lost unasked."""
    if settings.resume:
        if checkpoint.released:
            raise OutputError(
                f"{settings.out} is complete: there is nothing to resume; remove "
                f"{checkpoint.folder}"
            )
        if checkpoint:
            monitor.say(f"going on from {checkpoint.folder}")
        else:
            monitor.say("there is nothing to resume: starting from the beginning")
    elif checkpoint.has_begun and not settings.overwrite:
        raise OutputError(
            f"{checkpoint.folder} holds a run that was stopped: go on from it with resume=True, "
            "or discard it with overwrite=True",
            "resume",
            "overwrite",
        )
    elif checkpoint:
        checkpoint.remove()


def _warn(settings: RunSettings, model: Synthesizer, monitor: Monitor) -> None:
    """Say what must not be overlooked before anything is made."""
    if settings.k is None and model.has_owners:
        monitor.warn("no deniability test: every trace is released, whoever it resembles")
    if settings.keep_model is not None:
        monitor.warn(
            f"the model will be kept in {settings.keep_model}: it holds every input user's "
            "profile and the seed, so whoever gets it can undo the privacy of the release. "
            "Measured on people flow: from ten released traces known to be of one user, a leaked "
            "PPMTF model names that user 85 times in 100, a Doppel model with group=1 39 times in "
            "100, and, without the seed, one with groups at most once in as many times as a group "
            "has users"
        )
