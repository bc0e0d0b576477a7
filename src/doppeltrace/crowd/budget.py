"""A budget is spent once: a ledger file beside the data adds up what all fits have spent.

The file is internal. It names the data by a fingerprint, and each fit by ε, δ and date. zCDP adds
up, so the total is ρ₁ + ρ₂ + …, converted to (ε, δ) at the end.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scipy.optimize import brentq

from doppeltrace.crowd.ledger import delta_of, rho_of
from doppeltrace.errors import InputError
from doppeltrace.files import cannot_write

SUFFIX = ".privacy.json"


@dataclass(frozen=True)
class Spending:
    """One fit: data, ε, δ, date, and what it was for."""

    fingerprint: str
    epsilon: float
    delta: float
    date: str
    purpose: str = ""


@dataclass(frozen=True)
class Total:
    """What all fits on the same data come to: that many fits, and (ε, δ) of all together."""

    fits: int
    epsilon: float
    delta: float

    @property
    def warning(self) -> str | None:
        """One sentence from the second fit on."""
        if self.fits < 2:
            return None
        return (
            f"{self.fits} fits on these data have together spent ε = {self.epsilon:.2f} at "
            f"δ = {self.delta:g}: what is published from all of them has that guarantee, not the "
            "one of a single fit"
        )


def ledger_file(data: str | Path) -> Path:
    """Return the ledger file that belongs to a data file or folder."""
    path = Path(data)
    return path.with_name(path.name + SUFFIX)


def epsilon_of(rho: float, delta: float) -> float:
    """Return the smallest ε for which ρ-zCDP implies (ε, δ)-differential privacy."""
    if rho <= 0:
        return 0.0
    high = rho + 2 * math.sqrt(rho * math.log(1 / delta)) + 1.0
    return float(brentq(lambda e: math.log(max(delta_of(rho, e), 1e-300)) - math.log(delta), 0.0,
                        high, xtol=1e-12)) if delta_of(rho, 0.0) > delta else 0.0  # fmt: skip


def read(path: Path) -> list[Spending]:
    """Return the entries of a ledger file; none if there is no file."""
    if not path.exists():
        return []
    try:
        return [Spending(**entry) for entry in json.loads(path.read_text("utf-8"))["fits"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is not a ledger of privacy budgets: restore it, or move it away if you are "
            "sure that nothing was spent"
        ) from error


def total(entries: list[Spending], fingerprint: str | None = None) -> Total:
    """Return the sum of the entries (of one fingerprint, if given), at their largest δ."""
    chosen = [e for e in entries if fingerprint is None or e.fingerprint == fingerprint]
    if not chosen:
        return Total(0, 0.0, 0.0)
    delta = max(e.delta for e in chosen)
    rho = sum(rho_of(e.epsilon, e.delta) for e in chosen)
    return Total(len(chosen), epsilon_of(rho, delta), delta)


def spend(
    path: Path,
    fingerprint: str,
    epsilon: float,
    delta: float,
    *,
    purpose: str = "",
    now: dt.datetime | None = None,
) -> Total:
    """Write a fit into the ledger file, before its result is used; return what all come to.

    All entries of the file count, also those of another fingerprint: a file that has changed
    still holds the same people.
    """
    when = (now or dt.datetime.now(dt.UTC)).isoformat(timespec="seconds")
    entries = [*read(path), Spending(fingerprint, epsilon, delta, when, purpose)]
    _write(path, {"fits": [asdict(entry) for entry in entries]})
    return total(entries)


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write in one piece: a kill leaves the earlier file."""
    part = path.with_name(path.name + ".part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(content, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise cannot_write(path, error.errno) from error
