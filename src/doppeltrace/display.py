"""How results show themselves in a notebook: one escaped table for every `_repr_html_`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(
    rows: Iterable[Sequence[object]], *, header: Sequence[object] = (), caption: str = ""
) -> str:
    """Return an HTML table; every cell is shown as `str` and escaped.

    Parameters
    ----------
    rows : a sequence of cells each; without a `header` the first cell of a row is its name.
    header : names of the columns.
    caption : a line above the table.
    """
    parts = ["<table>"]
    if caption:
        parts.append(f"<caption>{escape(caption)}</caption>")
    if header:
        parts.append(f"<thead>{_row(header, 'th')}</thead>")
    parts.append("<tbody>")
    for row in rows:
        cells = list(row)
        name = "" if header or not cells else f"<th>{escape(str(cells.pop(0)))}</th>"
        parts.append(_row(cells, "td", name))
    parts.append("</tbody></table>")
    return "".join(parts)


def _row(cells: Iterable[object], tag: str, before: str = "") -> str:
    return f"<tr>{before}{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"
