"""Templates: everything is escaped, nothing is silently missing."""

import ast
import json
from pathlib import Path

import jinja2
import pytest

from doppeltrace.report.figures import templates
from doppeltrace.report.figures.drawings import bar_chart
from doppeltrace.report.figures.templates import _environment, render_template

ROOM = Path(templates.__file__).parents[1]
EVIL = "</script><script>alert(1)</script>\"'&"


def _render(source, **view):
    return _environment().from_string(source).render(**view)


def test_text_is_escaped():
    assert _render('<p title="{{ x }}">{{ x }}', x=EVIL).count("<") == 1
    shown = _render("{{ x | unbroken }} {{ 0.5 | percent }}", x="a < 5 %")
    assert shown == "a &lt; 5\u00a0% 50\u00a0%"


def test_json_cannot_end_its_script():
    text = _render("{{ x | tojson }}", x={"b": EVIL, "a": "é"})
    assert "<" not in text and json.loads(text) == {"b": EVIL, "a": "é"}
    assert text.index('"b"') < text.index('"a"')  # as given
    with pytest.raises(ValueError):
        _render("{{ x | tojson }}", x=float("nan"))


def test_what_is_missing_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        render_template("public/datasheet.html.j2")


def test_words_of_a_picture_are_escaped():
    chart = bar_chart([0.1, 0.2], [(0.5, EVIL)], EVIL)
    source = '{% from "figures/drawings.html.j2" import bar_chart %}{{ bar_chart(chart) }}'
    page = _render(source, chart=chart)
    assert "<script" not in page and page.count("<rect") == 2


def test_only_our_own_files_are_trusted():
    """`safe` would switch escaping off; style sheets and scripts come through `verbatim`."""
    for template in ROOM.rglob("*.j2"):
        text = template.read_text()
        assert "safe }}" not in text and "autoescape" not in text and "| safe" not in text
    for module in ROOM.rglob("*.py"):
        text = module.read_text()
        assert "escape(" not in text
        if module.name != "templates.py":
            assert "Markup" not in text


ALLOWED = {
    "figures": ("guarantee", "traces", "report.figures"),
    "public": (
        "guarantee", "release", "traces", "utility", "report.figures", "report.public",
    ),
}  # fmt: skip


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_knows_no_real_data(room):
    for module in (ROOM / room).glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                if name.split(".")[0] == "doppeltrace":
                    inner = name.removeprefix("doppeltrace.")
                    assert inner.startswith(ALLOWED[room]), f"{module.name} imports {name}"
