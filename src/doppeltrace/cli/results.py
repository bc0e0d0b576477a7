"""What a run ends with on the terminal: the verdict with its reasons, and where everything is."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from doppeltrace.cli.console import results
from doppeltrace.pipeline import Run
from doppeltrace.release import Release
from doppeltrace.report.internal.files import PAGE, read_findings
from doppeltrace.report.internal.levels import BADGES
from doppeltrace.report.internal.verdict import Verdict, judge
from doppeltrace.report.public.datasheet import NAME


def announce(run: Run) -> None:
    """Print what a run gave."""
    assert run.release is not None
    print_verdict(run.verdict)
    print_files(run.release)


def announce_folder(release: Release) -> None:
    """Print the same of a run that was finished earlier."""
    print_verdict(judge(read_findings(release.internal)))
    print_files(release)


STYLES = {"green": "green", "amber": "yellow", "red": "red", "unknown": "dim"}


def print_verdict(verdict: Verdict) -> None:
    """Print whether it is safe to publish, and why."""
    results.print(
        f"[bold]Is it safe to publish?[/] [{STYLES[verdict.level]}]"
        f"{escape(BADGES[verdict.level])}[/] {escape(verdict.sentence)}"
    )
    for reason in verdict.reasons:
        results.print(
            f"  [{STYLES[reason.level]}]{escape(BADGES[reason.level])}[/]  "
            f"[bold]{escape(reason.title)}.[/] {escape(reason.text)}"
        )


def print_files(release: Release) -> None:
    """Print how much was released, and where."""
    results.print(
        f"released {release.released:,} of {release.made:,} traces ({release.events:,} events)"
    )
    _path("traces", release.traces, "public: may be handed on")
    _path("datasheet", release.public / NAME, "public: describes the traces")
    _path("manifest", release.manifest, "internal: holds the seed")
    _path("report", release.internal / PAGE, "internal")


def _path(name: str, path: Path, words: str) -> None:
    results.print(f"{name:<9} {escape(str(path))}  ({words})")
