"""The pages of a run, or of its folder: returned, or written again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from doppeltrace.errors import InputError
from doppeltrace.files import INTERNAL, MARKER, PUBLIC, atomic_file
from doppeltrace.pipeline.run import Run
from doppeltrace.plain import to_json
from doppeltrace.release.exports.source import released_file
from doppeltrace.release.folder import not_a_run, read_manifest
from doppeltrace.report.internal.files import FINDINGS, PAGE, read_findings
from doppeltrace.report.internal.page import render
from doppeltrace.report.public import datasheet as public_page
from doppeltrace.report.public.publication import Method, Publication


def report(run: Run | str | Path, to: str | Path | None = None) -> str:
    """Return the internal report of a run, as HTML.

    Parameters
    ----------
    run : what `synthesize` returned, or the folder that it wrote.
    to : file to write the page to as well, which only its owner may read.
    """
    page = run.report if isinstance(run, Run) else render(read_findings(_internal(run)))
    if to is not None:
        _write(Path(to), page, internal=True)
    return page


def datasheet(run: Run | str | Path, to: str | Path | None = None, **words: str | None) -> str:
    """Return the public page of a run, as HTML.

    Parameters
    ----------
    run : what `synthesize` returned, or the folder that it wrote.
    to : file to write the page to as well.
    words : title, description, licence, citation, contact: in place of those of the run.
    """
    if isinstance(run, Run):
        page = run.public_page(run.manifest.publication.changed(**words))
    else:
        manifest = read_manifest(run)
        page = public_page.datasheet(
            released_file(Path(run)), _method(manifest, Path(run)), _publication(manifest, words)
        )
    if to is not None:
        _write(Path(to), page, internal=False)
    return page


def rewrite_pages(
    folder: str | Path, audit: str | Path | None = None, **words: str | None
) -> tuple[Path, Path]:
    """Make both pages of a run's folder again, which keeps the words; return their paths.

    audit : file of an audit of the same model and settings (`audit.json`), which the report then
        shows and the verdict counts; the run's folder keeps it.
    """
    home = Path(folder)
    internal, public = home / INTERNAL / PAGE, home / PUBLIC / public_page.NAME
    if audit is not None:
        _keep_audit(_internal(home), Path(audit))
    pages = report(home), datasheet(home, **words)
    if any(text is not None for text in words.values()):
        manifest = read_manifest(home)
        kept = {**manifest, "publication": asdict(_publication(manifest, words))}
        _write(home / MARKER, to_json(kept), internal=True)
    _write(internal, pages[0], internal=True)
    _write(public, pages[1], internal=False)
    return internal, public


def _keep_audit(internal: Path, file: Path) -> None:
    """Enter an audit in the findings; what the run itself found of its release stays."""
    found = read_findings(internal)
    try:
        audit = json.loads(file.read_text("utf-8"))
        levels = audit["levels_done"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file} is not an audit: give the audit.json that `doppeltrace audit --out` writes"
        ) from error
    own = (found.get("audit") or {}).get("level0")
    audit = {**audit, "level0": own or audit.get("level0"), "levels_done": levels}
    _write(internal / FINDINGS, to_json({**found, "audit": audit}), internal=True)


def _internal(folder: str | Path) -> Path:
    home = Path(folder)
    if not (home / INTERNAL).is_dir():
        raise not_a_run(home)
    return home / INTERNAL


def _method(manifest: dict[str, Any], folder: Path) -> Method:
    try:
        return Method.of_manifest(manifest)
    except (KeyError, TypeError) as error:
        raise not_a_run(folder) from error


def _publication(manifest: dict[str, Any], words: dict[str, str | None]) -> Publication:
    return Publication.of_manifest(manifest).changed(**words)


def _write(path: Path, text: str, *, internal: bool) -> None:
    with atomic_file(path) as partial:
        if internal:
            partial.touch(mode=0o600)
        partial.write_text(text, encoding="utf-8")
