"""What is kept about a run, for internal use: one frozen record that turns into JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from doppeltrace.deniability.randomized import OneTracePrivacy
from doppeltrace.guarantee import Guarantee
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.pipeline.source import Source
from doppeltrace.plain import plain, to_json
from doppeltrace.release.folder import TraceCounts
from doppeltrace.release.writer import about
from doppeltrace.report.public.publication import Publication
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import Traces


@dataclass(frozen=True)
class ModelRecord:
    """The model: all of its settings, and in words those that may be published."""

    name: str
    description: str
    settings: Mapping[str, Any]
    public_settings: Mapping[str, Any]

    @classmethod
    def of(cls, model: Synthesizer) -> ModelRecord:
        """Return the record of a model; the seed is not in it."""
        settings = model.settings
        public = {
            words: settings[name]
            for name, words in model.public_settings.items()
            if settings.get(name) is not None
        }
        return cls(model.name, model.description, settings, public)


@dataclass(frozen=True)
class InputRecord:
    """The input: where it is from, how it was read, and its size after that."""

    path: str
    sha256: str | None
    options: Mapping[str, str]
    validation: Mapping[str, Any] | None
    users: int
    places: int
    slots: int
    events: int

    @classmethod
    def of(cls, source: Source, train: Traces) -> InputRecord:
        """Return the record of an input from which these traces were learned."""
        return cls(
            path=source.name,
            sha256=source.sha256,
            options=source.options,
            validation=source.validation,
            users=train.n_users,
            places=len(train.places),
            slots=train.clock.n_slots,
            events=train.n_events,
        )


@dataclass(frozen=True)
class SamplingRecord:
    """How many traces were asked for, and how long; None means the default."""

    traces_per_user: int | None
    n_traces: int | None
    length: int | None

    @classmethod
    def of(cls, settings: RunSettings) -> SamplingRecord:
        """Return what was asked for."""
        per_user = settings.traces_per_user if settings.n_traces is None else None
        return cls(per_user, settings.n_traces, settings.length)


@dataclass(frozen=True)
class TestRecord:
    """The deniability test; the last four belong to the randomized one."""

    k: int
    eta: float
    verifiers: int | None
    epsilon0: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    applies_to: str | None = None

    @classmethod
    def of(cls, settings: RunSettings, privacy: OneTracePrivacy | None) -> TestRecord | None:
        """Return what was tested; None without a test."""
        if settings.k is None:
            return None
        record = cls(settings.k, settings.eta, settings.verifiers)
        if privacy is None:
            return record
        return replace(
            record,
            epsilon0=settings.epsilon0,
            epsilon=privacy.epsilon,
            delta=privacy.delta,
            applies_to="one trace alone, of a model that does not depend on the input",
        )


@dataclass(frozen=True)
class Manifest:
    """All that is known about a run; internal, since the seed is in it.

    Attributes
    ----------
    started, finished : ISO 8601, UTC.
    safeguards, public_safeguards : what was done to the input before the training: the figures,
        and sentences that may be published.
    level0 : what the release shows of few people.
    run : a random number by which a checkpoint knows its run.
    estimate : of time and memory, before the run; seconds and peak_memory_mb are what it took.
    traces : how many were made and released.
    """

    started: str
    finished: str
    seed: int
    model: ModelRecord
    guarantee: Guarantee
    sampling: SamplingRecord
    deniability: TestRecord | None
    publication: Publication
    input: InputRecord
    safeguards: Mapping[str, Any]
    public_safeguards: tuple[str, ...]
    level0: Mapping[str, Any]
    allow_rare_places: bool
    run: str | None
    resumed: bool
    threads: int | None
    estimate: Mapping[str, float] | None
    seconds: Mapping[str, float]
    peak_memory_mb: float
    score: Mapping[str, Any] | None
    traces: TraceCounts

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold; numbers that are not finite are None."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        told: dict[str, Any] = plain({**about(self.traces), **own})
        return told

    def to_json(self) -> str:
        """Return the text of `manifest.json`."""
        return to_json(self.to_dict())
