"""The ledger file beside the data."""

import datetime as dt
import json

import pytest
from dp_accounting import dp_event, rdp

from doppeltrace.crowd import budget
from doppeltrace.crowd.ledger import rho_of
from doppeltrace.errors import InputError

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


def test_fits_add_up_in_a_file_of_the_owner(tmp_path):
    path = budget.ledger_file(tmp_path / "checkins.csv")
    assert path.name == "checkins.csv.privacy.json"
    once = budget.spend(path, "abc", 1.0, 1e-6, purpose="crowd", now=NOW)
    assert (once.fits, once.warning) == (1, None)
    assert once.epsilon == pytest.approx(1.0, abs=1e-6)
    twice = budget.spend(path, "abc", 1.0, 1e-6, now=NOW)
    accountant = rdp.RdpAccountant()
    accountant.compose(dp_event.ZCDpEvent(2 * rho_of(1.0, 1e-6)))
    assert twice.epsilon == pytest.approx(accountant.get_epsilon(1e-6), abs=2e-3)
    assert 1.0 < twice.epsilon < 2.0
    assert "2 fits" in twice.warning
    assert path.stat().st_mode & 0o777 == 0o600
    first = json.loads(path.read_text())["fits"][0]
    assert first == {
        "fingerprint": "abc", "epsilon": 1.0, "delta": 1e-6,
        "date": "2026-01-02T03:04:05+00:00", "purpose": "crowd",
    }  # fmt: skip


def test_a_changed_file_still_holds_the_same_people(tmp_path):
    path = budget.ledger_file(tmp_path / "data")
    budget.spend(path, "before", 1.0, 1e-6)
    assert budget.spend(path, "after", 1.0, 1e-6).fits == 2
    assert budget.total(budget.read(path), "after").fits == 1


def test_no_file_is_nothing_spent(tmp_path):
    assert budget.read(tmp_path / "none") == []
    assert budget.total([]) == budget.Total(0, 0.0, 0.0)


@pytest.mark.parametrize("content", ["", "{}", '{"fits": [{"epsilon": 1}]}'])
def test_a_damaged_ledger_is_refused(tmp_path, content):
    path = tmp_path / "x.privacy.json"
    path.write_text(content)
    with pytest.raises(InputError, match="ledger"):
        budget.spend(path, "abc", 1.0, 1e-6)
