"""The internal files of a run: the page, and the findings it is made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from doppeltrace.errors import InputError
from doppeltrace.report.internal.findings import FORMAT, Findings
from doppeltrace.report.internal.page import render

PAGE = "report.html"
FINDINGS = "findings.json"


def internal_files(findings: Findings) -> dict[str, str]:
    """Return name → text of what a run keeps beside its traces."""
    return {PAGE: render(findings.to_dict()), FINDINGS: findings.to_json() + "\n"}


def read_findings(run_dir: str | Path) -> dict[str, Any]:
    """Return the findings of a finished run.

    Raises
    ------
    InputError : the folder holds no run, or one of a version whose findings differ.
    """
    folder = Path(run_dir)
    path = folder / FINDINGS
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give the folder of a run (its --out)")
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{folder} holds no {FINDINGS}: give the folder of a run (its --out), or make the run "
            "again if it is older than this version"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{path} is of another version of doppeltrace: make the run again")
    return found
