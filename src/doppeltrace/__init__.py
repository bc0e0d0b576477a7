"""doppeltrace: synthetic location traces that are useful, private and fast to make.

A name is imported from its module when it is first used, so that `import doppeltrace` costs next
to nothing. A new public name is entered twice: below for readers and type checkers, and in
`_NAMES`; a test compares them.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from doppeltrace.audit.result import Audit as Audit
    from doppeltrace.audit.run import audit as audit
    from doppeltrace.cities import City as City
    from doppeltrace.cities import simulate_city as simulate_city
    from doppeltrace.comparison import Comparison as Comparison
    from doppeltrace.comparison import compare as compare
    from doppeltrace.deniability.deterministic import Deniability as Deniability
    from doppeltrace.deniability.deterministic import deniability_test as deniability_test
    from doppeltrace.deniability.randomized import RandomizedRelease as RandomizedRelease
    from doppeltrace.deniability.randomized import randomized_release as randomized_release
    from doppeltrace.errors import DoppeltraceError as DoppeltraceError
    from doppeltrace.errors import InputError as InputError
    from doppeltrace.errors import NotFittedError as NotFittedError
    from doppeltrace.errors import OutputError as OutputError
    from doppeltrace.errors import ReleaseBlockedError as ReleaseBlockedError
    from doppeltrace.errors import SettingsError as SettingsError
    from doppeltrace.evaluation import evaluate as evaluate
    from doppeltrace.evaluation.scorecard import Scorecard as Scorecard
    from doppeltrace.io.dataset import Dataset as Dataset
    from doppeltrace.io.foursquare import read_foursquare as read_foursquare
    from doppeltrace.io.geolife import read_geolife as read_geolife
    from doppeltrace.io.gowalla import read_gowalla as read_gowalla
    from doppeltrace.io.people_flow import read_people_flow as read_people_flow
    from doppeltrace.io.readers import read as read
    from doppeltrace.io.split import split_users as split_users
    from doppeltrace.io.synthetic import read_synthetic as read_synthetic
    from doppeltrace.io.table import read_table as read_table
    from doppeltrace.io.tsmc2014 import read_tsmc2014 as read_tsmc2014
    from doppeltrace.io.validation import Validation as Validation
    from doppeltrace.io.yjmob import read_yjmob as read_yjmob
    from doppeltrace.pipeline import Run as Run
    from doppeltrace.pipeline import datasheet as datasheet
    from doppeltrace.pipeline import report as report
    from doppeltrace.pipeline import synthesize as synthesize
    from doppeltrace.plots import plot_factors as plot_factors
    from doppeltrace.plots import plot_pass_rate as plot_pass_rate
    from doppeltrace.plots import plot_population as plot_population
    from doppeltrace.plots import plot_summary as plot_summary
    from doppeltrace.plots import plot_times as plot_times
    from doppeltrace.plots import plot_tradeoff as plot_tradeoff
    from doppeltrace.plots import plot_visit_fractions as plot_visit_fractions
    from doppeltrace.release.exports import export as export
    from doppeltrace.release.exports import to_geopandas as to_geopandas
    from doppeltrace.release.exports import to_pandas as to_pandas
    from doppeltrace.release.exports import to_scikit_mobility as to_scikit_mobility
    from doppeltrace.release.exports import to_trackintel as to_trackintel
    from doppeltrace.synthesizers.crowd import Crowd as Crowd
    from doppeltrace.synthesizers.doppel import Doppel as Doppel
    from doppeltrace.synthesizers.dp_baselines import DPIndependent as DPIndependent
    from doppeltrace.synthesizers.dp_baselines import DPMarkov as DPMarkov
    from doppeltrace.synthesizers.dp_baselines import DPNGram as DPNGram
    from doppeltrace.synthesizers.frozen import Frozen as Frozen
    from doppeltrace.synthesizers.independent import Independent as Independent
    from doppeltrace.synthesizers.itf import ITF as ITF
    from doppeltrace.synthesizers.load import load as load
    from doppeltrace.synthesizers.ppmtf import PPMTF as PPMTF
    from doppeltrace.synthesizers.sgd import SGD as SGD
    from doppeltrace.synthesizers.sglt import SGLT as SGLT
    from doppeltrace.synthesizers.sglt import SemanticDeniability as SemanticDeniability
    from doppeltrace.synthesizers.sglt import semantic_test as semantic_test
    from doppeltrace.synthesizers.training import Training as Training
    from doppeltrace.synthesizers.uniform import Uniform as Uniform
    from doppeltrace.traces import Bounds as Bounds
    from doppeltrace.traces import Clock as Clock
    from doppeltrace.traces import Places as Places
    from doppeltrace.traces import SyntheticTraces as SyntheticTraces
    from doppeltrace.traces import Traces as Traces
    from doppeltrace.tuning import Tuning as Tuning
    from doppeltrace.tuning import tune as tune

_NAMES = {
    "audit.result": ("Audit",),
    "audit.run": ("audit",),
    "cities": ("City", "simulate_city"),
    "comparison": ("Comparison", "compare"),
    "deniability.deterministic": ("Deniability", "deniability_test"),
    "deniability.randomized": ("RandomizedRelease", "randomized_release"),
    "errors": (
        "DoppeltraceError",
        "InputError",
        "NotFittedError",
        "OutputError",
        "ReleaseBlockedError",
        "SettingsError",
    ),
    "evaluation": ("evaluate",),
    "evaluation.scorecard": ("Scorecard",),
    "io.dataset": ("Dataset",),
    "io.foursquare": ("read_foursquare",),
    "io.geolife": ("read_geolife",),
    "io.gowalla": ("read_gowalla",),
    "io.people_flow": ("read_people_flow",),
    "io.readers": ("read",),
    "io.split": ("split_users",),
    "io.synthetic": ("read_synthetic",),
    "io.table": ("read_table",),
    "io.tsmc2014": ("read_tsmc2014",),
    "io.validation": ("Validation",),
    "io.yjmob": ("read_yjmob",),
    "pipeline": ("Run", "datasheet", "report", "synthesize"),
    "plots": (
        "plot_factors",
        "plot_pass_rate",
        "plot_population",
        "plot_summary",
        "plot_times",
        "plot_tradeoff",
        "plot_visit_fractions",
    ),
    "release.exports": (
        "export",
        "to_geopandas",
        "to_pandas",
        "to_scikit_mobility",
        "to_trackintel",
    ),
    "synthesizers.crowd": ("Crowd",),
    "synthesizers.doppel": ("Doppel",),
    "synthesizers.dp_baselines": ("DPIndependent", "DPMarkov", "DPNGram"),
    "synthesizers.frozen": ("Frozen",),
    "synthesizers.independent": ("Independent",),
    "synthesizers.itf": ("ITF",),
    "synthesizers.load": ("load",),
    "synthesizers.ppmtf": ("PPMTF",),
    "synthesizers.sgd": ("SGD",),
    "synthesizers.sglt": ("SGLT", "SemanticDeniability", "semantic_test"),
    "synthesizers.training": ("Training",),
    "synthesizers.uniform": ("Uniform",),
    "traces": ("Bounds", "Clock", "Places", "SyntheticTraces", "Traces"),
    "tuning": ("Tuning", "tune"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """A module in which `audit` and `report` are functions, though rooms have these names too.

    Importing the room sets the attribute of that name, which is ignored here.
    """

    @property
    def audit(self) -> Any:
        """Return `doppeltrace.audit.run.audit`."""
        return import_module(f"{__name__}.audit.run").audit

    @audit.setter
    def audit(self, room: ModuleType) -> None:
        """Ignore the room."""

    @property
    def report(self) -> Any:
        """Return `doppeltrace.pipeline.report`."""
        return import_module(f"{__name__}.pipeline").report

    @report.setter
    def report(self, room: ModuleType) -> None:
        """Ignore the room."""


if not TYPE_CHECKING:  # with a __getattr__, type checkers would believe any name

    def __getattr__(name):
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value

    sys.modules[__name__].__class__ = _Package
