"""Python's options in the words of the command line."""

import pytest

from doppeltrace.cli.wording import remark, told
from doppeltrace.errors import InputError, OutputError, SettingsError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (SettingsError("traces_per_user must be at least 1", "traces_per_user"),
         "--traces-per-user must be at least 1"),
        (SettingsError("verifiers=8 is too few for k=10: lower k", "verifiers", "k"),
         "--verifiers 8 is too few for --k 10: lower --k"),
        (SettingsError("release without the test (k=None)", "k"),
         "release without the test (--no-test)"),
        (SettingsError("epsilon0 and k=None exclude each other", "epsilon0", "k"),
         "--randomized-test and --no-test exclude each other"),
        (SettingsError("n_traces must be given", "n_traces"), "--traces must be given"),
        (OutputError("a/k is not empty: replace it with overwrite=True", "overwrite"),
         "a/k is not empty: replace it with --overwrite"),
        (InputError("folder k has no option"), "folder k has no option"),
        (InputError("two\n lines"), "two lines"),
    ],
)  # fmt: skip
def test_errors(error, line):
    assert told(error) == line


def test_remarks():
    text = "the same run with resume=True goes on; min_users=5; whatever k is"
    assert remark(text) == "the same run with --resume goes on; --min-users 5; whatever k is"


def test_an_error_of_output_keeps_its_line():
    error = OutputError("cannot write", "out")
    assert str(error) == "cannot write" and error.options == ("out",)
    assert isinstance(error, OSError)
