"""The table of every notebook display: escaped, with or without a header."""

from doppeltrace.display import html_table


def test_every_cell_is_escaped() -> None:
    hostile = "<script>alert('x')</script>"
    page = html_table([[hostile, hostile]], header=[hostile, "b"], caption=hostile)
    assert "<script>" not in page
    assert page.count("&lt;script&gt;") == 4


def test_the_first_cell_names_the_row_where_no_header_does() -> None:
    assert html_table([["users", 3]]) == (
        "<table><tbody><tr><th>users</th><td>3</td></tr></tbody></table>"
    )
    assert "<th>users</th>" not in html_table([["users", 3]], header=["what", "number"])
