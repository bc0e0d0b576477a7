"""What a run gave: one frozen result for Python and the command line."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.guarantee import Guarantee
from doppeltrace.pipeline.manifest import Manifest
from doppeltrace.release import Release
from doppeltrace.release.writer import write_traces
from doppeltrace.report.internal.files import FINDINGS, PAGE
from doppeltrace.report.internal.findings import Findings
from doppeltrace.report.internal.page import render
from doppeltrace.report.internal.verdict import Verdict
from doppeltrace.report.public import datasheet as public_page
from doppeltrace.report.public.publication import Method, Publication
from doppeltrace.traces import SyntheticTraces


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What a run made and found.

    Only `traces` and `datasheet` may be published. All else is internal, the seed in `manifest`
    above all.

    Attributes
    ----------
    traces : the released traces, ordered by content; nothing tells their owners.
    score : utility and attacks; None without testing users, or if nothing was released.
    verdict : whether it is safe to publish, with the reasons.
    guarantee : what the release promises.
    manifest : all that is known about the run.
    findings : the figures of the internal report.
    release : where the files are; None if nothing was written.
    """

    traces: SyntheticTraces
    score: Scorecard | None
    verdict: Verdict
    guarantee: Guarantee
    manifest: Manifest
    findings: Findings
    release: Release | None = None

    @property
    def files(self) -> dict[str, Path]:
        """Name → path of what was written."""
        if self.release is None:
            return {}
        return {
            "traces": self.release.traces,
            "datasheet": self.release.public / public_page.NAME,
            "manifest": self.release.manifest,
            "report": self.release.internal / PAGE,
            "findings": self.release.internal / FINDINGS,
        }

    @cached_property
    def report(self) -> str:
        """The internal report, as HTML."""
        return render(self.findings.to_dict())

    @cached_property
    def datasheet(self) -> str:
        """The public page, as HTML."""
        return self.public_page(self.manifest.publication)

    def public_page(self, words: Publication) -> str:
        """Return the public page with these words; where no file was written, of a CSV file."""
        method = Method.of_manifest(self.manifest.to_dict())
        if self.release is not None:
            return public_page.datasheet(self.release.traces, method, words)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "traces.csv"
            write_traces(file, self.traces)
            return public_page.datasheet(file, method, words)

    def __repr__(self) -> str:
        counts = self.manifest.traces
        where = "" if self.release is None else f", in {self.release.folder}"
        return (
            f"Run({self.manifest.model.name}: {counts.released:,} of {counts.made:,} traces "
            f"released, {self.verdict.level}, {self.guarantee.title}{where})"
        )

    def _repr_html_(self) -> str:
        reasons = "".join(
            f"<li><b>{escape(r.title)}</b> ({escape(r.level)}): {escape(r.text)}</li>"
            for r in self.verdict.reasons
        )
        return (
            f"<p><b>{escape(repr(self))}</b></p><p>{escape(self.verdict.sentence)}</p>"
            f"<ul>{reasons}</ul>"
        )
