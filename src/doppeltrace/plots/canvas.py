"""Figures without pyplot: new ones, given axes, files. Matplotlib is imported when needed."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doppeltrace.errors import SettingsError, require

FORMATS = (".svg", ".png", ".pdf")

# Okabe and Ito's palette: told apart with any kind of colour vision
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
REAL, SYNTHETIC = COLOURS[:2]
MARKERS = "os^Dv*PXph<>"


def matplotlib() -> Any:
    """Return matplotlib, or say how to get it."""
    try:
        import matplotlib as library
        import matplotlib.figure
    except ModuleNotFoundError as error:
        raise SettingsError("plots need matplotlib: pip install 'doppeltrace[plots]'") from error
    return library


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


@cache
def _notebook_figure() -> Any:
    """Return a class of figures that notebooks show without pyplot."""
    return type("Figure", (matplotlib().figure.Figure,), {"_repr_png_": _png})


def panels(
    rows: int, columns: int, ax: Any = None, *, size: tuple[float, float] = (4.2, 3.4)
) -> tuple[Any, NDArray[Any]]:
    """Return a figure and (rows, columns) its axes: new ones, or those that were given.

    Parameters
    ----------
    ax : None, or as many axes as there are panels: one, or a sequence or array of them.
    size : of a new panel, in inches.
    """
    matplotlib()
    if ax is not None:
        given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        require(
            len(given) == rows * columns,
            f"this plot has {rows * columns} panels: give as many axes as ax, or none",
        )
        return given[0].figure, given.reshape(rows, columns)

    figure = _notebook_figure()(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def tidy(axes: Any, x: str, y: str) -> None:
    """Name the axes, and take away the lines that say nothing."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)


def check_plot(path: str | Path) -> None:
    """Raise `SettingsError` unless a plot could be drawn to a file of this name."""
    kind = Path(path).suffix.lower()
    require(
        kind in FORMATS,
        f"a plot cannot be a file of kind {kind!r}: let its name end in {', '.join(FORMATS)}",
    )
    matplotlib()


def save_plot(figure: Any, path: str | Path, *, kind: str | None = None) -> None:
    """Write a figure to an .svg, .png or .pdf file; the same picture gives the same bytes.

    Parameters
    ----------
    kind : the file's format, if its name does not end in it.
    """
    kind = (Path(path).suffix if kind is None else kind).lower()
    check_plot(f"plot{kind}")
    date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(kind)
    # without a salt of our own, names inside an SVG are random; letters stay text: smaller
    with matplotlib().rc_context({"svg.hashsalt": "doppeltrace", "svg.fonttype": "none"}):
        figure.savefig(path, format=kind[1:], dpi=150, metadata=date)
