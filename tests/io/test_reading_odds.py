"""Odd but ordinary inputs: each of these once failed or answered wrongly."""

import gzip
from dataclasses import replace

import pytest

import doppeltrace as dt
from doppeltrace.cli.options import _grid, _pairs
from doppeltrace.errors import SettingsError

TSMC_CSV = """\
userId,venueId,venueCategoryId,venueCategory,latitude,longitude,timezoneOffset,utcTimestamp
470,shop,c1,Shop,40.7198,-74.0025,-240,Tue Apr 03 18:00:09 +0000 2012
470,bridge,c2,Bridge,40.6067,-74.0441,-240,Tue Apr 03 19:00:25 +0000 2012
979,home,c3,Home (private),40.7161,-73.8830,-240,Tue Apr 03 18:02:24 +0000 2012
979,shop,c1,Shop,40.7198,-74.0025,-240,Tue Apr 03 19:02:41 +0000 2012
"""
GOWALLA = "".join(
    f"{u}\t2010-10-19T{h:02}:55:27Z\t30.2\t-97.7\tp{h}\n" for u in range(3) for h in range(5)
)


@pytest.fixture
def tsmc(tmp_path):
    path = tmp_path / "checkins.csv"
    path.write_text(TSMC_CSV)
    return path


def test_an_option_of_tables_names_the_way_to_use_it(tsmc):
    with pytest.raises(SettingsError) as caught:
        dt.read(tsmc, grid=(20, 20))
    message = str(caught.value)
    assert message.startswith("grid does not apply to the format tsmc2014")
    assert "format='table'" in message
    assert "top_places" in message
    for absent in ("clock", "split_seed", "rank_by", "split-seed"):
        assert absent not in message


def test_a_tsmc2014_file_is_a_table_too(tsmc):
    own = dt.read(tsmc).train
    data = dt.read(tsmc, "table")
    assert data.train.location.tolist() == own.location.tolist()
    assert data.train.clock.local_time(data.train.instant).tolist() == (
        own.clock.local_time(own.instant).tolist()
    )
    assert len(dt.read(tsmc, "table", grid=(20, 20)).train.places) == 400
    zone = dt.read(tsmc, "table", grid=(20, 20), timezone="America/New_York").train
    assert zone.instant.tolist() == own.instant.tolist()


@pytest.mark.parametrize("compressed", [False, True])
def test_lines_that_end_with_cr_alone(tmp_path, compressed):
    for name, text, options in (
        ("table.csv", TSMC_CSV, {"format": "table"}),
        ("tsmc.csv", TSMC_CSV, {}),
        ("gowalla.txt", GOWALLA, {}),
    ):
        plain = tmp_path / name
        plain.write_text(text)
        expected = dt.read(plain, **options)
        data = text.replace("\n", "\r").encode()
        plain.write_bytes(gzip.compress(data) if compressed else data)
        found = dt.read(plain, **options)
        assert found.train.location.tolist() == expected.train.location.tolist()
        assert found.validation.rows_kept == expected.validation.rows_kept


def test_lines_that_end_with_cr_keep_their_row_numbers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(TSMC_CSV.replace("40.6067", "ninety").replace("\n", "\r").encode())
    with pytest.raises(dt.InputError, match="row 3: latitude 'ninety'"):
        dt.read(path, "table")


def test_several_columns_in_one_option():
    both = {"user": "who", "time": "when"}
    assert _pairs(["user=who,time=when"]) == _pairs(["user=who", "time=when"]) == both
    assert _pairs(["user=who, first"]) == {"user": "who, first"}


def test_grid_sizes_and_how_a_wrong_one_is_quoted():
    assert _grid("500m") == 500
    assert _grid("1.5km") == 1500
    assert _grid("20x30") == (20, 30)
    for wrong in ("500pm", "5ookm", "20", "20x"):
        with pytest.raises(SettingsError, match=f"--grid '{wrong}' must look like 20x20 or 500m"):
            _grid(wrong)


def test_the_account_shows_the_split_and_the_safeguards(tsmc):
    data = dt.read(tsmc)
    assert "testing users" not in str(data.validation)
    told = replace(data.validation, safeguards=("2 places merged",), test_users=1)
    assert "1 training users, 1 testing users" in str(told)
    assert "  2 places merged" in str(told)


def test_the_account_of_a_split_counts_both_parts(people_flow):
    assert people_flow.validation.test_users == people_flow.test.n_users == 500
    assert "500 training users, 500 testing users" in str(people_flow.validation)
