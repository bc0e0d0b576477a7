"""Models with differential privacy: public inputs, a ledger, a word when they are worth little."""

import json

import pytest

import doppeltrace as dt
from doppeltrace.errors import SettingsError
from doppeltrace.progress import QuietMonitor

BOX = (0.0, 0.0, 0.09, 0.09)


@pytest.fixture
def table(city, tmp_path):
    file = tmp_path / "city.csv"
    dt.to_pandas(city.traces).to_csv(file, index=False)
    return file


def run(table, monitor=None, **options):
    data = dt.read_table(table, instant_minutes=20, first_hour=8, last_hour=20, **options)
    return dt.synthesize(
        data,
        dt.DPIndependent(epsilon=2.0, delta=1e-6, seed=0),
        n_traces=20,
        source=table,
        monitor=monitor,
    )


@pytest.mark.parametrize(
    "options, remedy",
    [
        ({}, "places=…"),
        ({"grid": (4, 4)}, "bounds=…"),
        ({"grid": (4, 4), "bounds": BOX, "top_places": 5}, "top_places"),
        ({"grid": (4, 4), "bounds": BOX, "daily": False}, "daily=True"),
    ],
)
def test_inputs_derived_from_the_data_are_refused(table, options, remedy):
    with pytest.raises(SettingsError, match="does not cover") as error:
        run(table, **options)
    assert remedy in str(error.value)


def test_each_fit_is_entered_beside_the_data_and_adds_up(table):
    first, second = QuietMonitor(), QuietMonitor()
    for monitor in (first, second):
        done = run(table, monitor, grid=(4, 4), bounds=BOX)
        assert done.guarantee.kind == "differential privacy"
    ledger = json.loads(table.with_name("city.csv.privacy.json").read_text())
    assert [(fit["epsilon"], fit["delta"]) for fit in ledger["fits"]] == [(2.0, 1e-6)] * 2
    assert not any("together spent" in text for text in first.warnings)
    (told,) = [text for text in second.warnings if "together spent" in text]
    assert "2 fits" in told


def test_few_users_are_told_before_and_after():
    monitor = QuietMonitor()
    dt.synthesize(
        dt.simulate_city(60, 16, seed=1).traces,
        dt.Crowd(epsilon=0.5, types=1, candidates=1, seed=0),
        n_traces=5,
        monitor=monitor,
    )
    assert sum("worth little" in text for text in monitor.warnings) == 2
