"""The pages' templates: Jinja2, with every value escaped unless a template says otherwise."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from doppeltrace.report.figures.words import percent, unbroken


def render_template(name: str, **view: Any) -> str:
    """Return a page.

    Parameters
    ----------
    name : path of the template below `doppeltrace.report`, such as "public/datasheet.html.j2".
    view : what the template shows, all of which is text until it is escaped.
    """
    return _environment().get_template(name).render(**view)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("doppeltrace.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False, "allow_nan": False, "separators": (",", ":"),
    }  # fmt: skip
    made.filters |= {"percent": percent, "unbroken": unbroken}
    made.globals["verbatim"] = _verbatim
    return made


def _verbatim(name: str) -> Markup:
    """Return a style sheet or script of ours as it stands."""
    return Markup(files("doppeltrace.report").joinpath(name).read_text("utf-8").strip())
