"""What a run did, in the words of the internal report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doppeltrace.pipeline.batches import TestedTraces
from doppeltrace.pipeline.estimate import peak_memory_mb
from doppeltrace.pipeline.guarantees import guarantee_of
from doppeltrace.pipeline.manifest import SamplingRecord
from doppeltrace.pipeline.protection import ProtectedInput
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.pipeline.source import Source
from doppeltrace.plain import plain
from doppeltrace.progress import readable_time
from doppeltrace.report.internal.run_summary import RunSummary
from doppeltrace.synthesizers import Synthesizer


def summarize(
    settings: RunSettings,
    model: Synthesizer,
    source: Source,
    given: ProtectedInput,
    made: TestedTraces,
    seconds: Mapping[str, float],
) -> RunSummary:
    """Return the summary of a run; the seed is not in it."""
    return RunSummary(
        title=source.title,
        model=model.description or model.name,
        settings={
            **_shown(model.settings, model.public_settings),
            **_shown(plain(SamplingRecord.of(settings))),
        },
        input={"source": source.name, "events": f"{given.train.n_events:,}"},
        effort={
            **{phase: readable_time(s) for phase, s in seconds.items()},
            "peak memory": f"{peak_memory_mb():,.0f} MB",
        },
        made=len(made.synthetic),
        released=int(made.passed.sum()),
        guarantee=guarantee_of(model, settings, made.privacy),
        counted_all=settings.count_all or made.privacy is not None,
        min_users=settings.min_users if given.record else None,
        safeguards=given.words,
    )


def _shown(values: Mapping[str, Any], names: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what is set, in words; whole numbers with separators of thousands."""
    called = names or {}

    def words(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:,}" if isinstance(value, int) else str(value)

    return {
        called.get(n, n.replace("_", " ")): words(v) for n, v in values.items() if v is not None
    }
