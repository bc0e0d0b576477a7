"""Plots: what is drawn is what was counted; no global state; files; clear errors."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import doppeltrace as dt
from doppeltrace.plots import check_plot, save_plot


@pytest.fixture(scope="module")
def city():
    return dt.simulate_city(users=60, places=25, seed=1).split()


@pytest.fixture(scope="module")
def model(city):
    return dt.Doppel(factors=3, iterations=3, seed=1).fit(city[0])


@pytest.fixture
def synthetic(tiny):
    return dt.SyntheticTraces(
        [[1, 1, 1, 0, 0, 0, 0, 0, 0], [2, 2, 3, 0, 0, 0, 0, 0, 0]], [0, 1], [0, 0], tiny.places,
        tiny.clock,
    )  # fmt: skip


@pytest.fixture
def axes():
    return Figure().subplots(1, 3)


def drawn(axes):
    """The values of the places of a map, by longitude."""
    (points,) = axes.collections
    values = dict(zip(points.get_offsets()[:, 0].tolist(), points.get_array(), strict=True))
    return [values[lng] for lng in sorted(values)]


def test_population_by_hand(tiny, synthetic):
    figure = dt.plot_population(tiny, synthetic, slot=0)
    real, made, scale = figure.axes
    # slot 0: user 0 at 1 2 3, user 1 at 0 0 1, user 2 at 4 3 2
    assert drawn(real) == pytest.approx([200 / 9, 200 / 9, 200 / 9, 200 / 9, 100 / 9])
    assert drawn(made) == pytest.approx([0, 50, 200 / 6, 100 / 6, 0])
    scales = [panel.collections[0].norm for panel in (real, made)]
    assert [(s.vmin, s.vmax) for s in scales] == [(0, 50), (0, 50)]
    assert real.get_title() == "real, 09:00–10:00"
    assert made.get_title() == "synthetic, 09:00–10:00"
    assert scale.get_ylabel() == "events of the slot, %"
    assert real.get_aspect() == pytest.approx(1 / np.cos(np.radians(35.2)))


def test_population_of_one_set_into_given_axes(synthetic, axes):
    figure = dt.plot_population(synthetic=synthetic, slot=2, ax=axes[1])
    assert figure is axes[1].figure
    assert drawn(axes[1]) == pytest.approx([100, 0, 0, 0, 0])
    assert not axes[0].collections


def test_factors_draw_the_columns(model):
    theta = model.factors_
    figure = dt.plot_factors(model, 1)
    places, following, hours = figure.axes[:3]
    where = np.column_stack([model.train.places.lng, model.train.places.lat])
    for panel, matrix in ((places, theta.B), (following, theta.C)):
        (points,) = panel.collections
        found = {
            tuple(at): v for at, v in zip(points.get_offsets(), points.get_array(), strict=True)
        }
        share = 100 * matrix[:, 1] / matrix[:, 1].sum()
        assert [found[tuple(at)] for at in where] == pytest.approx(share)
    bars = [bar.get_height() for bar in hours.patches]
    assert bars == pytest.approx(100 * theta.D[:, 1] / theta.D[:, 1].sum())
    assert [panel.get_title() for panel in (places, following, hours)] == [
        "factor 1: places", "factor 1: next places", "factor 1: hours",
    ]  # fmt: skip


def test_all_factors_have_a_row_each(model):
    titled = [panel for panel in dt.plot_factors(model).axes if panel.get_title()]
    assert len(titled) == 9


def test_factors_that_may_be_negative_have_two_colours(city):
    model = dt.PPMTF(factors=3, iterations=2, seed=1).fit(city[0])
    (points,) = dt.plot_factors(model, [0]).axes[0].collections
    column = model.factors_.B[:, 0]
    assert sorted(points.get_array()) == pytest.approx(sorted(column))
    assert points.norm.vmin == -points.norm.vmax == -np.abs(column).max()


def test_visit_fractions_by_hand(tiny, synthetic):
    figure = dt.plot_visit_fractions(1, tiny, synthetic)
    (panel,) = figure.axes
    real, made = (patch.get_data() for patch in panel.patches)
    # fractions of place 1: user 0 1/7, user 1 2/5, user 2 2/9: bins ⌈24 f⌉ = 4, 10, 6
    assert np.flatnonzero(real.values).tolist() == [3, 5, 9]
    assert real.values[[3, 5, 9]] == pytest.approx([100 / 3] * 3)
    assert np.flatnonzero(made.values).tolist() == [7]  # 3 of 9
    assert real.edges.tolist() == pytest.approx((np.arange(25) / 24).tolist())
    assert [t.get_text() for t in panel.get_legend().get_texts()] == ["real (3)", "synthetic (1)"]


def test_pass_rate():
    plausible = np.array([1, 5, 5, 40])
    test = dt.Deniability(plausible, plausible >= 5, 5, 1.0, 100, True)
    (panel,) = dt.plot_pass_rate(test).axes
    curve, point = panel.lines
    rate = dict(zip(*curve.get_data(), strict=True))
    assert rate[1] == 100 and rate[2] == 75 and rate[5] == 75 and rate[6] == 25
    assert max(rate) == 41 and rate[41] == 0
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (5, 75)
    capped = dt.Deniability(np.minimum(plausible, 5), plausible >= 5, 5, 1.0, 100, False)
    (panel,) = dt.plot_pass_rate({"all": test, "up to k": capped}).axes
    assert panel.lines[2].get_xdata().max() == 5
    assert [t.get_text() for t in panel.get_legend().get_texts()] == ["all", "up to k"]
    with pytest.raises(dt.SettingsError, match="count_all"):
        dt.plot_pass_rate(capped, k=[10])


def test_times():
    records = [
        {"users": n, "model": m, "stage": s, "seconds": c * n}
        for m, c in (("doppel", 0.1), ("ppmtf", 1.0))
        for n in (1000, 10)
        for s in ("training", "synthesis")
    ]
    records.append({"users": 10, "model": "doppel", "stage": "training", "seconds": 4.0})
    doppel, ppmtf = dt.plot_times(records).axes
    lines = {one.get_label(): [list(a) for a in one.get_data()] for one in doppel.lines}
    assert set(lines) == {"training", "synthesis", "all", "∝ users"}
    assert lines["training"][0] == [10, 1000] and lines["training"][1] == [5.0, 100.0]
    assert lines["all"][1] == [6.0, 200.0]
    assert lines["∝ users"][1] == [2.0, 200.0]
    assert (doppel.get_title(), ppmtf.get_title()) == ("doppel", "ppmtf")
    assert doppel.get_xscale() == doppel.get_yscale() == "log"
    one = dt.plot_times([{"users": 5, "model": "a", "stage": "b", "seconds": 1.0}])
    assert [line.get_label() for line in one.axes[0].lines] == ["b"]


@pytest.fixture(scope="module")
def comparison(city):
    wanted = {"SGD": [dt.SGD(copied=0), dt.SGD(copied=3)], "nothing": dt.Uniform()}
    return dt.compare(*city, wanted, traces_per_user=2, seed=1)


def test_tradeoff(comparison):
    figure = dt.plot_tradeoff(comparison)
    panel = figure.axes[0]
    rows = comparison.rows
    sgd, nothing, training, uniform = panel.lines
    x = [row.score["reidentification_rate"] for row in rows]
    y = [row.score["tp_tv"] for row in rows]
    assert (list(sgd.get_xdata()), list(sgd.get_ydata())) == (x[:2], y[:2])
    assert list(nothing.get_ydata()) == y[2:]
    assert training.get_ydata()[0] == rows[0].score["tp_tv_training"]
    assert uniform.get_ydata()[0] == rows[0].score["tp_tv_uniform"]
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("re-identification rate", "TP-TV")


def test_summary_against_membership(comparison):
    figure = dt.plot_summary(comparison)
    mean, worst = figure.axes[:2]
    x = [row.score["membership_advantage"] for row in comparison.rows]
    y = [row.score.summary["mean"] for row in comparison.rows]
    assert (list(mean.lines[0].get_xdata()), list(mean.lines[0].get_ydata())) == (x[:2], y[:2])
    assert mean.get_xlabel() == "membership advantage"
    assert worst.get_ylabel() == "summary, worst group"


def test_tradeoff_needs_the_attacks(city):
    rows = dt.compare(*city, {"a": dt.SGD()}, traces_per_user=1, attacks=False)
    with pytest.raises(dt.SettingsError, match="attacks"):
        dt.plot_tradeoff(rows)


def test_files(tiny, tmp_path):
    for kind in ("svg", "png", "pdf"):
        for name in ("a", "b"):
            save_plot(dt.plot_visit_fractions(0, tiny), tmp_path / f"{name}.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    ElementTree.parse(tmp_path / "a.svg")
    figure = dt.plot_visit_fractions(0, tiny)
    save_plot(figure, tmp_path / "partial", kind=".svg")
    assert (tmp_path / "partial").read_bytes() == (tmp_path / "a.svg").read_bytes()
    with pytest.raises(dt.SettingsError, match="svg"):
        save_plot(figure, tmp_path / "plot.txt")


def test_notebooks_show_the_figure(synthetic):
    figure = dt.plot_population(synthetic=synthetic)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_nothing_goes_through_pyplot():
    code = """
import sys, doppeltrace as dt
assert "matplotlib" not in sys.modules
dt.plot_times([{"users": 5, "model": "a", "stage": "b", "seconds": 1.0}])
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib(monkeypatch, synthetic):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (
        lambda: dt.plot_population(synthetic=synthetic),
        lambda: dt.plot_times([{"users": 5, "model": "a", "stage": "b", "seconds": 1.0}]),
        lambda: check_plot("a.svg"),
    ):
        with pytest.raises(dt.SettingsError, match=r"pip install 'doppeltrace\[plots\]'"):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, s: dt.plot_population(), "nothing to plot"),
        (lambda t, s: dt.plot_population(t, slot=3), "slot must be from 0 to 2"),
        (lambda t, s: dt.plot_visit_fractions(0), "nothing to plot"),
        (lambda t, s: dt.plot_visit_fractions(5, t), "place must be from 0 to 4"),
        (lambda t, s: dt.plot_times([]), "nothing to plot"),
        (lambda t, s: dt.plot_pass_rate({}), "nothing to plot"),
        (lambda t, s: dt.plot_population(t, s, ax=Figure().subplots()), "2 panels"),
    ],
)
def test_what_cannot_be_drawn(tiny, synthetic, call, message):
    with pytest.raises(dt.SettingsError, match=message):
        call(tiny, synthetic)


def test_factors_out_of_range(model):
    with pytest.raises(dt.SettingsError, match="from 0 to 2"):
        dt.plot_factors(model, 3)
