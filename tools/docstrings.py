"""Our docstrings as Markdown, for the site: sections become lists, examples become code.

A section is a heading underlined with dashes; its entries are `name : text`, with more text
indented below.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

UNDERLINED = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.M)
ENTRY = re.compile(r"^(\*{0,2}\w[\w, *.]*?) ?: (.*)$")


class AsMarkdown(griffe.Extension):
    """Rewrites every docstring before it is rendered."""

    def on_object(self, *, obj: griffe.Object, **more: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    head, *sections = UNDERLINED.split(text)
    parts = [head.rstrip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        content = _examples(body) if title == "Examples" else _entries(body)
        parts.append(f"**{title}**\n\n{content}")
    return "\n\n".join(parts)


def _examples(body: str) -> str:
    return f"```pycon\n{body.strip()}\n```"


def _entries(body: str) -> str:
    """Return `name : text` as items of a list, and what comes after them as it is."""
    lines: list[str] = []
    for line in body.strip().splitlines():
        found = ENTRY.match(line)
        if found:
            lines.append(f"- `{found[1]}`: {found[2]}")
        elif line.startswith("    ") and lines and lines[-1]:
            lines[-1] += f" {line.strip()}"
        else:
            lines += (
                [line] if lines and lines[-1] and not lines[-1].startswith("- ") else ["", line]
            )
    return "\n".join(lines)
