"""The whole audit: a planted leak is red, Uniform is at its null, a stopped audit goes on."""

import json
import stat

import pytest

import doppeltrace as dt
from doppeltrace.audit.run import audit
from doppeltrace.errors import InputError, SettingsError


@pytest.fixture(scope="module")
def of_uniform(city):
    # bare: which places are kept depends on the users, so that even Uniform would tell of them
    return audit(city, dt.Uniform(), runs=32, traces_per_user=2, k=4, protect=False)


def test_a_model_that_copies_is_red(city, copier):
    found = dt.audit(city, copier, runs=32, protect=False)
    assert found.level == "red"
    assert found.rare_places > 0
    assert found.canaries["always at a rare place"].shown_in == 1.0
    assert found.canaries["always at a rare place"].epsilon >= 2.0
    assert found.canaries["always at a rare place"].epsilon_own >= 2.0
    assert found.lira.auc > 0.95 and found.lira.tpr_at_1_percent > 0.5
    assert found.linked[0].unknown > 0.5


def test_merging_rare_places_takes_the_rare_place_canaries_away(city, copier):
    found = dt.audit(city, copier, runs=16)
    assert found.rare_places == 0
    assert found.canaries["always at a rare place"].shown_in == 0.0
    assert found.canaries["always at a rare place"].epsilon_own == 0.0
    assert found.lira.auc > 0.9  # copies are copies all the same


def test_uniform_is_at_its_null(of_uniform):
    assert of_uniform.lira.auc == pytest.approx(of_uniform.lira.null_auc, abs=0.04)
    assert of_uniform.lira.null_auc == pytest.approx(0.5, abs=0.03)
    assert all(canary.epsilon < 0.5 for canary in of_uniform.canaries.values())
    assert of_uniform.linked[0].known is None  # its likelihoods are the same for all
    assert any("not measurable" in note for note in of_uniform.notes)


def test_the_result_is_plain_json_and_fits_in_80_columns(of_uniform):
    told = json.loads(of_uniform.to_json())
    assert {"level0", "lira", "canaries", "linked", "level", "levels_done"} <= set(told)
    assert set(told["linked"]) <= {"1", "2", "5", "10"}
    assert max(map(len, repr(of_uniform).splitlines())) <= 80
    assert of_uniform.level in of_uniform._repr_html_()


def test_green_needs_levels_0_to_2_and_enough_runs(city):
    only = audit(city, dt.Uniform(), levels=(0,), k=4)
    assert (only.level, only.lira, only.canaries) == ("amber", None, {})
    assert "not run" in only.reasons[-1]
    few = audit(city, dt.Uniform(), runs=4, levels=(0, 1, 2), k=4)
    assert few.level == "amber" and "too few" in few.reasons[-1]


def test_a_stopped_audit_goes_on_to_the_same_result(city, copier, tmp_path):
    folder = tmp_path / "runs"
    options = {"runs": 6, "levels": (1, 2), "seed": 5}
    whole = audit(city, copier, **options)

    class Stop(Exception):
        pass

    def stop(step):
        if step.done == 3:
            raise Stop

    with pytest.raises(Stop):
        audit(city, copier, resume=folder, callback=stop, **options)
    assert len(list(folder.glob("run_*.npz"))) == 3
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    steps = []
    again = audit(city, copier, resume=folder, callback=steps.append, **options)
    assert again == whole
    assert (steps[-1].done, steps[-1].total) == (6, 6)


def test_runs_of_another_audit_are_refused(city, copier, tmp_path):
    audit(city, copier, runs=4, levels=(1,), seed=1, resume=tmp_path)
    with pytest.raises(InputError, match="seed"):
        audit(city, copier, runs=4, levels=(1,), seed=2, resume=tmp_path)
    with pytest.raises(InputError, match="process"):
        audit(city, dt.Uniform(), runs=4, levels=(1,), seed=1, resume=tmp_path)
    (tmp_path / "run_0002.npz").write_bytes(b"cut")
    with pytest.raises(InputError, match="run_0002"):
        audit(city, copier, runs=4, levels=(1,), seed=1, resume=tmp_path)


def test_threads_change_nothing(city):
    model = dt.Doppel(factors=2, iterations=5)
    one, two = (
        audit(city, model, runs=4, levels=(0, 1, 2), k=4, threads=threads) for threads in (1, 2)
    )
    assert one.to_dict() == two.to_dict()


@pytest.mark.parametrize(
    "wrong", [{"runs": 3}, {"levels": (4,)}, {"levels": ()}, {"min_users": 0}, {"seed": -1}]
)
def test_settings_out_of_range(city, wrong):
    with pytest.raises(SettingsError):
        audit(city, dt.Uniform(), **wrong)
