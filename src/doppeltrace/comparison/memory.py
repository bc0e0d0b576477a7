"""The most memory that a stretch of work held."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

RESET_PEAK = "5"  # what Linux takes to start counting the peak anew


@dataclass
class Peak:
    """Peak memory of the process, set when the stretch has ended."""

    mb: float = 0.0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the most resident memory inside the block, in MB.

    Where the system cannot start anew (other than Linux), it is the most since the process
    began.
    """
    peak = Peak()
    try:
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
        since_begin = False
    except OSError:
        since_begin = True
    yield peak
    peak.mb = _most_so_far() if since_begin else _high_water_mark()


def _high_water_mark() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    return _most_so_far()


def _most_so_far() -> float:
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
