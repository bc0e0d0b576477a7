"""People-flow folders: the paper's data set, and small ones with faults."""

import gzip

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace import InputError

TRACES = "user_index,poi_index,category,unixtime,dow,hour,min,distance\n"
GOOD = ["0,0,-,0,Sun,9,0,0", "0,1,-,0,Sun,9,20,0", "1,3,-,0,Sun,9,40,0", "1,2,-,0,Sun,18,59,0"]


def write_folder(folder, *, train=GOOD, test=None, city="TK", index=(0, 1, 2, 3)):
    folder.mkdir(exist_ok=True)
    (folder / f"traintraces_{city}.csv").write_text(TRACES + "\n".join(train) + "\n")
    if test is not None:
        with gzip.open(folder / f"testtraces_{city}.csv.gz", "wt") as file:
            file.write(TRACES + "\n".join(test) + "\n")
    points = "".join(f"{10 * i},{35.25 + 0.5 * (i // 2)},{139.5 + i % 2},-\n" for i in range(4))
    (folder / f"POI_{city}.csv").write_text("poi_id,y,x,category\n" + points)
    numbers = "".join(f"{10 * i},{n},-,-\n" for i, n in enumerate(index))
    (folder / f"POIindex_{city}.csv").write_text("poi_id,poi_index,category,counts\n" + numbers)
    return folder


def test_the_paper_s_data_set(people_flow):
    for traces, first in ((people_flow.train, 0), (people_flow.test, 500)):
        np.testing.assert_array_equal(traces.users, first + np.arange(500))
        assert traces.n_events == 15_000
        np.testing.assert_array_equal(traces.instant.reshape(500, 30), [np.arange(30)] * 500)
        np.testing.assert_array_equal(traces.slot, traces.instant)
        assert len(traces.transitions()[0]) == 500 * 29
        assert traces.places is people_flow.train.places
        assert traces.clock is people_flow.train.clock
    assert people_flow.train.location[:3].tolist() == [195, 195, 194]
    assert people_flow.train.clock.start.hour == 9


def test_the_paper_s_regions(people_flow):
    places = people_flow.train.places
    assert len(places) == 400
    assert places.bounds == dt.Bounds(35.65, 139.68, 35.75, 139.80)
    column, row = places.grid_cells(20)
    np.testing.assert_array_equal(row * 20 + column, np.arange(400))
    assert places.category is None


def test_the_paper_s_validation(people_flow):
    report = people_flow.validation
    assert (report.rows_read, report.rows_kept, report.dropped) == (30_000, 30_000, ())
    assert (report.users, report.transitions, report.unsorted) == (1000, 29_000, 0)


def test_a_small_folder(tmp_path):
    data = dt.read_people_flow(write_folder(tmp_path, test=["7,2,-,0,Sun,10,0,0"]))
    assert data.train.users.tolist() == [0, 1]
    assert data.train.location.tolist() == [0, 1, 3, 2]
    assert data.train.instant.tolist() == [0, 1, 2, 29]
    assert data.train.places.lat.tolist() == [35.25, 35.25, 35.75, 35.75]
    assert data.train.places.bounds == dt.Bounds(35.0, 139.0, 36.0, 141.0)
    assert data.test.users.tolist() == [7]
    assert data.test.instant.tolist() == [3]


def test_regions_are_numbered_by_poi_index(tmp_path):
    places = dt.read_people_flow(write_folder(tmp_path, index=(3, 2, 1, 0))).train.places
    assert places.lat.tolist() == [35.75, 35.75, 35.25, 35.25]
    assert places.lng.tolist() == [140.5, 139.5, 140.5, 139.5]


def test_without_testing_traces(tmp_path):
    assert dt.read_people_flow(write_folder(tmp_path)).test is None


def test_duplicate_and_unsorted_rows_are_counted(tmp_path):
    clean = dt.read_people_flow(write_folder(tmp_path / "a"))
    messy = dt.read_people_flow(write_folder(tmp_path / "b", train=[*GOOD[::-1], GOOD[0]]))
    assert messy.train.location.tolist() == clean.train.location.tolist()
    assert messy.train.instant.tolist() == clean.train.instant.tolist()
    (dropped,) = messy.validation.dropped
    assert (dropped.count, dropped.rows) == (1, (6,))
    assert messy.validation.unsorted == 2


def test_several_cities_need_a_choice(tmp_path):
    write_folder(tmp_path)
    write_folder(tmp_path, city="OS", train=GOOD[:3])
    with pytest.raises(InputError, match="several cities: choose city= from OS, TK"):
        dt.read_people_flow(tmp_path)
    with pytest.raises(InputError, match="no city 'XX'"):
        dt.read_people_flow(tmp_path, city="XX")
    assert dt.read_people_flow(tmp_path, city="OS").train.n_events == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0,4,-,0,Sun,9,0,0", r"traintraces_TK.csv, row 6: poi_index '4' is not in the POIindex"),
        ("0,x,-,0,Sun,9,0,0", "row 6: poi_index 'x' is not an integer"),
        (",1,-,0,Sun,9,0,0", "row 6: user_index missing is not an integer"),
        ("0,1,-,0,Sun,19,0,0", "row 6: hour '19' is outside 9:00–19:00"),
        ("0,1,-,0,Sun,8,59,0", "row 6: hour '8' is outside"),
        ("0,1,-,0,Sun,9,60,0", "row 6: min '60' is not a minute"),
    ],
)
def test_a_faulty_row_is_named(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        dt.read_people_flow(write_folder(tmp_path, train=[*GOOD, row]))


def test_faulty_folders(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        dt.read_people_flow(tmp_path / "none")
    with pytest.raises(InputError, match="no traintraces_<city>.csv"):
        dt.read_people_flow(tmp_path)
    folder = write_folder(tmp_path / "gap", index=(0, 1, 2, 4))
    with pytest.raises(InputError, match="poi_index must number the regions"):
        dt.read_people_flow(folder)
    folder = write_folder(tmp_path / "empty", train=[])
    with pytest.raises(InputError, match="no rows below the header"):
        dt.read_people_flow(folder)
    folder = write_folder(tmp_path / "single", train=GOOD[:2])
    with pytest.raises(InputError, match="only one user"):
        dt.read_people_flow(folder)
    (folder / "POI_TK.csv").write_text("poi_id,y,x\n0,35,139\n")
    with pytest.raises(InputError, match="POIindex_TK.csv, row 3: poi_id '10' is not in"):
        dt.read_people_flow(folder)
    (folder / "POI_TK.csv").write_text("poi_id,y\n0,35\n")
    with pytest.raises(InputError, match="no column 'x'; the columns are poi_id, y"):
        dt.read_people_flow(folder)
    (folder / "POI_TK.csv").unlink()
    with pytest.raises(InputError, match="POI_TK.csv or .csv.gz is missing"):
        dt.read_people_flow(folder)
