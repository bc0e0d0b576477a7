"""Figures in little space: what the page's script unpacks again."""

from __future__ import annotations

import base64
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

STEPS = 65_535


def packed(shares: NDArray[np.float64], scale: float) -> str:
    """Return shares in [0, scale] as base64 of little-endian uint16: STEPS · √(share / scale).

    The root keeps small shares apart: the error is below scale/STEPS + share/200 or so.
    """
    root = np.sqrt(shares / scale) if scale > 0 else np.zeros_like(shares)
    return base64.b64encode(np.rint(STEPS * root).astype("<u2").tobytes()).decode("ascii")


def unpacked(text: str, scale: float) -> NDArray[np.float64]:
    """Return the shares that `packed` packed, flat."""
    root = np.frombuffer(base64.b64decode(text), dtype="<u2") / STEPS
    return root**2 * scale


def plain(values: ArrayLike, digits: int = 5) -> list[float | None]:
    """Return numbers with so many significant digits; what is not finite is None."""
    return [
        float(f"{x:.{digits}g}") if math.isfinite(x) else None
        for x in np.asarray(values, dtype=np.float64).tolist()
    ]
