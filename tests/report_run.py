"""A small run of the simulated city, looked at from all sides."""

import numpy as np

import doppeltrace as dt
from doppeltrace.factorize.state import Factors
from doppeltrace.report.internal.findings import collect_findings
from doppeltrace.report.internal.run_summary import RunSummary


def an_account(**changes):
    values = {
        "title": "Traces of <b>A & B</b>",
        "settings": {"model": "doppel", "factors": "3"},
        "input": {"source": "<i>city</i>.csv"},
        "effort": {"training": "1.2 s"},
        "made": 120,
        "released": 100,
        "k": 10,
        "eta": 1.0,
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
            "account": an_account(made=240, released=len(self.released)),
            "score": self.score,
            "factors": self.factors,
            "plausible": self.plausible,
        }
        return collect_findings(**{**given, **changes})
