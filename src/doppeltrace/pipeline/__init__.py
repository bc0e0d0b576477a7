"""One run, from traces to a release: settings, batches, checkpoint, manifest, result."""

from doppeltrace.pipeline.pages import datasheet, report
from doppeltrace.pipeline.run import Run
from doppeltrace.pipeline.synthesis import synthesize

__all__ = ["Run", "datasheet", "report", "synthesize"]
