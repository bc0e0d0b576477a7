"""The front door: formats are recognised, options checked."""

import re
from pathlib import Path

import pytest

import doppeltrace as dt
from doppeltrace import InputError, SettingsError
from doppeltrace.io import readers
from doppeltrace.io.readers import FORMATS

ROWS = """uid,datetime,lat,lng,location
1,2020-01-01T09:00:00Z,35.2,139.2,home
1,2020-01-01T10:00:00Z,35.8,139.8,work
2,2020-01-01T09:00:00Z,35.2,139.2,home
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "events.csv"
    file.write_text(ROWS)
    return file


def test_people_flow_is_recognised(people_flow_folder, people_flow):
    data = dt.read(people_flow_folder)
    assert data.train.location.tolist() == people_flow.train.location.tolist()
    assert data.validation == people_flow.validation


def test_a_table_is_recognised(path):
    assert dt.read(path, grid=(2, 2), timezone=None).train.n_events == 3
    assert dt.read(str(path), "table").train.n_events == 3


def test_what_is_not_recognised(path, tmp_path):
    with pytest.raises(InputError, match="no known format"):
        dt.read(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        dt.read(tmp_path / "none")
    with pytest.raises(SettingsError, match="choose from auto, people-flow, .*, table"):
        dt.read(path, "excel")
    with pytest.raises(SettingsError, match=r"city does not apply to the format table"):
        dt.read(path, city="TK")
    with pytest.raises(InputError, match="is not a folder"):
        dt.read(path, "people-flow")


def test_an_option_of_a_format_that_takes_none(tmp_path, monkeypatch):
    monkeypatch.setattr(
        readers, "FORMATS", (readers.Format("plain", lambda _: True, lambda path: None),)
    )
    with pytest.raises(SettingsError, match="format plain, which takes no options: leave it out"):
        readers.read(tmp_path, top_places=5)


def test_every_format_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    for format in FORMATS:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{format.name}`")]
        for option in re.findall(r"--([\w-]+)", row):
            name = option.replace("-", "_")
            assert name in ("format", *format.options), (format.name, option)
