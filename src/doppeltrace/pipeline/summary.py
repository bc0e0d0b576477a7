"""What a run did, in the words of the internal report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doppeltrace.pipeline.batches import TestedTraces
from doppeltrace.pipeline.estimate import peak_memory_mb
from doppeltrace.pipeline.manifest import SamplingRecord, TestRecord
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.pipeline.source import Source
from doppeltrace.plain import plain
from doppeltrace.progress import readable_time
from doppeltrace.report.internal.run_summary import RunSummary
from doppeltrace.synthesizers import Synthesizer
from doppeltrace.traces import Traces


def summarize(
    settings: RunSettings,
    model: Synthesizer,
    source: Source,
    train: Traces,
    made: TestedTraces,
    seconds: Mapping[str, float],
) -> RunSummary:
    """Return the summary of a run; the seed is not in it."""
    test = TestRecord.of(settings, made.privacy)
    return RunSummary(
        title=source.title,
        settings={
            "model": model.name,
            **_shown(model.settings),
            **_shown(plain(SamplingRecord.of(settings))),
            **_shown({} if test is None else plain(test)),
        },
        input={"source": source.name, "events": f"{train.n_events:,}"},
        effort={
            **{phase: readable_time(s) for phase, s in seconds.items()},
            "peak memory": f"{peak_memory_mb():,.0f} MB",
        },
        made=len(made.synthetic),
        released=int(made.passed.sum()),
        k=settings.k,
        eta=settings.eta,
        counted_all=settings.count_all or made.privacy is not None,
        randomized=made.privacy is not None,
        verifiers=settings.verifiers,
    )


def _shown(values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is set, in words; whole numbers with separators of thousands."""

    def words(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:,}" if isinstance(value, int) else str(value)

    return {n.replace("_", " "): words(v) for n, v in values.items() if v is not None}
