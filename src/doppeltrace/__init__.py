"""doppeltrace: synthetic location traces that are useful, private and fast to make."""

from doppeltrace.cities import City, simulate_city
from doppeltrace.comparison import Comparison, compare
from doppeltrace.deniability.deterministic import Deniability, deniability_test
from doppeltrace.deniability.randomized import RandomizedRelease, randomized_release
from doppeltrace.errors import (
    DoppeltraceError,
    InputError,
    NotFittedError,
    OutputError,
    SettingsError,
)
from doppeltrace.evaluation import evaluate
from doppeltrace.evaluation.scorecard import Scorecard
from doppeltrace.io.dataset import Dataset
from doppeltrace.io.foursquare import read_foursquare
from doppeltrace.io.geolife import read_geolife
from doppeltrace.io.gowalla import read_gowalla
from doppeltrace.io.people_flow import read_people_flow
from doppeltrace.io.readers import read
from doppeltrace.io.split import split_users
from doppeltrace.io.synthetic import read_synthetic
from doppeltrace.io.table import read_table
from doppeltrace.io.tsmc2014 import read_tsmc2014
from doppeltrace.io.validation import Validation
from doppeltrace.io.yjmob import read_yjmob
from doppeltrace.plots import (
    plot_factors,
    plot_pass_rate,
    plot_population,
    plot_times,
    plot_tradeoff,
    plot_visit_fractions,
)
from doppeltrace.release.exports import (
    export,
    to_geopandas,
    to_pandas,
    to_scikit_mobility,
    to_trackintel,
)
from doppeltrace.synthesizers.crowd import Crowd
from doppeltrace.synthesizers.doppel import Doppel
from doppeltrace.synthesizers.dp_baselines import DPIndependent, DPMarkov, DPNGram
from doppeltrace.synthesizers.frozen import Frozen
from doppeltrace.synthesizers.independent import Independent
from doppeltrace.synthesizers.itf import ITF
from doppeltrace.synthesizers.load import load
from doppeltrace.synthesizers.ppmtf import PPMTF
from doppeltrace.synthesizers.sgd import SGD
from doppeltrace.synthesizers.sglt import SGLT, SemanticDeniability, semantic_test
from doppeltrace.synthesizers.training import Training
from doppeltrace.synthesizers.uniform import Uniform
from doppeltrace.traces import Bounds, Clock, Places, SyntheticTraces, Traces

__version__ = "0.1.0"

__all__ = [
    "Bounds",
    "City",
    "Clock",
    "Comparison",
    "Crowd",
    "DPIndependent",
    "DPMarkov",
    "DPNGram",
    "Dataset",
    "Deniability",
    "Doppel",
    "DoppeltraceError",
    "Frozen",
    "ITF",
    "Independent",
    "InputError",
    "NotFittedError",
    "OutputError",
    "PPMTF",
    "Places",
    "RandomizedRelease",
    "SGD",
    "SGLT",
    "Scorecard",
    "SemanticDeniability",
    "SettingsError",
    "SyntheticTraces",
    "Traces",
    "Training",
    "Uniform",
    "Validation",
    "compare",
    "deniability_test",
    "evaluate",
    "export",
    "load",
    "plot_factors",
    "plot_pass_rate",
    "plot_population",
    "plot_times",
    "plot_tradeoff",
    "plot_visit_fractions",
    "randomized_release",
    "read",
    "read_foursquare",
    "read_geolife",
    "read_gowalla",
    "read_people_flow",
    "read_synthetic",
    "read_table",
    "read_tsmc2014",
    "read_yjmob",
    "semantic_test",
    "simulate_city",
    "split_users",
    "to_geopandas",
    "to_pandas",
    "to_scikit_mobility",
    "to_trackintel",
]
