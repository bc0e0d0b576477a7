"""Dataset: what every reader returns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from doppeltrace.display import html_table
from doppeltrace.errors import InputError
from doppeltrace.io.split import split_users
from doppeltrace.io.validation import Validation
from doppeltrace.streams import fresh_seed
from doppeltrace.traces import Traces


@dataclass(frozen=True, eq=False)
class Dataset:
    """Traces as read, and the account of how.

    Attributes
    ----------
    train : the training traces, or all traces if the input has no split.
    test : the testing traces of other users over the same places and clock, or None.
    validation : what was kept and dropped, and why.
    """

    train: Traces
    test: Traces | None
    validation: Validation

    def split(self, fraction: float = 0.2, *, seed: int | None = None) -> Dataset:
        """Return the data set with this fraction of its users, drawn at random, as `test`.

        Parameters
        ----------
        seed : of the draw, or None to draw one from the operating system. Who knows it and the
            list of users knows who was in training.

        Examples
        --------
        >>> import doppeltrace as dt
        >>> city = dt.simulate_city(users=50, places=9, seed=1)
        >>> table = dt.to_pandas(city.traces)
        >>> data = dt.read_table(table, timezone=None, instant_minutes=20).split(0.2, seed=1)
        >>> data.train.n_users, data.test.n_users
        (40, 10)
        """
        if self.test is not None:
            raise InputError(
                "this data set has testing users already: use dataset.train and dataset.test, or "
                "dt.split_users(dataset.train, …)"
            )
        train, test = split_users(
            self.train, fraction, seed=fresh_seed() if seed is None else seed
        )
        return replace(self, train=train, test=test)

    def __repr__(self) -> str:
        """Show sizes, not arrays."""
        test = "None" if self.test is None else self.test.in_short()
        return f"Dataset(train: {self.train.in_short()}; test: {test})"

    def _repr_html_(self) -> str:
        parts = {"train": self.train, "test": self.test}
        rows = [(n, "none" if t is None else t.in_short()) for n, t in parts.items()]
        return html_table([*rows, ("rows kept", f"{self.validation.rows_kept:,}")])
