"""A small run of the simulated city, looked at from all sides."""

import pytest

from report_run import Run


@pytest.fixture(scope="session")
def small_run():
    return Run()


@pytest.fixture(scope="session")
def found(small_run):
    return small_run.find()
