"""Options for the publisher's words on the public page, shared by commands that write it."""

from __future__ import annotations

from typing import Annotated

import typer

PANEL = "Datasheet"

Title = Annotated[
    str | None,
    typer.Option(
        help="Title of the public datasheet.html; by default it names nothing.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Description = Annotated[
    str | None,
    typer.Option(help="A sentence or two below it.", rich_help_panel=PANEL, show_default=False),
]
Licence = Annotated[
    str | None,
    typer.Option(
        help="Licence of the traces, such as 'CC BY 4.0'.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Citation = Annotated[
    str | None,
    typer.Option(help="How to cite the traces.", rich_help_panel=PANEL, show_default=False),
]
Contact = Annotated[
    str | None,
    typer.Option(help="Whom to ask about them.", rich_help_panel=PANEL, show_default=False),
]
