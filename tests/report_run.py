"""A small run of the simulated city, looked at from all sides."""

import numpy as np

import doppeltrace as dt
from doppeltrace.factorize.state import Factors
from doppeltrace.guarantee import Guarantee
from doppeltrace.report.internal.findings import collect_findings
from doppeltrace.report.internal.run_summary import RunSummary


def deniability(k=10, eta=1.0, **changes):
    """Return a guarantee like that of the test."""
    values = {
        "kind": "plausible deniability",
        "title": f"({k}, {eta:g})-plausible deniability",
        "text": f"At least {k} users would have made each trace about equally likely.",
        "unit": "each trace alone",
        "parameters": {"k": k, "eta": eta},
        "limits": ("It is not differential privacy.", "Nothing of <i>many</i> traces."),
    }
    return Guarantee(**{**values, **changes})


def differential(epsilon):
    """Return a guarantee like that of a model with noise."""
    return Guarantee(
        "differential privacy", f"ε = {epsilon:g}", "Noise.", "one user with all of their data",
        {"epsilon": epsilon, "delta": 1e-6},
    )  # fmt: skip


UNTESTED = Guarantee.none("No deniability test was made.")
VACUOUS = deniability(vacuous=True, text="Every user gives every trace the same likelihood.")


AUDIT = {
    "level": "green",
    "reasons": ["nothing of one person was found in the releases"],
    "level0": {
        "min_users": 5, "rare_places": 0, "places_of_one": 0, "places_of_nobody": 0,
        "traces_with_rare_share": 0.0, "derived": [],
    },
    "canaries": {
        "always at a rare place": {"shown_in": 0.05, "shown_out": 0.05, "epsilon": 0.0},
        "<b>heavy</b> user": {"shown_in": 0.3, "shown_out": 0.1, "epsilon": 0.0},
    },
    "lira": {
        "auc": 0.51, "null_auc": 0.5, "advantage": 0.05, "null_advantage": 0.045,
        "tpr_at_1_percent": 0.011, "runs": 64, "exceeds_null": False,
        "curve": {
            "fpr": [0.0, 0.25, 0.5, 0.75, 1.0],
            "tpr": [0.0, 0.28, 0.52, 0.76, 1.0],
            "null_tpr": [0.0, 0.26, 0.5, 0.74, 1.0],
        },
    },
}  # fmt: skip
"""An audit that found nothing."""


def a_summary(**changes):
    values = {
        "title": "Traces of <b>A & B</b>",
        "model": "Doppel: factors & <u>flows</u>",
        "settings": {"factors": "3"},
        "input": {"source": "<i>city</i>.csv"},
        "effort": {"training": "1.2 s"},
        "made": 120,
        "released": 100,
        "guarantee": deniability(),
        "counted_all": True,
    }
    return RunSummary(**{**values, **changes})


class Run:
    """What a run would hand over, with traces that are the training users' own, shuffled."""

    def __init__(self, users=120, places=36, seed=0):
        rng = np.random.default_rng(seed)
        self.train, self.test = dt.simulate_city(2 * users, places, seed=seed).split()
        model = dt.SGD(seed=1).fit(self.train)
        self.released = model.sample(2, seed=2).select(rng.permutation(2 * users)[: users + 10])
        self.score = dt.evaluate(train=self.train, test=self.test, synthetic=self.released)
        shapes = (users, places, places, self.train.clock.n_slots)
        self.factors = Factors(*(rng.gamma(0.5, size=(n, 3)) for n in shapes))
        self.plausible = rng.integers(1, 50, size=2 * users)

    def find(self, **changes):
        given = {
            "train": self.train,
            "test": self.test,
            "released": self.released,
            "run": a_summary(made=240, released=len(self.released)),
            "score": self.score,
            "factors": self.factors,
            "plausible": self.plausible,
        }
        return collect_findings(**{**given, **changes})
